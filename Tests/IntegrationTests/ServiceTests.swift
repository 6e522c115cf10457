import Foundation
import Testing

/// A service that uses MemoryMarkers, with tests that use LeakAssertions.
@Suite("The example service", .serialized, .endsHangs)
struct ServiceTests {
  @Test("Its own tests pass in both frameworks")
  func ownTests() throws {
    let outcome = try ServiceExample.test()
    #expect(outcome.code == 0, "\(outcome.output)\(outcome.errors)")
    #expect(outcome.text.contains("Executed 2 tests, with 0 failures"))
    #expect(outcome.text.contains("Test run with 3 tests in 1 suite passed"))
  }

  @Test("With the seeded leak both frameworks report the cycle at the caller's line, and no other test fails")
  func ownTestsOfTheLeak() throws {
    let outcome = try ServiceExample.test(fault: "leak")
    #expect(outcome.code == 1)
    let cycle = "1 object leaked: - self: Session self → onEnd\\{\\} → self"
    let prefixes = [
      ("SessionLeakTests.swift", ": error: SessionLeakTests.test[A-Za-z]+ : failed - "),
      ("SessionTests.swift", ":[0-9]+: Issue recorded ↳ "),
    ]
    for (file, prefix) in prefixes {
      for line in try linesOfAssertions(in: file) {
        let found = outcome.text.range(of: "\(file):\(line)\(prefix)\(cycle)", options: .regularExpression)
        #expect(found != nil, "\(file):\(line)")
      }
    }
    #expect(outcome.text.contains("Executed 2 tests, with 2 failures"))
    #expect(outcome.text.contains("Test run with 3 tests in 1 suite failed"))
    #expect(outcome.text.contains("with 2 issues"))
  }

  @Test("The faultless service passes, with its own phases and values, and growth per request")
  func healthy() throws {
    let service = try ServiceExample()
    let outcome = try service.check()
    #expect(outcome.code == 0, "\(outcome.output)\(outcome.errors)")
    for repetition in try service.repetitions() {
      let phases = try #require(repetition["phases"] as? [[String: Any]])
      #expect(phases.compactMap { $0["name"] as? String } == ["load", "serve", "drain"])
      #expect((repetition["end"] as? [String: Any])?["code"] as? Int == 0)
      let metrics = try #require(repetition["metrics"] as? [String: Double])
      #expect(metrics["value.cache.entries"] == 256)
      #expect(try (16_384...65_536).contains(#require(metrics["value.cache.bytes"])))
      let units = try #require(repetition["units"] as? [String: String])
      #expect(units["value.cache.entries"] == "items")
      #expect(units["value.cache.bytes"] == "bytes")
    }
    #expect(try service.metric("growth")["unit"] as? String == "bytes/iteration")
    #expect(try service.metric("phase.serve.peak_rss")["verdict"] as? String == "pass")
  }

  @Test("Each start but the first is reported as following a requested end")
  func launches() throws {
    let service = try ServiceExample()
    let outcome = try service.check()
    try #require(outcome.code == 0, "\(outcome.output)\(outcome.errors)")
    for repetition in try service.repetitions() {
      let events = try #require(repetition["targetEvents"] as? [[String: Any]])
      let kinds = events.compactMap { $0["kind"] as? [String: [String: Any]] }
      #expect(kinds.map { $0.keys.first } == ["launch", "activity"])
      #expect(kinds.first?["launch"]?["reason"] as? String == "requested")
      #expect(kinds.last?["activity"]?["name"] as? String == "stopping")
    }
  }

  @Test("The seeded loop fails the run and is named, whatever the memory")
  func loop() throws {
    let service = try ServiceExample()
    let outcome = try service.check(fault: "loop")
    #expect(outcome.code == 3, "\(outcome.output)\(outcome.errors)")
    #expect(outcome.text.contains("reported a loop: `DocumentStore.put` was called 100 times"))
    let events = try #require(service.repetitions().last?["targetEvents"] as? [[String: Any]])
    let loops = events.compactMap { ($0["kind"] as? [String: Any])?["loop"] as? [String: Any] }
    #expect(loops.compactMap { $0["name"] as? String } == ["DocumentStore.put"])
    #expect(loops.compactMap { $0["calls"] as? Int } == [100])
    #expect(
      outcome.text.contains("loop: DocumentStore.put was called 100 times for one request"), "the service's own output")
  }

  @Test("A cache above its limit is a regression of the service's own value")
  func value() throws {
    let service = try ServiceExample()
    try service.replace("limit: 256}", by: "limit: 255}")
    let outcome = try service.check()
    #expect(outcome.code == 1, "\(outcome.output)\(outcome.errors)")
    #expect(outcome.text.contains("value.cache.entries is 256"))
    #expect(try service.metric("value.cache.entries")["unit"] as? String == "items")
    #expect(try service.metric("value.cache.entries")["verdict"] as? String == "regression")
    #expect(try service.metric("value.cache.bytes")["verdict"] as? String == "pass")
  }

  @Test("The seeded leak is a regression of growth by the size of one answer per request")
  func leak() throws {
    let service = try ServiceExample()
    let outcome = try service.check(fault: "leak")
    #expect(outcome.code == 1, "\(outcome.output)\(outcome.errors)")
    #expect(outcome.text.contains("above its limit of 1 KiB/iteration"))
    let growth = try service.metric("growth")
    #expect(growth["verdict"] as? String == "regression")
    // Answers of 300 pages have 26 KiB, and 200 of 300 requests get one.
    let median = try #require((growth["current"] as? [String: Any])?["median"] as? Double)
    #expect((8_192...65_536).contains(median))
  }

  /// The lines of a test file that assert freedom from leaks.
  private func linesOfAssertions(in file: String) throws -> [Int] {
    let text = try String(contentsOfFile: "\(ServiceExample.folder)/Tests/DocumentsTests/\(file)", encoding: .utf8)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
      .filter { $0.element.contains("expectNoLeak {") }.map { $0.offset + 1 }
    try #require(lines.count == 2)
    return lines
  }
}
