/// The host and port of a URL, which may be printed.
package struct HTTPAddress: Sendable, Equatable, CustomStringConvertible {
  /// A name or an address; an IPv6 address is in brackets.
  package let host: String
  package let port: Int

  /// Parses an http or https URL with libcurl's parser.
  ///
  /// - Throws: `.badURL` or `.unsupportedScheme`; the description contains no part of the URL.
  package init(parsing url: String) throws(HTTPFailure) {
    guard url.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7f }) else {
      throw HTTPFailure(code: .badURL, problem: "the URL contains a space or a control character")
    }
    guard let parts = CurlHandles.parts(ofURL: url) else {
      throw HTTPFailure(code: .badURL, problem: "the URL is invalid: it needs a scheme, `://` and a host")
    }
    guard let defaultPort = ["http": 80, "https": 443][parts.scheme.lowercased()] else {
      throw HTTPFailure(code: .unsupportedScheme, problem: "the URL is neither http nor https")
    }
    host = parts.host
    port = parts.port ?? defaultPort
  }

  /// As in `example.org:443`.
  package var description: String {
    "\(host):\(port)"
  }
}
