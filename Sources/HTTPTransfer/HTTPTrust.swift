private import Glibc

/// The certificate authorities for server certificates.
///
/// nil selects the system's default. Setting the file does not disable the system's folder, nor vice versa, as in
/// OpenSSL and curl(1).
package struct HTTPTrust: Sendable, Equatable {
  /// A PEM file of certificates.
  package var file: String?
  /// A folder of certificates under their hashed names (openssl-rehash(1)).
  package var directory: String?

  package init(file: String? = nil, directory: String? = nil) {
    self.file = file
    self.directory = directory
  }

  /// From the variables that curl(1) reads: `CURL_CA_BUNDLE`, else `SSL_CERT_FILE` and `SSL_CERT_DIR`.
  ///
  /// libcurl itself reads none of them if it was built with a default file, as Debian's is.
  package static var fromEnvironment: HTTPTrust {
    if let bundle = variable("CURL_CA_BUNDLE") { return HTTPTrust(file: bundle) }
    return HTTPTrust(file: variable("SSL_CERT_FILE"), directory: variable("SSL_CERT_DIR"))
  }

  /// The value of a variable; nil if it is empty.
  private static func variable(_ name: String) -> String? {
    guard let value = getenv(name), value.pointee != 0 else { return nil }
    return String(cString: value)
  }
}
