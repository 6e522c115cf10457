/// A request to send.
package struct HTTPRequest: Sendable {
  package var url: String
  package var method: String
  package var headers: [(name: String, value: String)]
  package var body: [UInt8]?
  package var connectTimeout: Duration = .seconds(5)
  package var totalTimeout: Duration = .seconds(30)
  /// Bytes of the answer that are kept; a longer answer is cut and the transfer ended, which is no error.
  package var maximumAnswer = 65_536

  package init(
    url: String,
    method: String = "GET",
    headers: [(name: String, value: String)] = [],
    body: [UInt8]? = nil
  ) {
    self.url = url
    self.method = method
    self.headers = headers
    self.body = body
  }
}

/// What a server answered.
package struct HTTPAnswer: Sendable {
  package let status: Int
  package let body: [UInt8]
  /// From `Retry-After`, in either of its forms.
  package let retryAfter: Duration?

  package init(status: Int, body: [UInt8], retryAfter: Duration?) {
    self.status = status
    self.body = body
    self.retryAfter = retryAfter
  }
}

/// Why no answer came.
package struct HTTPFailure: Error, Sendable {
  package enum Code: Sendable, Equatable {
    case badURL, unsupportedScheme, unresolved, refused, timedOut, connectionLost, untrusted, cancelled, other
  }

  package let code: Code
  /// What went wrong; never holds the URL's credentials, path or query.
  package let problem: String

  package init(code: Code, problem: String) {
    self.code = code
    self.problem = problem
  }
}

/// A keeper of connections to servers; one thread at a time.
package struct HTTPSession: ~Copyable {
  package init() {}

  /// Sends a request and waits for its answer.
  ///
  /// - Parameter isCancelled: asked several times a second; true ends the transfer with `.cancelled`.
  package func send(
    _ request: HTTPRequest,
    isCancelled: @escaping () -> Bool = { false }
  ) throws(HTTPFailure) -> HTTPAnswer {
    throw HTTPFailure(code: .other, problem: "")
  }
}
