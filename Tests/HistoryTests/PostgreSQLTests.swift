import Foundation
import GateCore
import LoopbackServers
import Testing

@testable import GateApplication

@Suite("A history in PostgreSQL")
struct PostgreSQLTests {
  private static func open(
    _ database: String, _ project: String, for use: History.Use, user: String = "gate"
  ) throws -> History? {
    let url = try PostgreSQLServer.shared.get().url(database, user: user)
    return try History.open(DatabaseAddress(url: Secret(url), shown: "postgresql://test"), project: project, for: use)
  }

  @Test("Projects in one database have their own runs, also under the same IDs")
  func projects() throws {
    let database = try PostgreSQLServer.shared.get().makeDatabase()
    #expect(try Self.open(database, "a", for: .reading) == nil)
    let first = try #require(try Self.open(database, "a", for: .importing))
    #expect(try first.append([Given.run(1), Given.run(2)]).added == 2)
    #expect(try Self.open(database, "b", for: .reading) == nil)
    let second = try #require(try Self.open(database, "b", for: .checking))
    #expect(try second.isEmpty() && second.append([Given.run(1, peak: 5)]).added == 1)
    #expect(try second.prune(keeping: .latest(0)) == 1)
    #expect(try first.allRuns() == [Given.run(1), Given.run(2)])
    #expect(try first.trend(createdAt: Given.instant(0), links: BuildLinks()).runCount == 2)
  }

  @Test("One role adds runs, another only reads; neither needs to create tables")
  func roles() throws {
    let server = try PostgreSQLServer.shared.get()
    let database = try server.makeDatabase()
    _ = try Self.open(database, "shop", for: .importing)?.append([Given.run(1)])
    let (writer, reader) = ("w_\(database)", "r_\(database)")
    try server.run(
      """
      CREATE ROLE \(writer) LOGIN; CREATE ROLE \(reader) LOGIN;
      GRANT USAGE ON SCHEMA highwater TO \(writer), \(reader);
      GRANT SELECT ON ALL TABLES IN SCHEMA highwater TO \(writer), \(reader);
      GRANT INSERT ON ALL TABLES IN SCHEMA highwater TO \(writer);
      """, in: database)
    let writing = try #require(try Self.open(database, "shop", for: .checking, user: writer))
    // 9,000 hours later there is no partition for the year, and the role may not create one.
    #expect(try writing.append([Given.run(9000), Given.run(2)]).added == 2)
    #expect(try server.run("SELECT count(*) FROM highwater.scenario_other", in: database) == "1\n")
    let reading = try #require(try Self.open(database, "shop", for: .reading, user: reader))
    #expect(try reading.allRuns() == [1, 2, 9000].map { Given.run($0) })
    let error = #expect(throws: HistoryError.self) { try reading.append([Given.run(3)]) }
    #expect(error?.code == .notWritable && error?.hint?.contains("privileges") == true)
    // The owner's next run of that year goes to the same partition.
    #expect(try Self.open(database, "shop", for: .checking)?.append([Given.run(9001)]).added == 1)
    #expect(try reading.allRuns().count == 4)
  }

  @Test("Tables of another version are an error, and are left unchanged")
  func otherVersion() throws {
    let server = try PostgreSQLServer.shared.get()
    let database = try server.makeDatabase()
    _ = try Self.open(database, "shop", for: .importing)
    try server.run("UPDATE highwater.version SET version = 99", in: database)
    for use in [History.Use.checking, .reading] {
      let error = #expect(throws: HistoryError.self) { try Self.open(database, "shop", for: use) }
      #expect(error?.problem == "is a history of version 99; this highwater reads version 1")
    }
  }

  @Test("People can query the values of all projects with SQL")
  func measurements() throws {
    let server = try PostgreSQLServer.shared.get()
    let database = try server.makeDatabase()
    _ = try Self.open(database, "team/shop", for: .importing)?.append([Given.run(1)])
    let query =
      "SELECT project, started_at AT TIME ZONE 'UTC', branch, scenario, metric, median FROM highwater.measurement"
    #expect(
      try server.run(query, in: database) == "team/shop|2026-01-01 01:00:00|main|load|peak_rss|24207360\n")
  }

  @Test("A name or number of any form is read back from the column of metrics")
  func metricsColumn() throws {
    let numbers = [0, -1.5, 24_207_360, 0.1, 1e300, -1e-300, 9_007_199_254_740_992, .infinity]
    let metrics = zip(["peak_rss", "value.\"a\\ü\" b c", "later"] + (0..<5).map { "phase.\($0).growth" }, numbers).map {
      Given.metric(MetricName($0), $1, from: -abs($1), to: abs($1), unit: "items", $1 > 1 ? .improved : nil)
    }
    var read: [MetricResult] = []
    try MetricsColumn.encode(metrics).withCString { text in
      try MetricsColumn.decode(text) { name, metric in
        read.append(metric.result(of: StoredMetricName(text: name), perIteration: false))
      }
    }
    #expect(read.map(\.metric) == metrics.map(\.metric))
    #expect(read.map { $0.current?.median } == numbers.map { $0.isFinite ? $0 : nil })
    #expect(read.map(\.verdict) == metrics.map { $0.isGated ? $0.verdict : .skipped })
    for text in ["", "[]", "{\"a\"", "{\"a\":[1]}", "{\"a\":[1,2,3,4,\"pass\",x,1,1,1,1]}"] {
      #expect(throws: DamagedRow.self, "\(text)") { try text.withCString { try MetricsColumn.decode($0) { _, _ in } } }
    }
  }

  /// Answers each query with rows without an end, after it has printed its port.
  private static let endlessServer = """
    import socket, struct, sys
    message = lambda kind, body: kind + struct.pack('!I', len(body) + 4) + body
    listener = socket.create_server(('127.0.0.1', 0))
    print(listener.getsockname()[1], flush=True)
    client, _ = listener.accept()
    client.recv(65536)
    client.sendall(message(b'R', struct.pack('!I', 0)) + message(b'Z', b'I'))
    client.recv(65536)
    client.sendall(message(b'T', struct.pack('!H', 1) + b'a\\0' + b'\\0' * 18))
    rows = message(b'D', struct.pack('!Hi', 1, 8) + b'x' * 8) * 1000
    while True: client.sendall(rows)
    """

  @Test("A server that sends rows without an end is left")
  func endlessRows() throws {
    let (process, output) = (Process(), Pipe())
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["python3", "-c", Self.endlessServer]
    (process.standardOutput, process.standardError) = (output, FileHandle.nullDevice)
    try process.run()
    let port = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self).filter(\.isNumber)
    let address = DatabaseAddress(url: Secret("postgresql://gate@127.0.0.1:\(port)/gate?sslmode=disable"), shown: "db")
    // It may wait for ten minutes for each answer.
    let error = #expect(throws: HistoryError.self) { try History.open(address, project: "shop", for: .pruning) }
    #expect(error?.problem == "sent more than 64 MiB as one answer", "\(error?.problem ?? "")")
    process.waitUntilExit()
  }
}
