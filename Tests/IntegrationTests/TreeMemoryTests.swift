import Foundation
import Testing

@Suite("The memory of a process tree of known size", .endsHangs)
struct TreeMemoryTests {
  private static let needsCgroup: Comment = "needs a memory cgroup, which counts shared pages once"

  /// The measured peak of the tree in its own cgroup, and the memory that it allocated.
  private func inCgroup(_ words: String, options: [String] = []) throws -> (peak: Double, truth: Double) {
    let outcome = try Ballast.record(words, options: options)
    let (repetition, report) = try outcome.only()
    #expect(outcome.method.hasSuffix("+cgroup"))
    #expect(repetition.treeMethod == "cgroup")
    return (try repetition.metric("tree_peak"), report.touched)
  }

  @Test("Memory of concurrent children is added up, whatever the method")
  func sum() throws {
    let (repetition, report) = try Ballast.record("children count=8 mib=20 ms=1000").only()
    let peak = try repetition.metric("tree_peak")
    // Whether the program files count depends on the method.
    #expect(peak >= 0.99 * report.touched && peak <= 1.01 * (report.touched + 9 * report.base), "\(peak)")
    #expect(repetition.processes == 9)
  }

  @Test(
    "Memory that a child shares with its parent without being a thread counts once, also without a cgroup",
    .enabled(if: Ballast.mayTrace && Confinement.canDropPrivileges, "needs to trace, and to drop privileges"),
    arguments: [[], [.privileges]] as [Set<Confinement>])
  func borrowed(dropped: Set<Confinement>) throws {
    var harness = try ScenarioHarness("target: {command: [\(try Ballast.program), borrowed, mib=40, ms=1000]}")
    try harness.confine(without: dropped)
    let outcome = try harness.check()
    let metrics = try #require(harness.repetitions().first?["metrics"] as? [String: Double], "\(outcome.output)")
    let touched = Double(80 << 20)
    for name in ["tree_peak", "tree_steady", "peak_rss"] {
      let value = try #require(metrics[name], "\(outcome.output)")
      #expect(value >= touched && value < 1.05 * touched, "\(name): \(value)")
    }
  }

  @Test(
    "In a cgroup, the children's private memory is exact within 1 %",
    .enabled(if: Ballast.hasMemoryCgroup, needsCgroup)
  )
  func children() throws {
    let (peak, truth) = try inCgroup("children count=8 mib=20 ms=1000")
    #expect(abs(peak - truth) <= 0.01 * truth, "\(peak) recorded, \(truth) held")
  }

  @Test(
    "In a cgroup, a segment shared by four processes counts once, within 2 %",
    .enabled(if: Ballast.hasMemoryCgroup, needsCgroup), arguments: ["memfd", "sysv", "shm"]
  )
  func sharedSegment(kind: String) throws {
    let (peak, truth) = try inCgroup("shared count=4 mib=50 ms=1000 kind=\(kind)")
    #expect(abs(peak - truth) <= 0.02 * truth, "\(peak) recorded, \(truth) held")
  }

  @Test(
    "In a cgroup, pages shared after fork count once, and rewritten pages once per process, within 2 %",
    .enabled(if: Ballast.hasMemoryCgroup, needsCgroup), arguments: [0, 10], [[], ["--tracer", "off"]]
  )
  func copies(rewrittenPercent: Int, options: [String]) throws {
    let words = "forked count=30 mib=50 share=\(rewrittenPercent) ms=1000"
    let (peak, truth) = try inCgroup(words, options: options)
    // Each process has a few private pages: its stack and allocator data.
    let own = Double(31 * 25 * sysconf(Int32(_SC_PAGESIZE)))
    #expect(peak >= 0.98 * truth && peak <= 1.02 * truth + own, "\(peak) recorded, \(truth) held")
  }
}

@Suite("A rise in files that are in memory only", .endsHangs, .serialized)
struct MemoryFileTests {
  @Test(
    "The file of tmpfs, or without a name, is named that a process has written and not mapped, by the first check",
    .enabled(if: Ballast.hasMemoryCgroup, "needs a memory cgroup, which counts the file"), arguments: [true, false])
  func named(hasName: Bool) throws {
    let path = "/dev/shm/highwater-\(UUID().uuidString)"
    defer { unlink(path) }
    let project = try TemporaryProject(Self.file(2, path, hasName: hasName))
    #expect(try Highwater.run("check", in: project).code == 5)
    let approved = try Highwater.run("approve", in: project)
    #expect(approved.code == 0, "\(approved.output)\(approved.errors)")
    try project.write(Self.file(24, path, hasName: hasName), to: "highwater.yml")
    let risen = try Highwater.run("check", "--quiet", in: project)
    let words = risen.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    let name = hasName ? path : "\(path) (deleted)"
    #expect(risen.code == 1 && words.contains("MiB of shared memory: \(name) +"), "\(risen.output)\(risen.errors)")
  }

  @Test(
    "Without a memory cgroup, a check says that it does not count such a file",
    .enabled(if: Confinement.canDropPrivileges, "needs to drop privileges"))
  func uncounted() throws {
    let path = "/dev/shm/highwater-\(UUID().uuidString)"
    let words = "exec 3> \(path); head -c 24M /dev/zero >&3; sleep 1; rm \(path)"
    var harness = try ScenarioHarness("target: {shell: \"\(words)\"}\nrepetitions: 1\nwarmup: 0")
    try harness.confine(without: [.privileges])
    let output = try harness.check().output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    let note = "files in memory that the target has written in `/dev/shm`: only a memory cgroup"
    #expect(output.contains(note), "\(output)")
  }

  /// A shell that writes a file in memory, and holds it for a second.
  private static func file(_ mebibytes: Int, _ path: String, hasName: Bool) -> String {
    let (before, after) = hasName ? ("", "rm \(path)") : ("rm \(path);", ":")
    return """
      version: 1
      scenarios:
        - name: cache
          target:
            shell: "exec 3> \(path); \(before) head -c \(mebibytes)M /dev/zero >&3; sleep 1; \(after)"
          repetitions: 3
          warmup: 0
      """
  }
}
