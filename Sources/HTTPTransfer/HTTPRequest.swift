/// A request to send.
package struct HTTPRequest: Sendable {
  /// With scheme `http` or `https`; a user and password in it are sent as Basic authentication.
  package var url: String
  package var method: String
  package var headers: [(name: String, value: String)]
  package var body: [UInt8]?
  /// Time for finding the server, connecting and the TLS handshake.
  package var connectTimeout: Duration = .seconds(5)
  /// Time for everything, connecting too.
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

extension HTTPRequest {
  /// Refuses a method or header that would change the meaning of the request's other lines.
  ///
  /// Names are tokens of RFC 9110 section 5.6.2; values hold no control characters but tabs (section 5.5).
  func checkLines() throws(HTTPFailure) {
    guard Self.isToken(method) else {
      throw HTTPFailure(code: .badURL, problem: "the request's method is not a word of HTTP")
    }
    for header in headers {
      guard Self.isToken(header.name) else {
        throw HTTPFailure(code: .badURL, problem: "the name of a header holds a character that HTTP does not allow")
      }
      guard header.value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f || $0 == 0x09 }) else {
        throw HTTPFailure(code: .badURL, problem: "the header `\(header.name)` holds a control character")
      }
    }
  }

  private static let tokenBytes = Set(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!#$%&'*+-.^_`|~".utf8
  )

  private static func isToken(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= 100 && text.utf8.allSatisfy(tokenBytes.contains)
  }

  /// The header lines as libcurl takes them (CURLOPT_HTTPHEADER(3)): `Name;` sends a header without a value, and
  /// `Name:` keeps one back that libcurl would add by itself.
  var lines: [String] {
    let given = headers.map { $0.value.isEmpty ? "\($0.name);" : "\($0.name): \($0.value)" }
    let names = headers.map { $0.name.lowercased() }
    let unwanted = ["Expect", "Content-Type"].filter { !names.contains($0.lowercased()) }
    return given + unwanted.map { "\($0):" }
  }
}
