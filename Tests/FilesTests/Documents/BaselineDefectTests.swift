import FoundationEssentials
import GateCore
import Testing

@testable import GateApplication

@Suite("Baselines that a merge has made unusable")
struct BaselineDefectTests {
  private static let baseline = DocumentExamples.baseline

  /// A baseline as a file.
  private static func file(_ change: (inout Baseline) -> Void = { _ in }) -> String {
    var changed = baseline
    change(&changed)
    return String(decoding: BaselineFile.encode(changed), as: UTF8.self)
  }

  /// One of two baselines of a conflict.
  private static func side(_ commit: String, adding bytes: Double) -> String {
    file { side in
      side.metrics[.peakRSS] = side.metrics[.peakRSS]?.map { $0 + bytes }
      side.approval?.commit = commit
    }
  }

  private func defect(of text: String) -> BaselineDefect? {
    let error = #expect(throws: FileError.self) { try BaselineFile.decode(Array(text.utf8), path: "b.json") }
    return error?.defect
  }

  @Test(
    "A conflict has the first metric that differs, with both approvals",
    arguments: [
      "<<<<<<< HEAD\nOURS=======\nTHEIRS>>>>>>> topic\n",
      "<<<<<<< HEAD\r\nOURS=======\r\nTHEIRS>>>>>>> topic\r\n",
      "<<<<<<< HEAD\nOURS||||||| 57dc3d9\n{}\n<<<<<<<<< nested\n=======\nTHEIRS>>>>>>>\n",
    ])
  func conflict(markers: String) throws {
    let (ours, theirs) = (Self.side("aaa", adding: 0), Self.side("bbb", adding: 8192))
    let text = markers.replacing("OURS", with: ours).replacing("THEIRS", with: theirs)
    guard case .mergeConflict(let before?, let after?) = defect(of: text) else {
      Issue.record("no conflict of two baselines")
      return
    }
    #expect(before.metric == .peakRSS && before.unit == "bytes" && after.median - before.median == 8192)
    #expect(before.approval.commit == "aaa" && after.approval.commit == "bbb")
  }

  @Test("Only the lines between the markers differ, and a side that is no baseline is unreadable")
  func partialConflict() {
    let lines = Self.file().split(separator: "\n").map(String.init)
    let at = lines.firstIndex { $0.contains("\"commit\"") } ?? 0
    let conflict = ["<<<<<<< ours", lines[at], "=======", "  }}}", ">>>>>>> theirs"]
    let text = (lines[..<at] + conflict + lines[(at + 1)...]).joined(separator: "\n")
    guard case .mergeConflict(let ours?, nil) = defect(of: text) else {
      Issue.record("not one side")
      return
    }
    #expect(ours.approval == Self.baseline.approval)
  }

  @Test(
    "Parts of another approval, and edited values, are a change",
    arguments: [("\"run\" : \"", "\"run\" : \"x"), ("\"by\" : \"", "\"by\" : \"x"), (" : [", " : [1")])
  func mixed(old: String, new: String) {
    let text = Self.file()
    let changed = text.replacing(old, with: new, maxReplacements: 1)
    #expect(changed != text)
    guard case .changed = defect(of: changed) else {
      Issue.record("not noticed")
      return
    }
  }

  @Test(
    "Other white space and line ends are no change, and neither is a file of an earlier version, without a digest",
    arguments: [
      { $0.replacing("\n", with: "\r\n") }, { $0.replacing(" : ", with: ": ") }, { $0.replacing("\n", with: "") },
      { $0.split(separator: "\n").filter { !$0.contains("\"digest\"") }.joined(separator: "\n") },
    ] as [@Sendable (String) -> String])
  func reformatted(format: @Sendable (String) -> String) throws {
    let text = format(Self.file())
    #expect(text != Self.file())
    #expect(try BaselineFile.decode(Array(text.utf8), path: "b.json") == Self.baseline)
  }

  @Test("Unusable files of all environments are found, and folders of other scenarios")
  func store() throws {
    let scratch = try ScratchFolder()
    let store = BaselineStore(folder: "\(scratch.path)/baselines")
    _ = try store.save(Self.baseline)
    let text = Self.file { $0.environment = "other" }
    let folder = "baselines/redis-load[clients=50]"
    _ = try scratch.put(text.replacing("\"at\" : \"2", with: "\"at\" : \"3"), at: "\(folder)/changed.json")
    _ = try scratch.put("<<<<<<< a\n\(text)=======\n\(text)>>>>>>> b\n", at: "\(folder)/conflict.json")
    _ = try scratch.put(String(text.prefix(text.count - 9)), at: "\(folder)/cut.json")
    _ = try scratch.put(text, at: "baselines/removed/other.json")
    let errors = store.errors(in: [Self.baseline.scenario])
    #expect(errors.map { $0.path.split(separator: "/").last } == ["changed.json", "conflict.json", "cut.json"])
    #expect(errors.map { $0.defect == nil } == [false, false, true])
    #expect(store.folders(except: [Self.baseline.scenario]) == ["\(store.folder)/removed"])
  }
}
