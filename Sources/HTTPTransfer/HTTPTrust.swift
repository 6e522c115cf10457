private import Glibc

/// Where the certificates lie that a server's own certificate must lead to.
///
/// What is nil is the system's. A file does not take the system's folder away, nor the other way round; OpenSSL and
/// the curl program do the same.
package struct HTTPTrust: Sendable, Equatable {
  /// A PEM file of certificates.
  package var file: String?
  /// A folder of certificates under their hashed names (openssl-rehash(1)).
  package var directory: String?

  package init(file: String? = nil, directory: String? = nil) {
    self.file = file
    self.directory = directory
  }

  /// What the variables say that curl(1) knows: `CURL_CA_BUNDLE`, else `SSL_CERT_FILE` and `SSL_CERT_DIR`.
  ///
  /// libcurl reads none of them itself once it was built with a default file, as Debian's is.
  package static var fromEnvironment: HTTPTrust {
    if let bundle = variable("CURL_CA_BUNDLE") { return HTTPTrust(file: bundle) }
    return HTTPTrust(file: variable("SSL_CERT_FILE"), directory: variable("SSL_CERT_DIR"))
  }

  /// An empty variable counts as none.
  private static func variable(_ name: String) -> String? {
    guard let value = getenv(name), value.pointee != 0 else { return nil }
    return String(cString: value)
  }
}
