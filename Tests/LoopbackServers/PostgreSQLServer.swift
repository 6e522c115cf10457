import Foundation

/// A PostgreSQL server, see `postgresql.sh`; it ends with this process.
package final class PostgreSQLServer: Sendable {
  package struct Failure: Error {
    package let output: String
  }

  /// One for all tests of a process, because it takes two seconds to start.
  package static let shared = Result { try PostgreSQLServer() }

  package let port: Int
  package let folder: TemporaryFolder
  /// Its certificate is that of `db.test` and of the loopback address.
  package let certificates: Certificates
  private let (input, output) = (Pipe(), Pipe())

  package init() throws {
    (port, folder, certificates) = (try Self.freePort(), try TemporaryFolder(), try Certificates())
    let identity = try certificates.identity(for: "DNS:db.test,IP:127.0.0.1")
    let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("postgresql.sh")
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = [script.path, folder.path, "\(port)", identity.certificate, identity.key]
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    try waitUntilReady()
  }

  private func waitUntilReady() throws {
    guard !output.fileHandleForReading.availableData.isEmpty else {
      throw Failure(
        output: String(decoding: FileManager.default.contents(atPath: folder.path("log")) ?? Data(), as: UTF8.self))
    }
  }

  /// Restarts the server, which closes all connections.
  package func restart() throws {
    try input.fileHandleForWriting.write(contentsOf: Data("restart\n".utf8))
    try waitUntilReady()
  }

  /// The URL of a database by the server's socket.
  package func url(_ database: String = "postgres", user: String = "gate") -> String {
    "postgresql://\(user)@/\(database)?host=\(folder.path)&port=\(port)"
  }

  /// The URL of a database by TCP.
  package func networkURL(_ database: String, user: String = "gate", host: String = "127.0.0.1") -> String {
    "postgresql://\(user)@\(host):\(port)/\(database)"
  }

  /// Creates a database; returns its name.
  package func makeDatabase() throws -> String {
    let name = "test_" + UUID().uuidString.filter(\.isHexDigit).lowercased()
    try run("CREATE DATABASE \(name)", in: "postgres")
    return name
  }

  /// Runs statements with psql(1); returns the values, one row a line.
  @discardableResult
  package func run(_ statements: String, in database: String) throws -> String {
    let (process, output) = (Process(), Pipe())
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["psql", "-qAtX", "-v", "ON_ERROR_STOP=1", url(database), "-c", statements]
    process.standardOutput = output
    process.standardError = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitForExit()
    guard process.terminationStatus == 0 else { throw Failure(output: text) }
    return text
  }

  private static func freePort() throws -> Int {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let port = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(descriptor, address, size) == 0 && getsockname(descriptor, address, &size) == 0
      }
    }
    guard port else { throw Failure(output: "no free port") }
    return Int(UInt16(bigEndian: address.sin_port))
  }
}
