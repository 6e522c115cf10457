/// A server's response.
package struct HTTPResponse: Sendable {
  package let status: Int
  /// Cut to the request's `maximumResponseSize`.
  package let body: [UInt8]
  /// From the `Retry-After` header, in either of its forms.
  package let retryAfter: Duration?
}
