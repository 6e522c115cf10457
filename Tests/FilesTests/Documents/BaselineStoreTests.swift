import FoundationEssentials
import GateCore
import Glibc
import Testing

@testable import GateApplication

@Suite("Storing baselines")
struct BaselineStoreTests {
  private let scratch: ScratchFolder
  private let store: BaselineStore
  private let baseline: Baseline

  init() throws {
    var baseline = DocumentExamples.baseline
    baseline.curve = DocumentExamples.baselineCurve
    self.baseline = baseline
    scratch = try ScratchFolder()
    store = BaselineStore(folder: "\(scratch.path)/baselines")
  }

  private func loaded() throws -> Baseline? {
    try store.load(baseline.scenario, environment: baseline.environment)
  }

  private var path: String { store.path(baseline.scenario, baseline.environment) }

  @Test("A scenario that was never approved has no baseline; this is not an error")
  func missing() throws {
    #expect(try loaded() == nil)
    #expect(store.environments(of: baseline.scenario) == [])
  }

  @Test("A saved baseline can be loaded by scenario and environment")
  func save() throws {
    #expect(try store.save(baseline) == .created)
    #expect(try scratch.names(in: "baselines/redis-load[clients=50]") == ["details", "linux-x86_64-2cpu-sampled.json"])
    #expect(try loaded() == baseline)
  }

  @Test("Approving equal values again leaves the file unchanged, whoever approves them and why")
  func unchanged() throws {
    _ = try store.save(baseline)
    let before = try scratch.text(of: "baselines/redis-load[clients=50]/linux-x86_64-2cpu-sampled.json")
    var again = baseline
    again.approval = Approval(at: .now, by: "Grace", commit: nil, reason: "once more", run: "another")
    // The curve differs in every run, so it must not count as a change.
    again.curve = nil
    #expect(try store.save(again) == .unchanged)
    #expect(try scratch.text(of: "baselines/redis-load[clients=50]/linux-x86_64-2cpu-sampled.json") == before)
    #expect(try loaded()?.approval == baseline.approval)
  }

  @Test(
    "Any other value, environment or composition replaces the file",
    arguments: [
      { $0.metrics[.peakRSS]?[0] += 4096 }, { $0.metrics[.growth] = nil }, { $0.composition = nil },
      { $0.fingerprint.kernel = "6.19" }, { $0.metrics[.peakRSS]?.reverse() },
    ] as [@Sendable (inout Baseline) -> Void]
  )
  func replaced(change: @Sendable (inout Baseline) -> Void) throws {
    _ = try store.save(baseline)
    var changed = baseline
    change(&changed)
    #expect(try store.save(changed) == .replaced)
    #expect(try loaded() == changed)
  }

  @Test(
    "Loading a broken file is an error; approving again repairs it",
    arguments: ["", "{", "{\"schema\": \"x/1\"}"]
  )
  func broken(text: String) throws {
    _ = try scratch.put(text, at: "baselines/redis-load[clients=50]/linux-x86_64-2cpu-sampled.json")
    #expect(throws: FileError.self) { try loaded() }
    #expect(try store.save(baseline) == .replaced)
    #expect(try loaded() == baseline)
  }

  @Test(
    "The curve is in a file of its own; without it, or with that of another run, the baseline is used all the same",
    arguments: [nil, "", "{", #"{"schema": "highwater.baseline-details/1", "run": "another", "curve": "1:2048"}"#])
  func curve(text: String?) throws {
    _ = try store.save(baseline)
    let file = "baselines/redis-load[clients=50]/details/linux-x86_64-2cpu-sampled.json"
    #expect(try scratch.text(of: file).contains(#""curve" : "1:2048-3072""#))
    #expect(
      !(try scratch.text(of: "baselines/redis-load[clients=50]/linux-x86_64-2cpu-sampled.json")).contains("curve"))
    unlink("\(scratch.path)/\(file)")
    if let text { _ = try scratch.put(text, at: file) }
    var expected = baseline
    expected.curve = nil
    #expect(try loaded() == expected)
    // A new baseline without a curve does not keep that of the old one.
    _ = try store.save(baseline)
    var other = expected
    other.metrics[.peakRSS]?[0] += 4096
    #expect(try store.save(other) == .replaced)
    #expect(try loaded() == other)
  }

  @Test("A file with another scenario's baseline is malformed")
  func misplaced() throws {
    _ = try store.save(baseline)
    let name = ScenarioName("redis-save")
    let misplaced = store.path(name, baseline.environment)
    try SafeFile.write(BaselineFile.encode(baseline), to: misplaced)
    let error = try #require(throws: FileError.self) {
      try store.load(name, environment: baseline.environment)
    }
    #expect(error.code == .malformed)
    #expect(
      error.diagnostics.map(\.description) == [
        """
        \(misplaced): error: `scenario` is `redis-load[clients=50]`, expected `redis-save` by the file's path
          hint: move the file, or recreate it with `highwater approve`
        """
      ]
    )
    try SafeFile.write(BaselineFile.encode(baseline), to: store.path(baseline.scenario, "mine"))
    #expect(throws: FileError.self) { try store.load(baseline.scenario, environment: "mine") }
  }

  @Test(
    "No name leads out of the folder",
    arguments: ["../../x", "..", ".", "/etc/passwd", "a/b", "a\u{0}b", "", "~", String(repeating: "x/", count: 200)]
  )
  func hostileNames(name: String) throws {
    for path in [store.path(ScenarioName(name), "ci"), store.path(ScenarioName("load"), name)] {
      #expect(path.hasPrefix(store.folder + "/"))
      let parts = path.dropFirst(store.folder.count + 1).split(separator: "/", omittingEmptySubsequences: false)
      #expect(parts.count == 2 && parts.allSatisfy { !$0.isEmpty && $0 != "." && $0 != ".." && $0.utf8.count < 256 })
    }
    var hostile = baseline
    hostile.scenario = ScenarioName(name)
    _ = try? store.save(hostile)
    #expect(try scratch.names().allSatisfy { $0 == "baselines" })
  }

  @Test("A baseline that could not be read back is not written")
  func unreadable() throws {
    var empty = baseline
    empty.metrics = [.peakRSS: []]
    let error = try #require(throws: FileError.self) { try store.save(empty) }
    #expect(error.problem == "`metrics` has no values")
    #expect(try scratch.names() == [])
  }

  @Test("Environments are listed by name; broken files are listed by file name")
  func environments() throws {
    for name in ["zoo", "arm64 box", "ci/2"] {
      var other = baseline
      other.environment = name
      _ = try store.save(other)
    }
    _ = try scratch.put("{", at: "baselines/redis-load[clients=50]/broken.json")
    _ = try scratch.put("{", at: "baselines/redis-load[clients=50]/README.md")
    _ = try scratch.put("{", at: "baselines/redis-load[clients=50]/.highwater-1.tmp")
    #expect(store.environments(of: baseline.scenario) == ["arm64 box", "broken", "ci/2", "zoo"])
  }

  @Test("The folder may be a symbolic link")
  func link() throws {
    try #require(mkdir("\(scratch.path)/elsewhere", 0o700) == 0)
    try #require(symlink("\(scratch.path)/elsewhere", store.folder) == 0)
    #expect(try store.save(baseline) == .created)
    #expect(try loaded() == baseline)
    #expect(try scratch.names(in: "elsewhere") == ["redis-load[clients=50]"])
  }

  @Test("A baseline larger than 1 MiB is not read, and loading does not replace it")
  func tooLarge() throws {
    _ = try store.save(baseline)
    try SafeFile.write([UInt8](repeating: 0x20, count: (1 << 20) + 1), to: path)
    let error = try #require(throws: FileError.self) { try loaded() }
    #expect(error.problem == "is larger than 1 MiB, the limit for this file")
  }
}
