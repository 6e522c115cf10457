import Foundation
import Testing

/// A program that counts its own instances, built with and without optimization.
@Suite("Living instances by class, inside the program", .endsHangs)
struct InstanceProfilerTests {
  private static let folder = "\(ExampleTests.root)/Tests/Fixtures/instances-fixture/.build"

  /// Skipped if `HIGHWATER_SERVICE_IS_BUILT` is set, after `ci/build instances`.
  private static let built = Result {
    guard ProcessInfo.processInfo.environment["HIGHWATER_SERVICE_IS_BUILT"] == nil else { return }
    let outcome = try Highwater.Running(
      ["instances"], in: TemporaryProject(), variables: [:], program: "\(ExampleTests.root)/ci/build"
    ).wait()
    try #require(outcome.code == 0, "\(outcome.errors)\(outcome.output)")
  }

  /// The lines that the program prints.
  private func lines(_ build: String, _ arguments: String..., and more: [String] = []) throws -> [String] {
    try Self.built.get()
    let outcome = try Highwater.Running(
      arguments + more, in: TemporaryProject(), variables: [:], program: "\(Self.folder)/\(build)/instances-fixture"
    ).wait()
    try #require(outcome.code == 0, "\(outcome.errors)\(outcome.output)")
    return outcome.output.split(separator: "\n").map(String.init)
  }

  @Test(
    "Kept, leaked and released objects are counted exactly, also those of initializers that fail",
    arguments: ["debug", "release"])
  func counts(build: String) throws {
    #expect(
      try lines(build, "counts") == [
        "hook=entry", "kept 100 100 100", "temporary 100", "failing 0 100", "cycles 1100", "released 1000 0 0",
      ])
  }

  @Test("Each mark begins a generation, which receives only newer objects; older ones than the start do not count")
  func generations() throws {
    #expect(
      try lines("release", "generations") == [
        "hook=entry", "marks [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]", "tenth 100", "mark 11", "newest [0, 100, 5, 0]",
        "live 105", "released 0 0",
      ])
  }

  @Test("While an array grows no class has fewer instances than none", arguments: ["entry", "tables"])
  func arrays(hook: String) throws {
    #expect(try lines("debug", "arrays", hook) == ["hook=\(hook)", "nodes 1 numbers 100000", "untracked []"])
  }

  @Test("Four threads leave nothing of a class whose objects were all released", arguments: ["counts", "exact"])
  func threads(mode: String) throws {
    #expect(try lines("debug", "threads", mode) == ["hook=entry", "live 0 allocated 200000"])
  }

  @Test("Code that other threads may be executing is not changed")
  func late() throws {
    #expect(try lines("release", "late") == ["started", "refused: otherThreads"])
  }

  @Test("A second start does nothing, a stop keeps the counts, and a start after it counts from zero")
  func restart() throws {
    let rounds = (1...3).flatMap { ["hook=entry", "hook=entry", "round \($0 * 10) false"] }
    #expect(try lines("release", "restart") == rounds)
  }

  @Test("Stopping and starting while other threads allocate harms none of them")
  func toggle() throws {
    #expect(try lines("release", "toggle") == ["hook=entry", "hook=entry false"])
  }

  @Test("A signal writes a whole snapshot, which the library can read")
  func signal() throws {
    let project = try TemporaryProject()
    let written = try lines("release", "signal", project.url("snapshot.json").path)
    #expect(try FileManager.default.contentsOfDirectory(atPath: project.path) == ["snapshot.json"])
    #expect(written.last?.hasPrefix("signal true Optional(") == true, "\(written)")
    #expect(written.last?.contains("name: \"instances_fixture.Node\"") == true, "\(written)")
    #expect(written.last?.contains("live: 100, allocated: 100, deallocated: 0") == true, "\(written)")
  }

  @Test(
    "A rise of 50 instances and 20 percent in the least of three snapshots is told",
    arguments: [
      (["100", "119", "100", "119", "119", "151"], "[] 0"),
      (["100", "100", "100", "151", "151", "151"], "grown(name: \"instances_fixture.Node\", before: 100, after: 151)"),
      (["1000", "1000", "1000", "1151", "1151", "1151"], "[] 0"),
      (["0", "0", "0", "49", "50", "50"], "[] 0"),
      (["0", "0", "0", "50", "50", "50"], "new(name: \"instances_fixture.Node\", count: 50)"),
      (["10", "10", "10", "0", "0", "0"], "vanished(name: \"instances_fixture.Node\", count: 10)"),
    ])
  func diff(counts: [String], expected: String) throws {
    let outcome = try lines("release", "diff", and: counts)
    #expect(outcome.last?.contains(expected) == true, "\(outcome)")
    #expect(outcome.last?.hasSuffix("other label: true") == true, "\(outcome)")
  }

  @Test("One more instance in each of ten iterations is growth; a cache that was filled once is none")
  func iterations() throws {
    let line = try lines("release", "iterations").last
    #expect(line?.contains("growing(name: \"instances_fixture.Node\", perIteration: 1)] []") == true, "\(line ?? "")")
    #expect(line?.contains("Other") == false && line?.contains("Third") == false, "\(line ?? "")")
  }
}
