import FoundationEssentials
import GateCore
import Testing

@testable import GateApplication

/// A server with functions of several kinds, and hostile names.
enum ProfileExample {
  static func profile(growth: Int64 = 0) -> MemoryProfile {
    var calls = CallTree.Builder()
    let (main, handle) = (function("server", "main"), function("server", "handle_request(char const*)"))
    let remember = function("libstore-1.2.so.3", "remember.isra.0")
    calls.add(.init(live: 28_600_000 + growth), stack: [main, handle, remember, function("libc.so.6", "malloc")])
    calls.add(.init(live: 3_400_000, touched: 8192), stack: [main, handle, function("server", "cache;put")])
    calls.add(.init(touched: 1_048_576), stack: [main, function("", "load", file: "/srv/app.py", line: 12)])
    calls.add(.init(live: 70_000), stack: [main, function("libgone.so", "")])
    calls.add(.init(live: 90_000), stack: [main, function("server", "a b\n::error::\u{1b}[31m")])
    let total = calls.tree.total
    return MemoryProfile(
      process: "server", method: .stopsAndBlocks, peak: .mebibytes(40),
      anonymous: Bytes(total.live + total.touched + 500_000 + 4096), calls: calls.tree, heapOverhead: 500_000,
      unattributed: [.noPageFault: Bytes(4096)], samplingInterval: .kibibytes(64))
  }

  /// What `remember()` makes is released by `evict()`.
  private static func releases(bytes: Int64) -> MemoryProfile {
    var (calls, profile) = (CallTree.Builder(), profile())
    let names = ["remember", "evict", "handle"].map { function("libstore.so", $0) }
    calls.add(.init(live: bytes), stack: [names[0], .release, names[1], names[2]])
    (profile.calls, profile.moment) = (calls.tree, .releases)
    return profile
  }

  static func function(_ module: String, _ name: String, file: String? = nil, line: Int? = nil) -> CallTree.Function {
    CallTree.Function(module: module, name: name, file: file, line: line)
  }

  /// Three repetitions of the server with a worker.
  static func build(growth: Int64 = 0) throws -> ProfiledBuild {
    let repetitions = [0, 5, 9].map { (noise: Int64) in
      var worker = profile(growth: -2_000_000)
      (worker.process, worker.processes) = ("worker", 4)
      return ProfiledRepetition(
        main: "server", profiles: [profile(growth: growth + noise), worker, releases(bytes: 20_000_000 - growth)])
    }
    return try #require(ProfiledBuild(repetitions))
  }
}

@Suite("Stored memory profiles")
struct ProfileFileTests {
  @Test("The file has one sorted line for each function and call")
  func golden() throws {
    try DocumentGolden.expect(ProfileFile.encode(ProfileExample.build()), toBe: "profile.json")
  }

  @Test("A stored profile gives the same finding as the one that was stored")
  func roundTrip() throws {
    let old = try ProfileExample.build()
    let stored = ProfileFile.encode(old)
    let decoded = try ProfileFile.decode(stored, path: "p.json")
    #expect(ProfileFile.encode(decoded) == stored)
    #expect(decoded.processes.map(\.parts) == old.processes.map(\.parts))
    #expect(decoded.processes.map(\.processes) == [1, 4] && decoded.main == "server")
    let now = try ProfileExample.build(growth: 9_000_000)
    let finding = now.comparison(with: decoded)?.finding
    #expect(finding == now.comparison(with: old)?.finding)
    #expect(finding?.culprit?.change.function.description == "libstore.so!remember")
    #expect(finding?.culprit?.formerRelease?.function.name == "evict")
  }

  @Test("Inlined functions, and single processes of a name, are kept")
  func inlined() throws {
    func build(_ index: Int64) throws -> ProfiledBuild {
      let main = ProfileExample.function("hog", "main", file: "/src/hog.c", line: 11)
      let inlined = CallTree.Function(
        module: "hog", name: "build_index", file: "/src/hog.c", line: 6, isInlined: true)
      var calls = CallTree.Builder()
      calls.add(.init(live: 4_000_000), stack: [main, ProfileExample.function("hog", "load_rows")])
      calls.add(.init(live: index), stack: [main, inlined])
      var profile = ProfileExample.profile()
      (profile.calls, profile.rank) = (calls.tree, 2)
      profile.anonymous = Bytes(4_000_000 + index)
      return try #require(
        ProfiledBuild([ProfiledRepetition(main: "server", profiles: [profile, ProfileExample.profile()])]))
    }
    var old = try build(1_000_000)
    old.baseline = "20260101T000000Z-1"
    let decoded = try ProfileFile.decode(ProfileFile.encode(old), path: "p.json")
    let (stored, own) = (decoded.processes[1], old.processes[1])
    #expect(stored.rank == 2 && stored.sourced == ["hog"] && decoded.baseline == old.baseline)
    #expect(stored.functions.filter(\.isInlined).map(\.name.name) == ["build_index"])
    let now = try build(6_000_000).processes[1]
    let finding = ProfileComparison(before: stored, now: now).finding
    #expect(finding?.culprit?.change.function.name == "build_index")
    #expect(finding == ProfileComparison(before: own, now: now).finding)
  }

  @Test("What holds less than three pages is left out, also of a small program")
  func noise() throws {
    var calls = CallTree.Builder()
    calls.add(.init(live: 2_000_000), stack: [ProfileExample.function("hog", "load_rows")])
    calls.add(.init(live: 8_192), stack: [ProfileExample.function("ld-linux.so", "relocate")])
    var profile = ProfileExample.profile()
    (profile.calls, profile.anonymous) = (calls.tree, Bytes(2_008_192))
    let build = try #require(ProfiledBuild([ProfiledRepetition(main: "server", profiles: [profile])]))
    let text = String(decoding: ProfileFile.encode(build), as: UTF8.self)
    #expect(text.contains("load_rows") && !text.contains("relocate"), "\(text)")
  }

  @Test("Single processes of a large program are kept before the shell's many small ones")
  func manyProcesses() throws {
    let profiles = (0..<20).map { number in
      var profile = MemoryProfile(
        process: "tool\(number)", method: .stops, peak: .mebibytes(1), anonymous: .kibibytes(300), calls: CallTree())
      profile.processes = 2
      return profile
    }
    let ranked = [nil, 1, 2, 3, 4, 5].map { rank in
      var profile = ProfileExample.profile()
      profile.rank = rank
      return profile
    }
    let build = try #require(ProfiledBuild([ProfiledRepetition(main: "sh", profiles: profiles + ranked)]))
    let kept = try ProfileFile.decode(ProfileFile.encode(build), path: "p.json").processes
    #expect(kept.count == 16 && kept.filter { $0.process == "server" }.map(\.rank) == [nil, 1, 2, 3, 4])
  }

  @Test("Each of five processes keeps as many functions as one alone")
  func room() throws {
    func kept(ofProcesses count: Int) throws -> [Int] {
      var calls = CallTree.Builder()
      for index in 0..<1000 {
        calls.add(.init(live: 20_000 + Int64(index)), stack: [ProfileExample.function("server", "function_\(index)")])
      }
      var profile = ProfileExample.profile()
      (profile.calls, profile.anonymous) = (calls.tree, Bytes(calls.tree.total.live))
      let profiles = (0..<count).map { index in
        profile.process = "worker\(index)"
        return profile
      }
      let build = try #require(ProfiledBuild([ProfiledRepetition(main: "worker0", profiles: profiles)]))
      return try ProfileFile.decode(ProfileFile.encode(build), path: "p.json").processes.map(\.functions.count)
    }
    let alone = try kept(ofProcesses: 1)
    #expect(100..<1000 ~= alone[0])
    #expect(try kept(ofProcesses: 5) == [Int](repeating: alone[0], count: 5))
  }

  @Test("A process's name that is longer than any of the kernel's is shortened, written or read")
  func longProcess() throws {
    let long = String(repeating: "w", count: 100)
    let stored = String(decoding: ProfileFile.encode(try ProfileExample.build()), as: UTF8.self)
    let decoded = try ProfileFile.decode(Array(stored.replacing("worker", with: long).utf8), path: "p.json")
    #expect(decoded.processes.map(\.process) == ["server", String(long.prefix(64))])
    let encoded = ProfileFile.encode(decoded)
    #expect(ProfileFile.encode(try ProfileFile.decode(encoded, path: "p.json")) == encoded)
  }

  @Test("A finding has a form in JSON, so that results can hold it")
  func finding() throws {
    let comparison = try ProfileExample.build(growth: 9_000_000).comparison(with: ProfileExample.build())
    var culprit = try #require(comparison?.finding?.culprit)
    // They are not stored.
    culprit.change.frames = []
    culprit.formerRelease?.frames = []
    for finding: CulpritFinding in [
      .named(culprit: culprit), .spread(largest: [culprit.change]), .noRise,
      .other(part: .collectedHeap(.java), rise: Bytes(7)),
    ] {
      let coded = try JSONEncoder().encode(finding)
      #expect(try JSONDecoder().decode(CulpritFinding.self, from: coded) == finding)
    }
  }

  @Test("A huge program has the room of one process in the file, and keeps what holds most")
  func huge() throws {
    var calls = CallTree.Builder()
    for index in 0..<2000 {
      let long = String(repeating: "x", count: index % 300)
      let stack = (0...(index % 40)).map { ProfileExample.function("m\($0 % 7).so", "f\(index / 4)_\($0)\(long)") }
      calls.add(.init(live: Int64(index) * 1000), stack: stack)
    }
    var profile = ProfileExample.profile()
    profile.calls = calls.tree
    let build = try #require(ProfiledBuild([ProfiledRepetition(main: nil, profiles: [profile])]))
    let bytes = ProfileFile.encode(build)
    #expect((32 << 10)...(64 << 10) ~= bytes.count)
    let kept = try ProfileFile.decode(bytes, path: "p.json").processes[0].functions.map(\.live.median).max()
    #expect(kept == build.processes[0].functions.map(\.live.median).max())
  }

  @Test(
    "A malformed profile is rejected with its location and the reason",
    arguments: [
      ("28600000 10 5 0 0 libstore", "`processes[0].functions[0]` has the name `libstore`, expected MODULE!FUNCTION"),
      ("28600000 10 5 0 a!b", "`processes[0].functions[0]` is `28600000 10 5 0 a!b`, expected 5 numbers and a name"),
      ("99999999999999999999 1 0 0 0 a!b", "`processes[0].functions[0]` is `9999"),
      (
        "9999999999999999 1 0 0 0 a!b",
        "`processes[0].functions[0]` is `9999999999999999 1 0 0 0 a!b`, an amount is too large"
      ),
    ])
  func malformed(line: String, problem: String) throws {
    let text = String(decoding: ProfileFile.encode(try ProfileExample.build()), as: UTF8.self)
    let start = try #require(text.firstRange(of: "\"functions\" : [\n        \"")).upperBound
    let end = try #require(text[start...].firstIndex(of: "\""))
    let broken = text[..<start] + line + text[end...]
    let error = #expect(throws: FileError.self) { try ProfileFile.decode(Array(broken.utf8), path: "p.json") }
    #expect(error?.problem.hasPrefix(problem) == true, "\(error?.problem ?? "")")
  }

  @Test("A member without which a profile would hold less is required", arguments: ["functions", "calls", "count"])
  func missing(member: String) throws {
    let text = String(decoding: ProfileFile.encode(try ProfileExample.build()), as: UTF8.self)
      .replacing("\"\(member)\" :", with: "\"other\" :")
    let error = #expect(throws: FileError.self) { try ProfileFile.decode(Array(text.utf8), path: "p.json") }
    #expect(error?.problem == "`processes[0].\(member)` is missing")
  }

  @Test("A profile with flipped bits is rejected or decoded and compared, and never traps")
  func flipped() throws {
    let now = try ProfileExample.build()
    let whole = ProfileFile.encode(now)
    var random = SmallRandom(seed: 11)
    for _ in 0..<400 {
      var bytes = whole
      bytes[Int.random(in: 0..<bytes.count, using: &random)] ^= 1 << UInt8.random(in: 0...7, using: &random)
      if let decoded = try? ProfileFile.decode(bytes, path: "p.json") {
        _ = now.comparison(with: decoded)?.finding
      }
    }
  }
}

@Suite("Profiles for other programs")
struct ProfileExportTests {
  private func lines(_ profile: MemoryProfile) -> [String] {
    String(decoding: FoldedStacks.encode(profile), as: UTF8.self).split(separator: "\n").map(String.init)
  }

  @Test("Folded stacks add up to the anonymous memory, and no name breaks a line or a frame")
  func folded() {
    let profile = ProfileExample.profile()
    let lines = lines(profile)
    #expect(
      lines == [
        "heap overhead 500000",
        "live;main;[libgone.so] 70000",
        "live;main;a b?::error::?[31m 90000",
        "live;main;handle_request(char const*);cache:put 3400000",
        "live;main;handle_request(char const*);remember.isra.0;malloc 28600000",
        "touched;main;handle_request(char const*);cache:put 8192",
        "touched;main;load (app.py:12) 1048576",
        "unattributed;no-page-fault 4096",
      ])
    let sum = lines.reduce(0) { $0 + (Int64($1.split(separator: " ").last ?? "") ?? 0) }
    #expect(sum == profile.anonymous.count)
  }

  @Test("pprof's own reader finds the stacks, both values, and names with file and line")
  func pprof() throws {
    var profile = ProfileExample.profile()
    profile.program = "libstore-1.2.so.3"
    let raw = try OutsideReader.pprof(PprofFile.encode(profile))
    #expect(raw.contains("live/bytes[dflt] touched/bytes"))
    #expect(raw.contains("Mappings\n1: 0x0/0x0/0x0 \(profile.program)"), "readers take the first for the program")
    #expect(raw.contains("PeriodType: space bytes\nPeriod: 65536"))
    let samples = raw.split(separator: "\n").filter { $0.contains(":") && $0.hasPrefix("   ") }
    #expect(
      samples.map { $0.split(separator: ":")[0].split(separator: " ").joined(separator: " ") }.contains("28600000 0"))
    #expect(raw.contains("load /srv/app.py:12"))
    #expect(raw.contains("[libgone.so]"))
    #expect(raw.contains("libstore-1.2.so.3 [FN][FL][LN]") || raw.contains("libstore-1.2.so.3"))
    var calls = CallTree.Builder()
    calls.add(.init(live: 1, touched: 4096), stack: [ProfileExample.function("server", "main")])
    profile.calls = calls.tree
    #expect(try OutsideReader.pprof(PprofFile.encode(profile)).contains("live/bytes touched/bytes[dflt]"))
    let top = try OutsideReader.pprof(PprofFile.encode(ProfileExample.profile()), "-top", "-cum")
    #expect(top.contains("handle_request(char const*)"), "\(top)")
  }
}
