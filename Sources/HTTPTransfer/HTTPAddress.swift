/// The part of a URL that may be shown: which server it names.
package struct HTTPAddress: Sendable, Equatable, CustomStringConvertible {
  package enum Scheme: String, Sendable {
    case http, https
  }

  package let scheme: Scheme
  /// A name or an address; one of IPv6 stands in brackets.
  package let host: String
  package let port: Int

  /// Reads a URL of http or https, as libcurl does.
  ///
  /// - Throws: `.badURL` or `.unsupportedScheme`, without a word of the URL.
  package init(parsing url: String) throws(HTTPFailure) {
    guard url.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7f }) else {
      throw HTTPFailure(code: .badURL, problem: "the URL holds a space or a control character")
    }
    guard let parts = CurlHandles.parts(ofURL: url) else {
      throw HTTPFailure(code: .badURL, problem: "the URL is not one: it needs a scheme, `://` and a host")
    }
    guard let scheme = Scheme(rawValue: parts.scheme.lowercased()) else {
      throw HTTPFailure(code: .unsupportedScheme, problem: "the URL is neither of http nor of https")
    }
    self.scheme = scheme
    self.host = parts.host
    self.port = parts.port ?? (scheme == .http ? 80 : 443)
  }

  /// As in `example.org:443`.
  package var description: String {
    "\(host):\(port)"
  }
}
