/// Why no answer came.
package struct HTTPFailure: Error, Sendable, Equatable {
  package enum Code: Sendable, Equatable {
    /// A URL, method or header that cannot be sent; nothing was sent.
    case badURL
    case unsupportedScheme
    /// The server's or the proxy's name has no address.
    case unresolved
    case refused, timedOut
    /// Ended before an answer was complete; the request may have arrived.
    case connectionLost
    /// The server's certificate does not prove that it is the one that was asked for.
    case untrusted
    case cancelled, other
  }

  package let code: Code
  /// What went wrong; never holds the URL's credentials, path or query.
  package let problem: String

  package init(code: Code, problem: String) {
    self.code = code
    self.problem = problem
  }
}
