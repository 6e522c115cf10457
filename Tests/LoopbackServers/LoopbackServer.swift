package import Foundation

/// A server process on the loopback interface, see `loopback.py`; it is killed with this object.
package final class LoopbackServer: Sendable {
  /// One request that the server received.
  package struct Visit: Decodable, Sendable {
    package let method: String
    package let path: String
    package let status: Int
    /// The bytes that the server wrote before the client closed the connection, for paths that count them.
    package let sent: Int
    /// By name in lower case.
    package let headers: [String: String]
    package let body: Data
    /// Whether the signature is valid; nil without one.
    package let signatureIsValid: Bool?
    /// The same for two requests over one connection.
    package let connection: String
  }

  package enum Failure: Error {
    case didNotStart(String)
    case visitsMissing([Visit])
  }

  package let port: Int
  package let folder: TemporaryFolder
  private let process: Process
  private let input = Pipe()

  /// Starts a server and waits until it listens.
  package init(
    secret: String? = nil,
    certificate: Certificates.Identity? = nil,
    port: Int = 0,
    isProxy: Bool = false
  ) throws {
    folder = try TemporaryFolder()
    let output = Pipe()
    let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("loopback.py")
    process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments =
      ["python3", script.path, folder.path("log"), "--port", "\(port)"]
      + (secret.map { ["--secret", $0] } ?? [])
      + (certificate.map { ["--certificate", $0.certificate, "--key", $0.key] } ?? [])
      + (isProxy ? ["--proxy"] : [])
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    guard let port = Int(line.trimmingCharacters(in: .whitespacesAndNewlines)) else {
      throw Failure.didNotStart(line)
    }
    self.port = port
  }

  deinit {
    stop()
  }

  /// Kills the server; its port refuses connections afterwards.
  ///
  /// With SIGKILL, because a child inherits the signals that the test's thread blocks.
  package func stop() {
    kill(process.processIdentifier, SIGKILL)
    process.waitForExit()
  }

  package func url(_ path: String, scheme: String = "http", host: String = "127.0.0.1") -> String {
    "\(scheme)://\(host):\(port)\(path)"
  }

  /// The requests so far; waits up to a minute until there are `count` of them.
  package func visits(_ count: Int) throws -> [Visit] {
    var visits: [Visit] = []
    for _ in 0..<1200 {
      visits = try readLog()
      if visits.count >= count { return visits }
      Thread.sleep(forTimeInterval: 0.05)
    }
    throw Failure.visitsMissing(visits)
  }

  /// The requests whose responses are complete.
  package func readLog() throws -> [Visit] {
    let log = FileManager.default.contents(atPath: folder.path("log")) ?? Data()
    guard let end = log.lastIndex(of: 0x0a) else { return [] }
    return try log[...end].split(separator: 0x0a).map { line in
      let decoder = JSONDecoder()
      decoder.dataDecodingStrategy = .base64
      return try decoder.decode(Visit.self, from: line)
    }
  }
}

extension Process {
  /// Waits without a run loop, which threads of the test library do not have.
  func waitForExit() {
    while isRunning { Thread.sleep(forTimeInterval: 0.005) }
  }
}
