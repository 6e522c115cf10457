import Foundation
import LoopbackServers
import Testing

@Suite("A history in PostgreSQL")
struct HistoryServerTests {
  private func server() throws -> PostgreSQLServer { try PostgreSQLServer.shared.get() }

  private func history(_ words: String..., at url: String, in project: TemporaryProject) throws -> Highwater.Outcome {
    try Highwater.start(
      ["history"] + words + ["--history", url], in: project, variables: ["HIGHWATER_PROJECT": "shop"]
    ).wait()
  }

  private func check(
    _ project: TemporaryProject, at url: String, variables: [String: String] = [:]
  ) throws -> Highwater.Outcome {
    try Highwater.start(
      ["check", "--allow-missing-baseline", "--history", url], in: project,
      variables: variables.merging(["HIGHWATER_PROJECT": "shop"]) { $1 }
    ).wait()
  }

  private func pending(_ project: TemporaryProject) -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: project.url(".highwater/pending-runs").path)) ?? []
  }

  @Test("The same imports give the same exports, lists and trends as in a SQLite file")
  func sameAsFile() throws {
    let url = try server().url(server().makeDatabase())
    let project = try TemporaryProject()
    try project.write(HistoryTests.lines((1...40).reversed()) + HistoryTests.lines(30...45), to: "x.jsonl")
    var outputs: [[String]] = []
    for place in [url, "h.sqlite"] {
      #expect(try history("import", "x.jsonl", at: place, in: project).errors == "added 45 runs, 11 already there\n")
      #expect(try history("prune", "--keep", "43", at: place, in: project).errors == "removed 2 runs\n")
      outputs.append([
        try history("export", at: place, in: project).output,
        try history("list", "serve", "--limit", "9", at: place, in: project).output,
        try history("export", "--openmetrics", at: place, in: project).output,
        try Highwater.start(
          ["trend", "--history", place, "--output", "-"], in: project, variables: ["HIGHWATER_PROJECT": "shop"]
        ).wait().output.replacing(#/ at [0-9T:-]+Z from/#, with: ""),
      ])
    }
    for (database, file) in zip(outputs[0], outputs[1]) { #expect(database == file) }
    #expect(outputs[0][0].split(separator: "\n").count == 43)
    // From one store to the other.
    let other = try server().url(server().makeDatabase())
    try project.write(outputs[0][0], to: "export.jsonl")
    #expect(try history("import", "export.jsonl", at: other, in: project).code == 0)
    #expect(try history("export", at: other, in: project).output == outputs[0][0])
  }

  @Test(
    "While the server refuses or never answers, runs wait in the artifacts; the next check delivers them", .endsHangs)
  func outage() throws {
    let project = try TemporaryProject.holding(4, repetitions: 1)
    // Listens, but accepts no connection.
    let silent = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(silent) }
    var address = sockaddr_in()
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        _ = bind(silent, address, size)
        _ = listen(silent, 5)
        _ = getsockname(silent, address, &size)
      }
    }
    let port = UInt16(bigEndian: address.sin_port)
    for (place, problem) in [
      ("127.0.0.1:1", "cannot be reached: "), ("127.0.0.1:\(port)", "did not answer within 5 s"),
    ] {
      let outcome = try check(project, at: "postgresql://ci:${PW}@\(place)/gate", variables: ["PW": "s3cret"])
      #expect(outcome.code == 0)
      let warnings = outcome.messages.filter { $0.hasPrefix("warning: ") }
      #expect(
        warnings.count == 1
          && outcome.errors.contains("added to the history: postgresql://ci@\(place)/gate: \(problem)"))
      #expect(!outcome.text.contains("s3cret") && outcome.text.contains("queued in .highwater/pending-runs"))
    }
    #expect(pending(project).count == 2)
    let url = try server().url(server().makeDatabase())
    #expect(try check(project, at: url).errors.contains("added 2 pending runs to the history"))
    #expect(pending(project).isEmpty)
    #expect(try history("export", at: url, in: project).output.split(separator: "\n").count == 3)
  }

  @Test("A server that is read-only or locked changes no verdict", .endsHangs)
  func readOnly() throws {
    let database = try server().makeDatabase()
    let project = try TemporaryProject.holding(4, repetitions: 1)
    #expect(try check(project, at: server().url(database)).code == 0)
    try server().run("ALTER DATABASE \(database) SET default_transaction_read_only = on", in: "postgres")
    let outcome = try check(project, at: server().url(database))
    #expect(outcome.code == 0 && pending(project).count == 1)
    #expect(outcome.text.contains("is read-only: "), "\(outcome.errors)")
  }

  @Test("TLS with verification accepts the right certificate and host only")
  func verification() throws {
    let (server, project) = (try server(), try TemporaryProject())
    let database = try server.makeDatabase()
    try project.write(HistoryTests.line(1), to: "x.jsonl")
    func importing(host: String, authority: String) throws -> Highwater.Outcome {
      let url = server.networkURL(database, host: host) + "?hostaddr=127.0.0.1&sslmode=verify-full"
      return try Highwater.start(
        ["history", "import", "x.jsonl", "--history", url], in: project, variables: ["PGSSLROOTCERT": authority]
      ).wait()
    }
    #expect(try importing(host: "db.test", authority: server.certificates.authority).code == 0)
    let wrongHost = try importing(host: "other.test", authority: server.certificates.authority)
    #expect(wrongHost.code == 2 && wrongHost.text.contains("cannot be reached: "), "\(wrongHost.errors)")
    let stranger = try Certificates()
    let wrongAuthority = try importing(host: "db.test", authority: stranger.authority)
    #expect(
      wrongAuthority.code == 2 && wrongAuthority.text.contains("certificate verify failed"), "\(wrongAuthority.errors)")
  }

  @Test("A password comes from a variable or a file, and a wrong one is not printed")
  func password() throws {
    let (server, project) = (try server(), try TemporaryProject())
    let database = try server.makeDatabase()
    try server.run("DROP ROLE IF EXISTS guarded; CREATE ROLE guarded LOGIN PASSWORD 's3cret'", in: database)
    try server.run("GRANT CREATE ON DATABASE \(database) TO guarded", in: database)
    try project.write(HistoryTests.line(1), to: "x.jsonl")
    try project.write("*:*:*:guarded:s3cret\n", to: "pgpass")
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: project.url("pgpass").path)
    let url = server.networkURL(database, user: "guarded")
    let reference = url.replacing("guarded@", with: "guarded:${PW}@")
    let attempts: [(url: String, variables: [String: String], code: Int32)] = [
      (url, ["PGPASSWORD": "s3cret"], 0), (url, ["PGPASSFILE": project.url("pgpass").path], 0),
      (reference, ["PW": "s3cret"], 0), (reference, ["PW": "wr0ng"], 2), (reference, [:], 2),
      (url.replacing("guarded@", with: "guarded:wr0ng@"), [:], 2),
    ]
    for attempt in attempts {
      let outcome = try Highwater.start(
        ["history", "import", "x.jsonl", "--history", attempt.url], in: project, variables: attempt.variables
      ).wait()
      #expect(outcome.code == attempt.code, "\(outcome.errors)")
      #expect(!outcome.text.contains("s3cret") && !outcome.text.contains("wr0ng"), "\(outcome.errors)")
    }
  }

  @Test("Writers that are killed, and a restart of the server, lose nothing and store nothing twice", .endsHangs)
  func killedWriters() throws {
    let server = try PostgreSQLServer()
    let url = server.url()
    let project = try TemporaryProject()
    let (writers, share) = (6, 40)
    var numbers = SeededNumbers(seed: 7)
    for writer in 0..<writers {
      try project.write(HistoryTests.lines(writer * share..<(writer + 1) * share), to: "\(writer).jsonl")
    }
    func start(_ writer: Int) throws -> Highwater.Running {
      try Highwater.start(
        ["history", "import", "\(writer).jsonl", "--history", url], in: project,
        variables: ["HIGHWATER_PROJECT": "shop"])
    }
    for round in 0..<3 {
      let running = try (0..<writers).map(start)
      usleep(UInt32(numbers.next() % 300_000))
      if round == 1 { try server.restart() }
      for writer in running.prefix(writers / 2) { kill(writer.process.processIdentifier, SIGKILL) }
      for writer in running { _ = try writer.wait() }
    }
    for writer in 0..<writers {
      let outcome = try start(writer).wait()
      #expect(outcome.code == 0, "\(outcome.errors)")
    }
    #expect(try history("import", "0.jsonl", at: "h.sqlite", in: project).code == 0)
    for writer in 1..<writers {
      #expect(try history("import", "\(writer).jsonl", at: "h.sqlite", in: project).code == 0)
    }
    #expect(
      try history("export", at: url, in: project).output == history("export", at: "h.sqlite", in: project).output)
  }
}
