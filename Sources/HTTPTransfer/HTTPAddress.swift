private import Glibc

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
    // libcurl decodes `%9b` in a host, and resolvers would only reject it.
    guard !parts.host.unicodeScalars.contains(where: Self.isInvisible) else {
      throw HTTPFailure(code: .badURL, problem: "the host of the URL contains a control character")
    }
    host = parts.host
    port = parts.port ?? defaultPort
  }

  /// Whether the character could control a terminal or reorder text, where the host is printed.
  private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
    [.control, .format, .lineSeparator, .paragraphSeparator].contains(scalar.properties.generalCategory)
  }

  /// Whether requests to it stay on this machine: 127.0.0.0/8, `::1`, the unspecified addresses and `localhost`.
  package var isLoopback: Bool {
    let name = host.lowercased().drop { $0 == "[" }.prefix { $0 != "]" && $0 != "%" }
    let plain = String(name.hasSuffix(".") ? name.dropLast() : name)
    if plain == "localhost" || plain.hasSuffix(".localhost") { return true }
    var four = in_addr()
    if inet_aton(plain, &four) != 0 { return Self.isLoopback(four) }
    var six = in6_addr()
    guard inet_pton(AF_INET6, plain, &six) == 1 else { return false }
    let bytes = withUnsafeBytes(of: &six) { Array($0) }
    // IPv4 within IPv6 (RFC 4291, 2.5.5.2); what is left are `::` and `::1` (2.5.2 and 2.5.3).
    let isMapped = bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xff && bytes[11] == 0xff
    return isMapped ? bytes[12] == 127 : bytes[..<15].allSatisfy { $0 == 0 } && bytes[15] <= 1
  }

  private static func isLoopback(_ address: in_addr) -> Bool {
    let number = UInt32(bigEndian: address.s_addr)
    return number >> 24 == 127 || number == 0
  }

  /// As in `example.org:443`.
  package var description: String {
    "\(host):\(port)"
  }
}
