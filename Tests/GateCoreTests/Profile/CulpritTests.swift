import Statistics
import Testing

@testable import GateCore

/// A server with a cache, a table that is loaded once, and temporary fields (`../shared/WHY.md`, section 2).
private let server: Stacks = [
  "server!main;server!serve;server!handle_request;server!cache_put;libc.so.6!malloc": .init(live: 3_400_000),
  "server!main;server!serve;server!handle_request;server!remember;libc.so.6!malloc": .init(live: 200_000),
  "server!main;server!serve;server!handle_request;server!parse_field;libc.so.6!malloc": .init(live: 90_000),
  "server!main;server!load_table;libc.so.6!memset": .init(touched: 4_194_304),
]

private let request = "server!main;server!serve;server!handle_request"

private func stacks(_ base: Stacks, adding stack: String, _ weight: CallTree.Weight) -> Stacks {
  base.merging([stack: weight]) { $0 + $1 }
}

@Suite("The function that explains a rise")
struct CulpritTests {
  @Test("An import that another module does first now does not count as its rise")
  func movedImport() {
    let program = "work.py:<module>;pkg.py:<module>"
    let before: Stacks = [
      "\(program);a.py:<module>;typing.py:<module>;typing.py:make": .init(live: 5_000_000),
      "\(program);b.py:<module>": .init(live: 400_000),
    ]
    let now: Stacks = [
      "\(program);calendars.py:<module>;typing.py:<module>;typing.py:make": .init(live: 5_000_000),
      "\(program);a.py:<module>": .init(live: 10_000), "\(program);b.py:<module>": .init(live: 400_000),
      "\(program);b.py:<module>;dates.py:<module>": .init(live: 3_000_000),
    ]
    let comparison = ProfileComparison(before: before, now: now)
    #expect(comparison.finding?.culprit?.change.function.description == "dates.py:<module>")
    let importer = comparison.changes(.holds).first { $0.function.description == "calendars.py:<module>" }
    #expect(importer?.change == .zero)
    let rises = comparison.calls.filter { $0.parent == nil }.map { $0.now.live - $0.before.live }
    #expect(rises == [3_010_000])
  }

  @Test("Live blocks that rose by at least half as much as the holes between them are named")
  func liveOrHoles() {
    func build(_ live: Int64, holes: Int64) -> [MemoryProfile] {
      let stacks = stacks(server, adding: "\(request);server!remember", .init(live: live))
      return [MemoryProfile](repeating: MemoryProfile(stacks, heapOverhead: holes), count: 3)
    }
    let named = ProfileComparison(before: build(0, holes: 0), now: build(3 << 20, holes: 5 << 20)).finding
    #expect(named?.culprit?.change.function.description == "server!remember")
    let holes = ProfileComparison(before: build(0, holes: 0), now: build(2 << 20, holes: 5 << 20)).finding
    #expect(holes == .other(part: .heapOverhead, rise: .mebibytes(5)))
  }

  @Test("Without another build, the innermost functions that hold a part of the rise are listed, the largest first")
  func oneBuild() throws {
    let leaking = stacks(server, adding: "\(request);server!remember", .init(live: 30_000_000))
    let now = try #require(ProfileSummary([MemoryProfile](repeating: .init(leaking), count: 3)))
    var comparison = ProfileComparison(now: now)
    func names() -> [String] { comparison.holding?.functions.map(\.function.description) ?? [] }
    #expect(
      comparison.finding == nil && names().prefix(3) == ["server!remember", "server!load_table", "server!cache_put"])
    let first = try #require(comparison.holding?.functions.first)
    #expect(first.now == Bytes(30_200_000) && first.before == nil && !first.frames.isEmpty)
    comparison.measured = .mebibytes(100)
    #expect(names() == ["server!remember"])
    comparison.measured = .mebibytes(1000)
    #expect(comparison.holding == nil)
    let both = ProfileComparison(before: now, now: now)
    #expect(both.holding == nil)
  }

  struct Variant: CustomTestStringConvertible {
    let testDescription: String
    let stack: String
    let weight: CallTree.Weight
    let culprit: String
    let evidence: MemoryEvidenceKind
  }

  @Test(
    "Each variant of the server is explained by its function, with sampled blocks",
    arguments: [
      Variant(
        testDescription: "leak of 32 B", stack: "\(request);server!remember", weight: .init(live: 1_920_000),
        culprit: "server!remember", evidence: .holds),
      Variant(
        testDescription: "leak of 100 B", stack: "\(request);server!remember", weight: .init(live: 6_000_000),
        culprit: "server!remember", evidence: .holds),
      Variant(
        testDescription: "leak of 500 B", stack: "\(request);server!remember", weight: .init(live: 30_000_000),
        culprit: "server!remember", evidence: .holds),
      Variant(
        testDescription: "twice the cache", stack: "\(request);server!cache_put", weight: .init(live: 3_400_000),
        culprit: "server!cache_put", evidence: .holds),
      Variant(
        testDescription: "block of 1 MiB", stack: "server!main;server!load_table", weight: .init(touched: 1_048_576),
        culprit: "server!load_table", evidence: .firstTouched),
      Variant(
        testDescription: "spike of 30 MiB", stack: "\(request);server!small_spike", weight: .init(live: 31_457_280),
        culprit: "server!small_spike", evidence: .holds),
    ])
  func variants(_ variant: Variant) {
    for seed in 1...20 {
      var instrument = NoisyInstrument(interval: .kibibytes(4), seed: UInt64(seed))
      let comparison = ProfileComparison(
        before: instrument.repetitions(3, of: server),
        now: instrument.repetitions(3, of: stacks(server, adding: variant.stack, variant.weight)))
      let change = comparison.finding?.culprit?.change
      #expect(change?.function.description == variant.culprit)
      #expect(change?.evidence == variant.evidence)
    }
  }

  @Test("The line has the growth, the callers that carry it, and its share of the rise")
  func culpritLine() throws {
    let comparison = ProfileComparison(
      before: server, now: stacks(server, adding: "\(request);server!remember", .init(live: 30_000_000)))
    let culprit = try #require(comparison.finding?.culprit)
    #expect(culprit.change.change == Bytes(30_000_000))
    #expect(culprit.change.before == Bytes(200_000))
    #expect(culprit.change.callers.map(\.name) == ["handle_request", "serve", "main"])
    #expect(culprit.share == 1)
  }

  @Test("Nothing is named for 1,000 random programs that did not change")
  func equalBuilds() {
    var numbers = SeededNumbers(seed: 18)
    for trial in 0..<1000 {
      let program = randomProgram(&numbers)
      var instrument = NoisyInstrument(interval: .kibibytes(16), seed: UInt64(trial))
      let comparison = ProfileComparison(
        before: instrument.repetitions(3, of: program), now: instrument.repetitions(3, of: program))
      #expect(comparison.finding?.culprit == nil)
    }
  }

  private func randomProgram(_ numbers: inout SeededNumbers) -> Stacks {
    var program: Stacks = [:]
    for _ in 0..<(2 + numbers.next(below: 12)) {
      let depth = 1 + numbers.next(below: 5)
      let stack = (0..<depth).map { level in "server!f\(level)_\(numbers.next(below: 3))" }
      let bytes = Int64(1 << (12 + numbers.next(below: 13)))
      let weight: CallTree.Weight = numbers.next(below: 3) == 0 ? .init(touched: bytes) : .init(live: bytes)
      program[(["server!main"] + stack).joined(separator: ";"), default: .zero] += weight
    }
    return program
  }

  @Test("A recursive function counts once per stack, and is not its own caller")
  func recursion() throws {
    let deep = "server!main;server!walk;server!walk;server!visit;server!walk;server!walk"
    let comparison = ProfileComparison(
      before: [deep: .init(live: 1_000_000)],
      now: [deep: .init(live: 9_000_000), "\(deep);server!walk": .init(live: 9)])
    let change = try #require(comparison.finding?.culprit?.change)
    #expect(change.function.name == "visit")
    #expect(change.now == Bytes(9_000_009))
    #expect(change.callers.map(\.name) == ["walk", "main"])
    let walk = try #require(comparison.changes(.holds).first { $0.function.name == "walk" })
    #expect(walk.now == Bytes(9_000_009))
  }

  @Test("A function with two callers is named, and only the caller that these have in common")
  func twoCallers() throws {
    let comparison = ProfileComparison(
      before: [:],
      now: [
        "a!main;a!read;a!keep": .init(live: 5_000_000), "a!main;a!write;a!keep": .init(live: 5_000_000),
      ])
    let change = try #require(comparison.finding?.culprit?.change)
    #expect(change.function.name == "keep")
    #expect(change.callers.map(\.name) == ["main"])
  }

  @Test("The function that others call is named if some of its memory comes past the one that holds least")
  func callee() throws {
    func program(_ live: Int64) -> Stacks {
      [
        "a!main;a!cycle;a!posted;a!handle;a!open;a!?": .init(live: live),
        "a!main;a!cycle;a!handle;a!open;a!?": .init(live: live / 70),
        "a!main;a!load": .init(live: 2_000_000),
      ]
    }
    var instrument = NoisyInstrument(interval: .kibibytes(2), seed: 1)
    let comparison = ProfileComparison(
      before: instrument.repetitions(3, of: program(2_000_000)),
      now: instrument.repetitions(3, of: program(20_000_000)))
    #expect(comparison.finding?.culprit?.change.function.name == "open")
  }

  @Test("Other versions of libraries and compilers do not matter")
  func renamed() {
    let before = "a!main;libstore-1.2.so.3!store.constprop.0;libc-2.31.so!malloc"
    let now = "a!main;libstore-1.3.so.4 (deleted)!store.isra.0.cold;libc.so.6!__libc_malloc@@GLIBC_2.2.5"
    let held = CallTree.Weight(live: 9_000_000)
    let comparison = ProfileComparison(before: [before: held], now: [now: held])
    #expect(comparison.finding == .noRise)
    #expect(comparison.calls.map(\.function.description) == ["a!main", "libstore.so!store"])
  }

  @Test("A script's functions are named instead of its interpreter's, and its first line only for its own memory")
  func scripts() throws {
    let interpreter = "python3.11!main;app.py:<module>;python3.11!_PyEval_EvalFrameDefault;app.py:handle;lib.so!grow"
    let comparison = ProfileComparison(before: [:], now: [interpreter: .init(touched: 9_000_000)])
    let change = try #require(comparison.finding?.culprit?.change)
    #expect(change.function == FunctionName(module: "app.py", name: "handle", isScript: true))
    #expect(change.line == 12)
    #expect(change.callers.map(\.description) == ["app.py:<module>"])
  }

  @Test("A library that a script calls holds its blocks, and the objects that the interpreter makes for it")
  func extensions() throws {
    let script = "python3.11!main;app.py:<module>;app.py:handle;_cache.so!store"
    let own = try #require(
      ProfileComparison(before: [:], now: ["\(script);_cache.so!grow;libc.so.6!malloc": .init(live: 9_000_000)])
        .finding?.culprit?.change)
    #expect(own.function.description == "_cache.so!grow" && own.scripts.first?.line == 12)
    #expect(own.callers.map(\.description) == ["_cache.so!store", "app.py:handle", "app.py:<module>"])
    let object = ProfileComparison(
      before: [:], now: ["\(script);python3.11!PyList_New;libc.so.6!malloc": .init(live: 9_000_000)])
    #expect(object.finding?.culprit?.change.function.description == "_cache.so!store")
    let deep = "\(script);_cache.so!a;_cache.so!b;_cache.so!c;_cache.so!d;python3.11!PyList_New"
    let far = try #require(
      ProfileComparison(before: [:], now: [deep: .init(live: 9_000_000)]).finding?.culprit?.change)
    #expect(far.function.name == "d" && far.scripts.first?.line == 12)
    #expect(far.callers.map(\.name) == ["c", "b", "a", "handle"])
  }

  @Test("The line is that through which memory rose, though the function holds more at another one")
  func lineOfRise() throws {
    func profile(text: Int64) -> MemoryProfile {
      func function(_ name: String, _ line: Int) -> CallTree.Function {
        CallTree.Function(module: "server", name: name, file: "/src/log.cc", line: line)
      }
      var calls = CallTree.Builder()
      calls.add(.init(live: 20_000_000), stack: [function("main", 3), function("load", 60), function("sink", 5)])
      let read = [function("main", 3), function("load", 54), function("read", 9)]
      if text > 0 { calls.add(.init(live: text), stack: read) }
      var profile = MemoryProfile([:])
      profile.calls = calls.tree
      profile.anonymous = Bytes(20_000_000 + text) + profile.anonymous
      return profile
    }
    let builds = [0, 6_000_000].map { text in (0..<3).map { _ in profile(text: text) } }
    let change = ProfileComparison(before: builds[0], now: builds[1]).addingCallers(
      FunctionChange(
        function: FunctionName(module: "server", name: "load"), line: 60, file: "/src/log.cc", evidence: .holds,
        before: Bytes(20_000_000), now: Bytes(26_000_000), callers: []))
    #expect(change.line == 54 && change.frames.map(\.line) == [54, 3])
  }

  @Test("A function of the library that stands for a lambda has no place, so that the lambda's own is shown")
  func placeOfLambda() {
    let caller = CallTree.Function(
      module: "server", name: "std::_Function_handler<void (int), serve(int)::{lambda(int)#1}>::_M_invoke(int&&)",
      file: "/usr/include/c++/12/bits/std_function.h", line: 290)
    #expect(FunctionName.source(of: caller).line == nil && FunctionName(caller).shortName == "serve")
    let lambda = CallTree.Function(
      module: "server", name: "serve(int)::{lambda(int)#1}::operator()(int) const", file: "/src/a.cc", line: 7)
    #expect(FunctionName.source(of: lambda).line == 7)
  }

  @Test(
    "The short name of a lambda is that of the function around it",
    arguments: [
      ("serve::{lambda(Record&&)#1}", "serve"), ("serve(int)::{lambda()#1}", "serve"),
      ("std::vector<f()::{lambda()#1}>::reserve(unsigned long)", "std::vector<f()::{lambda()#1}>::reserve"),
      ("server::remember::{closure#0}", "server::remember::{closure#0}"),
    ])
  func shortNames(name: String, short: String) {
    #expect(FunctionName(module: "server", name: name).shortName == short)
  }

  @Test("Inlined functions are named, but count for their callers if only one build has debug information")
  func inlined() throws {
    func profile(_ live: Int64, hasSources: Bool) -> MemoryProfile {
      let file = hasSources ? "/src/server.c" : nil
      let functions = ["main", "handle"].map { CallTree.Function(module: "server", name: $0, file: file, line: 7) }
      let inlined = CallTree.Function(module: "server", name: "remember", file: file, line: 9, isInlined: true)
      var calls = CallTree.Builder()
      calls.add(.init(live: live), stack: functions + (hasSources ? [inlined] : []))
      var profile = MemoryProfile([:])
      profile.calls = calls.tree
      profile.anonymous = Bytes(live) + profile.anonymous
      return profile
    }
    func culprit(beforeHasSources: Bool) throws -> FunctionChange {
      let before = (0..<3).map { _ in profile(8_000_000, hasSources: beforeHasSources) }
      let now = (0..<3).map { _ in profile(9_000_000, hasSources: true) }
      return try #require(ProfileComparison(before: before, now: now).finding?.culprit?.change)
    }
    let named = try culprit(beforeHasSources: true)
    #expect(named.function.name == "remember" && named.line == 9 && named.change == Bytes(1_000_000))
    #expect(named.file == "/src/server.c" && named.callers.map(\.name) == ["handle", "main"])
    let caller = try culprit(beforeHasSources: false)
    #expect(caller.function.name == "handle" && caller.change == Bytes(1_000_000))
  }

  @Test("Where a program starts holds what only inlined functions held, if another build does not name these")
  func inlinedIntoMain() throws {
    func profile(_ index: Int64, hasSources: Bool) -> MemoryProfile {
      let main = CallTree.Function(module: "hog", name: "main", file: hasSources ? "/src/hog.c" : nil, line: 11)
      let inlined = ["load_rows", "build_index"].map {
        CallTree.Function(module: "hog", name: $0, file: "/src/hog.c", line: 5, isInlined: true)
      }
      var calls = CallTree.Builder()
      calls.add(.init(live: 4_000_000), stack: [main] + (hasSources ? [inlined[0]] : []))
      calls.add(.init(live: index), stack: [main] + (hasSources ? [inlined[1]] : []))
      var profile = MemoryProfile([:])
      profile.calls = calls.tree
      profile.anonymous = Bytes(4_000_000 + index) + profile.anonymous
      return profile
    }
    func culprit(sources: (before: Bool, now: Bool)) throws -> FunctionChange {
      let before = (0..<3).map { _ in profile(1_000_000, hasSources: sources.before) }
      let now = (0..<3).map { _ in profile(6_000_000, hasSources: sources.now) }
      return try #require(ProfileComparison(before: before, now: now).finding?.culprit?.change)
    }
    #expect(try culprit(sources: (true, true)).function.name == "build_index")
    for sources in [(true, false), (false, true), (false, false)] {
      let change = try culprit(sources: sources)
      #expect(change.function.name == "main" && change.change == Bytes(5_000_000) && change.now == Bytes(10_000_000))
    }
  }

  @Test("The share is of the metric's rise, and is never more than the whole")
  func share() throws {
    func culprit(measured: Bytes?) throws -> Culprit {
      var comparison = ProfileComparison(
        before: server, now: stacks(server, adding: "\(request);server!remember", .init(live: 6_000_000)))
      comparison.measured = measured
      return try #require(comparison.finding?.culprit)
    }
    #expect(try culprit(measured: nil).share == 1)
    #expect(try culprit(measured: Bytes(8_000_000)).share == 0.75)
    #expect(try culprit(measured: Bytes(5_000_000)).share == 1)
  }

  @Test("A function that holds most of a judged rise is named, though others hold memory in some repetitions only")
  func judgedRise() throws {
    // The peak comes in one of two functions, by chance.
    func builds(_ held: Int64) -> [MemoryProfile] {
      ["monthly", "by_region", "monthly"].map { name in
        var all = stacks(server, adding: "\(request);server!\(name)", .init(live: 2_000_000))
        if held > 0 { all["\(request);server!remember"] = .init(live: held) }
        return MemoryProfile(all)
      }
    }
    var comparison = ProfileComparison(before: builds(0), now: builds(3_000_000))
    #expect(comparison.finding?.culprit == nil)
    comparison.measured = Bytes(3_000_000)
    #expect(comparison.finding?.culprit?.change.function.name == "remember")
    comparison.measured = Bytes(6_000_000)
    #expect(comparison.finding?.culprit == nil)
  }

  @Test(
    "Where blocks rose by more than the metric, what holds most of the metric's rise is named, not all that calls it")
  func excess() {
    let worker = "a!main;a!worker"
    let before: Stacks = ["\(worker);a!load": .init(live: 4_000_000)]
    let now: Stacks = ["\(worker);a!load": .init(live: 4_500_000), "\(worker);a!serve": .init(live: 800_000)]
    var comparison = ProfileComparison(before: before, now: now)
    #expect(comparison.finding?.culprit?.change.function.name == "worker")
    comparison.measured = Bytes(850_000)
    #expect(comparison.finding?.culprit?.change.function.name == "serve")
  }

  @Test("A rise of the metric that the profiled repetitions do not show is not denied")
  func notReproduced() {
    var comparison = ProfileComparison(before: server, now: server)
    #expect(comparison.finding == .noRise)
    comparison.measured = .mebibytes(1)
    #expect(comparison.finding == .notReproduced)
  }

  @Test("Of one repetition each, a function is named if sampling and usual differences cannot explain its rise")
  func singleRepetitions() {
    func finding(_ before: Stacks, _ now: Stacks) -> CulpritFinding? {
      var instrument = NoisyInstrument(interval: .kibibytes(4), seed: 3)
      return ProfileComparison(
        before: instrument.repetitions(1, of: before), now: instrument.repetitions(1, of: now)
      ).finding
    }
    let leaking = stacks(server, adding: "\(request);server!remember", .init(live: 3_000_000))
    #expect(finding(server, leaking)?.culprit?.change.function.name == "remember")
    // 5 % more of a cache may be its usual difference.
    let larger = stacks(server, adding: "\(request);server!cache_put", .init(live: 170_000))
    #expect(finding(server, larger)?.culprit == nil)
    for seed in 1...200 {
      var instrument = NoisyInstrument(interval: .kibibytes(16), seed: UInt64(seed))
      let comparison = ProfileComparison(
        before: instrument.repetitions(1, of: server), now: instrument.repetitions(1, of: server))
      #expect(comparison.finding?.culprit == nil)
    }
  }

  @Test("Pages that forked workers copy by writing to them are told from pages that a function touched first")
  func copies() throws {
    let worker = "app.py:<module>;app.py:work"
    let comparison = ProfileComparison(
      before: ["app.py:<module>": .init(live: 40_000_000)],
      now: ["app.py:<module>": .init(live: 40_000_000), "\(worker);:[copy-after-fork]": .init(touched: 110_000_000)])
    let change = try #require(comparison.finding?.culprit?.change)
    #expect(change.function.description == "app.py:work" && change.evidence == .copied)
    let touched = ProfileComparison(
      before: [:], now: [worker: .init(touched: 9_000_000), "\(worker);:[copy-after-fork]": .init(touched: 1_000_000)])
    #expect(touched.finding?.culprit?.change.evidence == .firstTouched)
  }

  @Test("An imported module holds what importing it takes, and the one that is run only what nobody else does")
  func importedModule() {
    let package = "work.py:<module>;pkg.py:<module>"
    let before: Stacks = ["\(package);a.py:<module>;a.py:f": .init(live: 5_000_000)]
    let now = stacks(
      stacks(before, adding: "\(package);b.py:<module>;b.py:f", .init(live: 4_000_000)),
      adding: "\(package);b.py:<module>;b.py:g", .init(live: 4_000_000))
    let finding = ProfileComparison(
      before: repetitions(of: before, allocated: 5), now: repetitions(of: now, allocated: 13)
    ).finding
    #expect(finding?.culprit?.change.function.description == "b.py:<module>")
  }

  @Test("What a stored profile leaves out is taken to have held as much as it may have")
  func leftOut() throws {
    let before: Stacks = ["a!main;a!keep": .init(live: 30_000_000)]
    let now = stacks(before, adding: "a!main;a!small", .init(live: 400_000))
    func rise(leastStored: Int64) throws -> Bytes {
      var old = try #require(ProfileSummary(repetitions(of: before, allocated: 30)))
      old.leastStored = leastStored
      let new = try #require(ProfileSummary(repetitions(of: now, allocated: 30)))
      let changes = ProfileComparison(before: old, now: new).changes(.holds)
      return try #require(changes.first { $0.function.name == "small" }).change
    }
    #expect(try rise(leastStored: 0) == Bytes(400_000))
    #expect(try rise(leastStored: 300_000) == Bytes(100_000))
    #expect(try rise(leastStored: 500_000) == .zero)
  }

  @Test("A block that was sampled for certain is named, however few samples there were")
  func certain() throws {
    func culprit(sampled: Int64?) -> Culprit? {
      let before: Stacks = ["a!main;a!keep": .init(live: 4_000_000)]
      let table = CallTree.Weight(live: 1_048_576, sampled: sampled)
      return ProfileComparison(
        before: repetitions(of: before, allocated: 4, interval: .kibibytes(128)),
        now: repetitions(
          of: stacks(before, adding: "a!main;a!load_table", table), allocated: 5, interval: .kibibytes(128))
      ).finding?.culprit
    }
    #expect(culprit(sampled: 0)?.change.function.name == "load_table")
    #expect(culprit(sampled: nil) == nil, "eight samples of small blocks")
  }

  /// Repetitions of a program that has allocated so much in all.
  private func repetitions(of stacks: Stacks, allocated: Int64, interval: Bytes = .kibibytes(4)) -> [MemoryProfile] {
    (0..<3).map { _ in
      var profile = MemoryProfile(stacks, interval: interval)
      profile.allocated = .mebibytes(allocated)
      return profile
    }
  }

  @Test("Two things that are now held at the same time are both named if no more was allocated than before")
  func overlap() throws {
    let (parse, index) = ("a!main;a!load;a!parse", "a!main;a!load;a!index")
    let old: Stacks = ["a!main;a!keep": .init(live: 1 << 20), parse: .init(live: 50 << 20)]
    let new = stacks(old, adding: index, .init(live: 40 << 20))
    func culprit(allocated: (Int64, Int64), interval: Bytes = .kibibytes(4)) throws -> Culprit {
      let comparison = ProfileComparison(
        before: repetitions(of: old, allocated: allocated.0, interval: interval),
        now: repetitions(of: new, allocated: allocated.1, interval: interval))
      return try #require(comparison.finding?.culprit)
    }
    let held = try culprit(allocated: (91, 91))
    #expect(held.change.function.name == "index" && held.heldWith?.function.name == "parse")
    #expect(held.heldWith?.now == .mebibytes(50) && held.isReleasedLater)
    var kept = ProfileComparison(before: repetitions(of: old, allocated: 91), now: repetitions(of: new, allocated: 91))
    kept.end = ProfileSummary(repetitions(of: old, allocated: 91))
    let beside = try #require(kept.finding?.culprit)
    #expect(beside.isReleasedLater && beside.heldWith == nil, "it is held to the end anyway")
    let others = try [
      culprit(allocated: (91, 131)), culprit(allocated: (91, 91), interval: .mebibytes(2)), culprit(allocated: (0, 0)),
    ]
    #expect(others.allSatisfy { $0.heldWith == nil && !$0.isReleasedLater }, "more was allocated, or who knows")
  }

  /// What a build releases of the memory of `a!build`, of which it makes 40 MiB: who releases it, innermost first, in MiB.
  private static func releases(_ ways: [String: Int64]) throws -> Releases {
    var calls = CallTree.Builder()
    for (way, amount) in ways.sorted(by: { $0.key < $1.key }) {
      let names = ["a!main", "a!build"] + way.split(separator: ";").map(String.init)
      let stack = names.map(CallTree.Function.init(parsing:))
      calls.add(.init(live: amount << 20), stack: stack[..<2] + [.release] + stack[2...])
    }
    var profile = MemoryProfile([:])
    (profile.calls, profile.moment) = (calls.tree, .releases)
    return Releases(try #require(ProfileSummary([profile, profile])))
  }

  @Test("Who released the memory in the other build is named, and who does it now")
  func formerRelease() throws {
    func culprit(_ before: [String: Int64], _ now: [String: Int64]) throws -> Culprit {
      var comparison = ProfileComparison(
        before: repetitions(of: ["a!main;a!build": .init(live: 4 << 20)], allocated: 500),
        now: repetitions(of: ["a!main;a!build": .init(live: 24 << 20)], allocated: 540))
      (comparison.releasesBefore, comparison.releases) = (try Self.releases(before), try Self.releases(now))
      return try #require(comparison.finding?.culprit)
    }
    let leak = try culprit(["a!pool_free;a!drop;a!close": 40], ["": 20, "a!pool_free;a!drop;a!close": 20])
    #expect(leak.formerRelease?.function.name == "drop" && leak.formerRelease?.callers.first?.name == "close")
    #expect(leak.formerRelease?.change == .mebibytes(-20) && leak.laterRelease == nil && leak.isReleasedLater)
    let moved = try culprit(["a!drop;a!serve": 40], ["a!drop;a!replace;a!keep": 38])
    #expect(moved.formerRelease?.function.name == "serve", "drop() releases it in both builds")
    #expect(moved.laterRelease?.function.name == "replace" && moved.isReleasedLater)
    let more = try culprit(["a!drop;a!serve": 40], ["a!drop;a!serve": 40, "": 20])
    #expect(more.formerRelease == nil && more.laterRelease == nil && !more.isReleasedLater, "more is made")
    let cycles = try culprit(["a!drop;a!serve": 40], ["a!drop;python3!gc_collect_main;a!read": 40])
    #expect(cycles.laterRelease?.function == .garbageCollector, "whatever function it runs in")
    let few = try culprit(["a!drop;a!serve": 40], ["a!drop;a!serve": 35, "": 5])
    #expect(few.formerRelease == nil, "a small part of the rise")
  }

  @Test("A function that holds more than the whole rise is named with what other memory fell by")
  func othersFell() throws {
    func culprit(kept: Int64) throws -> Culprit {
      let stacks = ["a!main;a!keep": CallTree.Weight(live: kept << 20), "a!main;a!grow": .init(live: 60 << 20)]
      let comparison = ProfileComparison(
        before: repetitions(of: ["a!main;a!keep": .init(live: 40 << 20)], allocated: 500),
        now: repetitions(of: stacks, allocated: 540))
      return try #require(comparison.finding?.culprit)
    }
    let more = try culprit(kept: 10)
    #expect(more.change.function.name == "grow" && more.share == 1 && more.othersFell == .mebibytes(30))
    #expect(try culprit(kept: 39).othersFell == nil, "no more than sampling is off by")
  }

  @Test("What allocates more is named rather than what the peak, now at a later time, shows besides")
  func laterPeak() throws {
    func culprit(plan: Int64, post: Int64) throws -> Culprit {
      var comparison = ProfileComparison(
        before: repetitions(
          of: ["a!main;a!build": .init(live: 4 << 20), "a!main;a!post": .init(live: 30 << 20)], allocated: 500),
        now: repetitions(
          of: [
            "a!main;a!build": .init(live: 34 << 20), "a!main;a!plan": .init(live: plan << 20),
            "a!main;a!post": .init(live: post << 20),
          ], allocated: 540))
      (comparison.releasesBefore, comparison.releases) = (
        try Self.releases(["a!drop": 40]), try Self.releases(["a!drop": 40])
      )
      return try #require(comparison.finding?.culprit)
    }
    #expect(try culprit(plan: 38, post: 0).change.function.name == "plan")
    #expect(try culprit(plan: 2, post: 30).change.function.name == "build")
  }

  @Test("What is released later than before is that also beside nothing else that is large")
  func releasedLater() throws {
    let build = "a!main;a!build"
    let comparison = ProfileComparison(
      before: repetitions(of: [build: .init(live: 4 << 20)], allocated: 240),
      now: repetitions(of: [build: .init(live: 100 << 20)], allocated: 241))
    let culprit = try #require(comparison.finding?.culprit)
    #expect(culprit.isReleasedLater && culprit.heldWith == nil)
  }

  @Test("Memory that is not anonymous is named by its kind where it is most of the rise")
  func mapped() {
    func profiles(files: Int64, live: Int64) -> [MemoryProfile] {
      (0..<3).map { _ in
        var profile = MemoryProfile(["a!main;a!keep": .init(live: live)])
        profile.files = .mebibytes(files)
        return profile
      }
    }
    let before = profiles(files: 2, live: 9_000_000)
    let mapped = ProfileComparison(before: before, now: profiles(files: 34, live: 9_000_000))
    #expect(mapped.finding == .mapped(rise: MappedRise(.files, rise: .mebibytes(32))))
    let held = ProfileComparison(before: before, now: profiles(files: 4, live: 19_000_000))
    #expect(held.finding?.culprit?.change.function.name == "keep")
  }

  @Test(
    "Pages of a garbage collector's heap have no holder",
    arguments: [
      ("node!main;libv8.so!v8::internal::Heap::Scavenge", CollectedRuntime.node),
      ("node!main;node!v8::Call;app.js:load", .node),
      ("java!main;libjvm.so!JavaCalls::call_helper;Server.java:handle;libc.so.6!memset", .java),
      ("server!runtime.main;server!main.main;server!main.load", .go),
    ])
  func collectedHeaps(stack: String, runtime: CollectedRuntime) {
    let comparison = ProfileComparison(before: [:], now: [stack: .init(touched: 9_000_000)])
    #expect(comparison.finding == .unsampledHeap(of: runtime, rise: Bytes(9_000_000), reason: .notLoaded))
  }

  /// What a service of Node.js holds in V8's heap: pages, and objects that are sampled.
  private func heap(pages: Int64, objects: Stacks) -> MemoryProfile {
    let touched: Stacks = ["node!main;node!v8::Heap": .init(touched: pages)]
    var profile = MemoryProfile(stacks(touched, adding: "server.js:listen;Builtin:push", .zero).merging(objects) { $1 })
    let bytes = objects.values.reduce(0) { $0 + $1.live }
    profile.heap = .sampled(Bytes(bytes))
    profile.anonymous = profile.anonymous - Bytes(bytes)
    return profile
  }

  @Test("A rise of a collected heap is its objects', whose stacks name the function, if they rose by a part of it")
  func sampledHeap() throws {
    let (keep, parse) = ("server.js:handle;store.js:keep", "server.js:handle;server.js:parse")
    let before = heap(pages: 20_000_000, objects: [keep: .init(live: 1_000_000), parse: .init(live: 3_000_000)])
    let leaking = heap(pages: 50_000_000, objects: [keep: .init(live: 9_000_000), parse: .init(live: 3_000_000)])
    #expect(before.sum == before.anonymous)
    let comparison = ProfileComparison(before: [before, before], now: [leaking, leaking])
    let culprit = try #require(comparison.finding?.culprit)
    #expect(culprit.change.function.description == "store.js:keep" && culprit.change.change == Bytes(8_000_000))
    #expect(comparison.now.parts[.collectedHeap(.node)]?.median == 38_000_000)
    let garbage = heap(pages: 50_000_000, objects: [keep: .init(live: 1_500_000), parse: .init(live: 3_000_000)])
    #expect(
      ProfileComparison(before: [before], now: [garbage]).finding
        == .other(part: .collectedHeap(.node), rise: Bytes(29_500_000)))
  }

  @Test("Builds of which only one has the objects of its heap are not compared")
  func halfSampledHeap() {
    let sampled = heap(pages: 50_000_000, objects: ["server.js:handle": .init(live: 9_000_000)])
    var plain = heap(pages: 20_000_000, objects: [:])
    plain.heap = .missing(.notLoaded)
    for (before, now, reason) in [(plain, sampled, HeapObstacle.oneBuild), (sampled, plain, .notLoaded)] {
      var now = now
      now.calls = CallTree(["node!main;node!v8::Heap": .init(touched: 90_000_000)])
      now.anonymous = .mebibytes(99)
      let finding = ProfileComparison(before: [before], now: [now]).finding
      guard case .unsampledHeap(of: .node, rise: _, reason: reason)? = finding else {
        Issue.record("\(String(describing: finding))")
        continue
      }
    }
  }

  @Test("Code that a runtime generated without names is told, and is not noise")
  func unnamedCode() throws {
    let before: Stacks = ["java!main;libjli.so!JavaMain;libjvm.so!JavaCalls::call": .init(live: 5_000_000)]
    let stack = "!?;libjvm.so!Unsafe_AllocateMemory0;libc.so.6!malloc"
    let comparison = ProfileComparison(before: before, now: stacks(before, adding: stack, .init(live: 9_000_000)))
    #expect(comparison.finding == .other(part: .live, rise: Bytes(9_000_000)))
    #expect(comparison.now.unnamedRuntime == .java)
    #expect(try #require(comparison.before).unnamedRuntime == nil)
    let native = ProfileComparison(before: [:], now: ["server!main;!?;server!callback": .init(live: 9_000_000)])
    #expect(native.now.unnamedRuntime == nil)
    #expect(native.now.generatingRuntime == nil && comparison.before?.generatingRuntime == .java)
  }

  @Test("Pages that generated code without a name touched first are the collected heap's")
  func unnamedTouch() {
    let before: Stacks = ["java!main;libjli.so!JavaMain;libjvm.so!JavaCalls::call": .init(touched: 5_000_000)]
    let comparison = ProfileComparison(before: before, now: stacks(before, adding: "!?", .init(touched: 9_000_000)))
    #expect(comparison.finding == .unsampledHeap(of: .java, rise: Bytes(9_000_000), reason: .notLoaded))
  }

  @Test("A buffer outside of the collected heap has one")
  func bufferOfNode() {
    let stack = "node!main;node!v8::Call;app.js:loadBuffers;node!node::Buffer::New;libc.so.6!calloc"
    let comparison = ProfileComparison(before: [:], now: [stack: .init(touched: 9_000_000)])
    #expect(comparison.finding?.culprit?.change.function.name == "loadBuffers")
  }

  /// The process has the same pages each time, so that the repetition with the median of the cache is the one that counts.
  private func repetitions(_ caches: [Int64], table: Int64, interval: Bytes = .zero) -> [MemoryProfile] {
    caches.map { cache in
      let stacks: Stacks = [
        "\(request);server!cache_put": .init(live: cache), "server!main;server!load_table": .init(live: table),
      ]
      return MemoryProfile(stacks, heapOverhead: 4_000_000 - cache, interval: interval)
    }
  }

  @Test("A repetition that sampling has over- or underestimated does not hide the function")
  func estimates() {
    let comparison = ProfileComparison(
      before: repetitions([3_400_000, 3_150_000, 3_400_000], table: 0),
      now: repetitions([3_400_000, 3_650_000, 3_400_000], table: 1_048_576))
    #expect(comparison.finding?.culprit?.change.function.name == "load_table")
  }

  @Test("A function whose memory does not vary is clear beside one that sampling over- or underestimates")
  func unvaried() {
    let caches: [Int64] = [2_800_000, 3_000_000, 3_200_000]
    func finding(interval: Bytes) -> CulpritFinding? {
      ProfileComparison(
        before: repetitions(caches, table: 0, interval: interval),
        now: repetitions(caches, table: 1_048_576, interval: interval)
      ).finding
    }
    #expect(finding(interval: .kibibytes(4))?.culprit?.change.function.name == "load_table")
    // Without sampling something else makes the cache uneven, and it might do so to the table.
    guard case .belowNoise(_?, let least, false)? = finding(interval: .zero) else {
      Issue.record("\(String(describing: finding(interval: .zero)))")
      return
    }
    #expect(least == Bytes(1_200_000))
  }

  @Test("No function is named for a rise that is spread over many, that is noise, or that is not the functions'")
  func silence() {
    let spread = (0..<5).map { ("a!main;a!part\($0)", CallTree.Weight(live: 2_000_000)) }
    let many = ProfileComparison(before: [:], now: Stacks(uniqueKeysWithValues: spread))
    guard case .spread(let largest)? = many.finding else {
      Issue.record("\(String(describing: many.finding))")
      return
    }
    #expect(largest.count == 3)
    let inner = (0..<3).map { ("a!main;a!outer\($0);a!inner\($0);a!leaf\($0)", CallTree.Weight(live: 2_000_000)) }
    guard case .spread(let nested)? = ProfileComparison(before: [:], now: Stacks(uniqueKeysWithValues: inner)).finding
    else {
      Issue.record("nothing holds most")
      return
    }
    #expect(nested.map(\.function.name).sorted() == ["leaf0", "leaf1", "leaf2"], "functions that call each other")
    let twice = ["one", "two"].map { ("a!main;a!\($0);a!shared", CallTree.Weight(live: 3_500_000)) }
    guard
      case .spread(let apart)? =
        ProfileComparison(before: [:], now: Stacks(uniqueKeysWithValues: twice + spread.prefix(3))).finding
    else {
      Issue.record("nothing holds most")
      return
    }
    #expect(apart.map(\.function.name) == ["shared", "part0", "part1"], "what `shared` holds is not named twice")

    let repetitions = [3, 5, 7].map { MemoryProfile(["a!main;a!f": .init(live: $0 << 20)]) }
    let risen = [9, 11, 13].map { MemoryProfile(["a!main;a!f": .init(live: $0 << 20)]) }
    var unclear = ProfileComparison(before: repetitions, now: risen)
    guard case .belowNoise(let first?, let least, false)? = unclear.finding else {
      Issue.record("a rise of 6 MiB is not clear beside a noise of 4 MiB")
      return
    }
    #expect(first.change == .mebibytes(6))
    #expect(least == .mebibytes(12))
    unclear.measured = .mebibytes(6)
    #expect(unclear.finding == .belowNoise(largest: first, least: least, isLikely: true), "a check has judged it")

    let holes = [MemoryProfile](repeating: MemoryProfile(server, heapOverhead: 9 << 20), count: 3)
    let plain = [MemoryProfile](repeating: MemoryProfile(server), count: 3)
    #expect(ProfileComparison(before: plain, now: holes).finding == .other(part: .heapOverhead, rise: .mebibytes(9)))
    #expect(ProfileComparison(before: holes, now: plain).finding == .noRise)
    let uneven = [0, 4, 9].map { MemoryProfile(server, heapOverhead: $0 << 20) }
    #expect(
      ProfileComparison(before: plain, now: uneven).finding
        == .belowNoise(largest: nil, least: .mebibytes(27), isLikely: false))
    let unsampled = holes.map { profile in
      var profile = profile
      profile.method = .stops
      profile.heapOverhead += profile.calls.total.live
      profile.calls = CallTree([:])
      return profile
    }
    #expect(ProfileSummary(unsampled)?.parts[.heap]?.median == (9 << 20) + server.values.reduce(0) { $0 + $1.live })
  }
}

@Suite("Memory profiles")
struct MemoryProfileTests {
  @Test("The parts of a repetition add up to its anonymous memory, also with a collected heap and recursion")
  func closure() throws {
    let stacks: Stacks = server.merging([
      "server!main;libv8.so!v8::Run;libv8.so!v8::Heap": .init(touched: 777_777),
      "server!main;server!f;server!f": .init(live: 55, touched: 66),
    ]) { $1 }
    let profile = MemoryProfile(stacks, heapOverhead: -12_345)
    #expect(profile.sum == profile.anonymous)
    let summary = try #require(ProfileSummary([profile, MemoryProfile(server), MemoryProfile(stacks)]))
    #expect(Bytes(summary.parts.values.reduce(0) { $0 + $1.median }) == profile.anonymous)
    #expect(summary.parts[.collectedHeap(.node)]?.median == 777_777)
  }

  @Test("Of one build, those that hold most at the peak are listed")
  func oneBuild() throws {
    let summary = try #require(ProfileSummary([MemoryProfile(server)]))
    let comparison = ProfileComparison(now: summary)
    #expect(comparison.finding == nil)
    let changes = comparison.largestChanges(atMost: 3)
    // A function that holds the same as its callee is only its caller.
    #expect(changes.map(\.function.name) == ["load_table", "handle_request", "cache_put"])
    #expect(changes[1].callers.map(\.name) == ["serve", "main"])
  }

  @Test(
    "Names do not depend on the build",
    arguments: [
      ("/lib/x86_64-linux-gnu/libc.so.6", "malloc", "libc.so!malloc"),
      ("libc-2.31.so", "__libc_malloc@@GLIBC_2.2.5", "libc.so!__libc_malloc"),
      ("libfoo-1.2.so.3.4 (deleted)", "f.part.0.cold", "libfoo.so!f"),
      ("ld-linux-x86-64.so.2", "_dl_start", "ld-linux-x86-64.so!_dl_start"),
      ("_json.cpython-311-x86_64-linux-gnu.so", "scan_once", "_json.so!scan_once"),
      ("/lib/python3.11/lib-dynload/_json.cpython-311-x86_64-linux-gnu.so", "scan", "lib-dynload/_json.so!scan"),
      ("numpy.libs/libscipy_openblas64_-6bb31eeb.so", "dgemm_", "numpy.libs/libscipy_openblas64_.so!dgemm_"),
      ("libgfortran-040039e1-0352e75f.so.5.0.0", "st_open", "libgfortran.so!st_open"),
      ("lz4/frame/_frame.abi3.so", "compress", "lz4/frame/_frame.so!compress"),
      ("/srv/site-packages/lz4/_block.abi3.so (deleted)", "f", "lz4/_block.so!f"),
      ("python3.11", "0x7f001122", "python3.11!?"),
      ("server", "server::remember::h0123456789abcdef", "server!server::remember"),
      ("server", "server[0123456789abcdef]::remember", "server!server::remember"),
      ("server", "Table<int [16]>::grow(int) [clone .isra.0]", "server!Table<int [16]>::grow(int)"),
      ("server", "main.(*Table).grow.func1+0x1f", "server!main.(*Table).grow.func1"),
      (
        "server", "std::thread::_State_impl<std::thread::_Invoker<std::tuple<serve(int)::{lambda()#1}> > >::_M_run()",
        "server!serve(int)::{lambda()#1}"
      ),
      (
        "server",
        "void std::__invoke_impl<void, f(int, char)::{lambda(int)#2}&>(f(int, char)::{lambda(int)#2}&)",
        "server!f(int, char)::{lambda(int)#2}"
      ),
      (
        "server", "std::_Function_handler<void (int), (anonymous namespace)::run()::$_0>::_M_invoke(int&&)",
        "server!(anonymous namespace)::run()::$_0"
      ),
      (
        "server", "std::_Function_handler<void (Record&&), main::{lambda(Record&&)#1}&>::_M_invoke(Record&&)",
        "server!main::{lambda(Record&&)#1}"
      ),
      ("server", "f(int)::{lambda(int)#1}::operator()(int) const", "server!f(int)::{lambda(int)#1}"),
      (
        "server", "std::vector<f()::{lambda()#1}>::reserve(unsigned long)",
        "server!std::vector<f()::{lambda()#1}>::reserve(unsigned long)"
      ),
      ("a!b:c", "f", "a_b_c!f"),
      ("server", "\(LongNames.type) own::Table<char>::grow(\(LongNames.type))", "server!own::Table<char>::grow"),
      ("server", "own::Table<\(LongNames.type)>::grow(int)", "server!own::Table<>::grow"),
      ("", "py::handle:/srv/app.py", "app.py:handle"),
      ("", "py::handle:/srv/pkg/__init__.py", "pkg/__init__.py:handle"),
      ("", "LazyCompile:*handle /srv/app.js:12:3", "app.js:handle"),
      ("", "JS:~ /srv/app.js:1:1", "app.js:(anonymous)"),
      ("", "com.example.Server::handle", ":com.example.Server::handle"),
      ("", "", "!?"),
    ])
  func plainNames(module: String, name: String, plain: String) throws {
    let function = FunctionName(CallTree.Function(module: module, name: name))
    #expect(function.description == plain)
    #expect(try FunctionName(coded: plain) == function)
  }

  @Test(
    "Functions that only pass memory on are not named",
    arguments: [
      ("libc.so!malloc", FunctionRole.allocator), ("server!operator new(unsigned long)", .allocator),
      ("server!swift_slowAlloc", .allocator), ("jemalloc/libjemalloc.so!grow", .allocator),
      ("libhighwater-allocations.so!hook", .allocator),
      ("libc.so!qsort", .system), ("server!__libc_start_main_impl", .system),
      ("libstdc++.so!?", .runtime(nil)), ("server!void std::__invoke_impl<void>(int)", .runtime(nil)),
      ("server!own::Cache* own::Handle<std::map<int, int> >::operator->() const", .own),
      ("server!std::enable_if<true>::type own::f<int>(int)", .own), ("server!core::Engine::load()", .own),
      ("server!(anonymous namespace)::load(int)", .own), ("server!server::main", .entry),
      ("server!runtime.mallocgc", .runtime(.go)), ("libjvm.so!?", .runtime(.java)), (":Interpreter", .runtime(.java)),
      (":long jdk.internal.misc.Unsafe.allocateMemory(long)", .runtime(.java)), (":vtable stub", .runtime(.java)),
      (":new_instance Runtime1 stub", .runtime(.java)), (":stub", .own),
      ("libjli.so!JavaMain", .runtime(.java)), (":java.nio.ByteBuffer App.keep(int)", .own),
      (":void App.main(java.lang.String[])", .entry), (":Builtin:Call", .runtime(.node)),
      ("app.py:readBlob", .own), ("app.py:sun.rise", .own), (":App.keep", .own),
      ("server!remember", .own), ("libserver.so!?", .own), ("!?", .unknown),
    ])
  func roles(name: String, role: FunctionRole) throws {
    let name = try FunctionName(coded: name)
    #expect(RoleTable([name]).role(of: name) == role)
  }

  @Test(
    "Rust's library is known by Rust's runtime, and has the methods of its types and of its traits",
    arguments: [
      ("core::ops::call_once", true), ("<&dyn core::Fn<(), Output = i32>>::call", true), ("<str>::repeat", true),
      ("<u64 as core::fmt::Display>::fmt", true), ("<[server::Key]>::to_vec", true),
      ("<T as core::Into<U>>::into", true),
      ("<&mut alloc::String as core::fmt::Write::write_fmt::SpecWriteFmt>::spec_write_fmt", true),
      ("<fn(u8) -> u64 as core::ops::FnOnce>::call_once", true), ("<alloc::Vec<server::Key>>::push", true),
      ("<<alloc::Vec<u8> as core::Deref>::Target as core::Debug>::fmt", true),
      ("server::keep", false), ("keep", false), ("<server::Key as core::fmt::Display>::fmt", false),
      ("<&server::Key as core::fmt::Display>::fmt", false), ("<u64 as server::Store>::keep", false),
      ("<alloc::Vec<u8> as server::Store>::keep", false), ("<dyn server::Store>::keep", false),
    ])
  func rustLibrary(name: String, isOfLibrary: Bool) {
    let names = ["std::rt::lang_start", name].map { FunctionName(module: "server", name: $0) }
    let roles = RoleTable(names)
    #expect(names.map(roles.role) == [.runtime(nil), isOfLibrary ? .runtime(nil) : .own])
  }
}

/// What makes names of functions longer than reports and files have room for.
private enum LongNames {
  static let type = "std::tuple<\(Array(repeating: "std::vector<int>", count: 40).joined(separator: ", "))>"
}
