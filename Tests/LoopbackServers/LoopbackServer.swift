package import Foundation

/// A server process on loopback, see `loopback.py`; it ends with this value.
package final class LoopbackServer: Sendable {
  /// One request as the server saw it.
  package struct Visit: Decodable, Sendable {
    package let method: String
    package let path: String
    package let status: Int
    /// Bytes that the server could write before the client went, where it counts them.
    package let sent: Int
    /// By their names in lower case.
    package let headers: [String: String]
    package let body: Data
    /// Whether the signature is right; nil where there is none.
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

  /// Ends the server; its port refuses connections then.
  ///
  /// By `SIGKILL`, since a child inherits the signals that the test's thread has blocked.
  package func stop() {
    kill(process.processIdentifier, SIGKILL)
    process.waitForEnd()
  }

  package func url(_ path: String, scheme: String = "http", host: String = "127.0.0.1") -> String {
    "\(scheme)://\(host):\(port)\(path)"
  }

  /// The requests so far, once there are `count` of them; waits up to a minute.
  package func visits(_ count: Int) throws -> [Visit] {
    var visits: [Visit] = []
    for _ in 0..<1200 {
      visits = try readLog()
      if visits.count >= count { return visits }
      Thread.sleep(forTimeInterval: 0.05)
    }
    throw Failure.visitsMissing(visits)
  }

  /// The requests whose answers are over by now.
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
  /// Waits for the end without a run loop, which threads of the test library do not have.
  func waitForEnd() {
    while isRunning { Thread.sleep(forTimeInterval: 0.005) }
  }
}
