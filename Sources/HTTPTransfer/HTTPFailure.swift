/// Why there is no response.
package struct HTTPFailure: Error, Sendable, Equatable {
  package enum Code: Sendable, Equatable {
    /// A URL, method or header that cannot be sent; nothing was sent.
    case badURL
    case unsupportedScheme
    /// The name of the server or of the proxy has no address.
    case unresolved
    case refused, timedOut
    /// Closed before the response was complete; the server may have processed the request.
    case connectionLost
    /// The server's certificate does not prove its identity.
    case untrusted
    case cancelled, other
  }

  package let code: Code
  /// One sentence without the URL's credentials, path or query.
  package let problem: String
}
