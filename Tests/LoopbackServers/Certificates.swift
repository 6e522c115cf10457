import Foundation

/// A certificate authority for tests and its server certificates, created with openssl(1).
package struct Certificates: Sendable {
  package struct Identity: Sendable {
    package let certificate: String
    package let key: String
  }

  package struct Failure: Error {
    package let command: [String]
    package let output: String
  }

  /// The certificate of the authority, as a PEM file.
  package let authority: String
  private let folder: TemporaryFolder

  package init() throws {
    folder = try TemporaryFolder()
    authority = folder.path("ca.pem")
    try Self.openssl(
      ["req", "-x509", "-nodes", "-days", "2", "-subj", "/CN=Highwater Test CA"] + Self.newKey(folder.path("ca.key"))
        + ["-addext", "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=critical,keyCertSign"]
        + ["-out", authority]
    )
  }

  /// A server's certificate for names such as `DNS:localhost`; with negative days it has expired.
  package func identity(for names: String, days: Int = 2) throws -> Identity {
    let base = folder.path(UUID().uuidString)
    try Data("subjectAltName=\(names)\n".utf8).write(to: URL(fileURLWithPath: base + ".ext"))
    try Self.openssl(
      ["req", "-nodes", "-subj", "/CN=server", "-out", base + ".csr"] + Self.newKey(base + ".key")
    )
    try Self.openssl(
      ["x509", "-req", "-in", base + ".csr", "-CA", authority, "-CAkey", folder.path("ca.key")]
        + ["-set_serial", "\(UInt32.random(in: 1...UInt32.max))", "-days", "\(days)"]
        + ["-extfile", base + ".ext", "-out", base + ".pem"]
    )
    return Identity(certificate: base + ".pem", key: base + ".key")
  }

  /// A folder with the authority under its hashed name (openssl-rehash(1)).
  package func hashedDirectory() throws -> String {
    let path = folder.path("hashed")
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    try FileManager.default.copyItem(atPath: authority, toPath: path + "/ca.pem")
    try Self.openssl(["rehash", path])
    return path
  }

  private static func newKey(_ path: String) -> [String] {
    ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-keyout", path]
  }

  private static func openssl(_ arguments: [String]) throws {
    let process = Process()
    let errors = Pipe()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["openssl"] + arguments
    process.standardError = errors
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitForExit()
    guard process.terminationStatus == 0 else { throw Failure(command: arguments, output: text) }
  }
}
