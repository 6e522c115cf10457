/// What a server answered.
package struct HTTPAnswer: Sendable {
  package let status: Int
  /// At most as much as the request asked to keep.
  package let body: [UInt8]
  /// From `Retry-After`, in either of its forms.
  package let retryAfter: Duration?

  package init(status: Int, body: [UInt8], retryAfter: Duration?) {
    self.status = status
    self.body = body
    self.retryAfter = retryAfter
  }
}
