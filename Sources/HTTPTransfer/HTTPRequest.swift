/// A request to send.
package struct HTTPRequest: Sendable {
  /// With the scheme `http` or `https`; a user and password in it are sent as Basic authentication.
  package var url: String
  package var method: String
  package var headers: [(name: String, value: String)]
  package var body: [UInt8]?
  /// Limits name resolution, connecting and the TLS handshake.
  package var connectTimeout: Duration = .seconds(5)
  /// Limits the whole transfer, including the connection.
  package var totalTimeout: Duration = .seconds(30)
  /// In bytes; a longer body is cut and the transfer ended, which is not an error.
  package var maximumResponseSize = 65_536
  /// Whether a request to this machine itself is sent directly, even if the environment sets a proxy.
  package var avoidsProxyOnLoopback = false

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

extension HTTPRequest {
  /// Rejects a method or header that would inject other lines into the request.
  ///
  /// Names are tokens of RFC 9110 section 5.6.2; values contain no control characters but tabs (section 5.5).
  func validate() throws(HTTPFailure) {
    guard Self.isToken(method) else {
      throw HTTPFailure(code: .badURL, problem: "the request method is not a valid HTTP token")
    }
    for header in headers {
      guard Self.isToken(header.name) else {
        throw HTTPFailure(code: .badURL, problem: "a header name contains a character that HTTP does not allow")
      }
      guard header.value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f || $0 == 0x09 }) else {
        throw HTTPFailure(code: .badURL, problem: "the header `\(header.name)` contains a control character")
      }
    }
  }

  private static let tokenBytes = Set(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!#$%&'*+-.^_`|~".utf8
  )

  private static func isToken(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= 100 && text.utf8.allSatisfy(tokenBytes.contains)
  }

  /// The header lines in libcurl's syntax (CURLOPT_HTTPHEADER(3)): `Name;` sends a header without a value, and `Name:`
  /// suppresses a header that libcurl would add.
  var headerLines: [String] {
    let names = headers.map { $0.name.lowercased() }
    return headers.map { $0.value.isEmpty ? "\($0.name);" : "\($0.name): \($0.value)" }
      + ["Expect", "Content-Type"].filter { !names.contains($0.lowercased()) }.map { "\($0):" }
  }
}
