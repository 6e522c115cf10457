@testable import GateCore
import Testing

/// A program with known limits.
private struct Program: CustomTestStringConvertible {
  var testDescription: String
  /// What it holds without a limit, without and with the page cache, in KiB.
  var holds: Int64
  var withCache: Int64
  /// From here on it passes.
  var need: Int64
  /// From here on it takes its usual time.
  var fast: Int64
  /// Whether below that it reads its files again and again, from the page cache of others in no time.
  var isCached = false
  /// How often in 100 runs it is killed in the 256 KiB above its need.
  var sporadic = 0

  func run(at limit: Bytes, _ number: Int) -> LimitedRun {
    let (kibibytes, isUnlucky) = (limit.count / 1024, number * 37 % 100 < sporadic)
    let dies = kibibytes < need || (kibibytes < need + 256 && isUnlucky)
    let (isSlow, refaults) = (kibibytes < fast && !isCached, kibibytes < fast && isCached ? 100_000 : 9)
    return LimitedRun(
      limit: limit, outcome: dies ? .killed(end: End(.oom, signal: .kill)) : .survived,
      duration: .milliseconds(isSlow ? 900 : 500), usage: CgroupUsage(limitHits: 1, refaults: Int64(refaults)))
  }
}

@Suite("Searching for a memory limit")
struct LimitSearchTests {
  static let machine = MemoryLimiting(batches: .kibibytes(512), largest: .mebibytes(8192))

  private static func search(_ program: Program, on machine: MemoryLimiting = machine) -> LimitSearch {
    let usual = LimitSearch.Usual(
      durations: [.milliseconds(500), .milliseconds(480), .milliseconds(510)], treePeak: .kibibytes(program.holds),
      peak: .kibibytes(program.withCache))
    var search = LimitSearch(usual: usual, on: machine)
    while let level = search.next { search.add(program.run(at: level, search.runs.count)) }
    return search
  }

  private static let programs: [(Program, most: Int)] = [
    (Program(testDescription: "a C program", holds: 20_700, withCache: 20_220, need: 20_164, fast: 0), 6),
    (Program(testDescription: "a large C program", holds: 400_000, withCache: 401_000, need: 400_700, fast: 0), 6),
    (
      Program(
        testDescription: "with sporadic kills", holds: 40_300, withCache: 40_700, need: 40_246, fast: 0, sporadic: 5), 9
    ),
    (Program(testDescription: "with page cache", holds: 16_000, withCache: 120_000, need: 13_100, fast: 21_300), 25),
    (
      Program(
        testDescription: "with a heap that adapts", holds: 500_000, withCache: 560_000, need: 61_234, fast: 90_000), 29
    ),
    (
      Program(
        testDescription: "with a heap of a quarter of the limit", holds: 90_000, withCache: 91_000, need: 300_000,
        fast: 0), 19
    ),
    (
      Program(
        testDescription: "whose libraries others have mapped", holds: 16_000, withCache: 15_000, need: 3_100,
        fast: 9_300,
        isCached: true), 29
    ),
    (Program(testDescription: "that is tiny", holds: 600, withCache: 900, need: 452, fast: 0), 12),
  ]

  @Test(
    "The answer is at most 1 % or 64 KiB above the truth, survived 3 times, and just below it the program dies",
    arguments: programs)
  fileprivate func found(program: Program, most: Int) throws {
    let search = Self.search(program)
    let need = try #require(search.need).count / 1024
    let tolerance = max(need / 100 + 4, 68)
    #expect((program.need...program.need + tolerance).contains(need), "\(need)")
    #expect(search.runs(at: .kibibytes(need)).count >= 3)
    let death = try #require(search.highestDeath).count / 1024
    #expect(need - death <= tolerance)
    let speed = try #require(search.fullSpeed).count / 1024
    let fast = max(program.fast, program.need)
    #expect((fast...fast + max(tolerance, fast / 100 + 4)).contains(speed), "\(speed)")
    #expect(search.runs.count <= most, "\(search.runs.map { $0.limit.count / 1024 })")
    #expect(search.survivorBelowDeath == nil)
    let advice = try #require(search.advice)
    #expect(advice.request.count / 1024 >= speed && !search.runs(at: advice.limit).isEmpty)
  }

  @Test("The advice includes the pages of libraries that are charged to others here")
  func sharedLibraries() throws {
    let program = Program(testDescription: "", holds: 4_800, withCache: 1_900, need: 1_500, fast: 0)
    let advice = try #require(Self.search(program).advice)
    #expect(advice.request == .mebibytes(5) && advice.limit == .mebibytes(6))
  }

  @Test("A program that dies at each limit has no answer, and the search ends at the machine's memory")
  func never() {
    let search = Self.search(
      Program(testDescription: "", holds: 20_000, withCache: 21_000, need: .max - 512, fast: 0))
    #expect(search.need == nil && search.advice == nil && search.highestDeath == Self.machine.largest)
  }

  @Test("A death above a level that survived makes the search go on above it, and is told")
  func notMonotone() throws {
    let usual = LimitSearch.Usual(durations: [.seconds(1)], treePeak: .mebibytes(100), peak: .mebibytes(101))
    var search = LimitSearch(usual: usual, on: Self.machine)
    while let level = search.next {
      // The advised limit lies in the second range.
      let dies = level < .mebibytes(90) || (.mebibytes(110)..<Bytes.mebibytes(150)).contains(level)
      let failure = Failure(problem: .unexpectedEnd(expected: ExpectedEnd(exits: [0])), end: End(.exited, code: 1))
      search.add(
        LimitedRun(limit: level, outcome: dies ? .failed(failure: failure) : .survived, duration: .seconds(1)))
    }
    #expect(try #require(search.survivorBelowDeath) < .mebibytes(103))
    let need = try #require(search.need)
    #expect(need >= .mebibytes(150) && need < .mebibytes(153))
    #expect(search.outcome(at: try #require(search.highestDeath)) == .failed)
  }

  @Test(
    "The advice includes what a tree holds beyond its limit, charged to others; a small difference is one of counters")
  func chargedToOthers() throws {
    let usual = LimitSearch.Usual(durations: [.seconds(1)], treePeak: .mebibytes(11), peak: .mebibytes(11))
    func search(holding treePeak: (Bytes) -> Bytes) -> LimitSearch {
      var search = LimitSearch(usual: usual, on: Self.machine)
      while let level = search.next {
        search.add(
          LimitedRun(
            limit: level, outcome: level < .mebibytes(2) ? .killed(end: End(.oom)) : .survived, duration: .seconds(1),
            treePeak: treePeak(level)))
      }
      return search
    }
    let shared = search { _ in .mebibytes(10) }
    let need = try #require(shared.need)
    #expect(shared.residentBeyond(need) == .mebibytes(10))
    let advice = try #require(shared.advice)
    #expect(advice.request == .mebibytes(10) && advice.limit == .mebibytes(13))
    let own = search { $0 + .kibibytes(500) }
    #expect(try own.residentBeyond(#require(own.need)) == nil)
    #expect(try #require(own.advice).limit <= .mebibytes(4))
  }

  @Test("A run that is twice as long without a limit hit is not slow")
  func busyMachine() throws {
    let usual = LimitSearch.Usual(durations: [.seconds(1)], treePeak: .mebibytes(100), peak: .mebibytes(100))
    var search = LimitSearch(usual: usual, on: Self.machine)
    while let level = search.next {
      search.add(
        LimitedRun(
          limit: level, outcome: level < .mebibytes(99) ? .stalled(within: .seconds(30)) : .survived,
          duration: .seconds(2), usage: CgroupUsage(limitHits: 0)))
    }
    #expect(search.fullSpeed == search.need && search.need != nil)
  }

  @Test("A single slow run is repeated, and then does not count")
  func oneSlowRun() throws {
    let usual = LimitSearch.Usual(durations: [.seconds(1)], treePeak: .mebibytes(100), peak: .mebibytes(100))
    var search = LimitSearch(usual: usual, on: Self.machine)
    while let level = search.next {
      let time = Duration.seconds(search.runs.count == 0 ? 2 : 1)
      let dies = level < .mebibytes(99)
      search.add(
        LimitedRun(limit: level, outcome: dies ? .stalled(within: .seconds(30)) : .survived, duration: time))
    }
    #expect(search.fullSpeed == search.need && search.need != nil)
  }
}

@Suite("Telling how a run at a memory limit ended")
struct LimitedRunTests {
  private static let limit = Bytes.mebibytes(64)

  private func outcome(
    _ end: End, _ failure: Failure? = nil
  ) throws(LimitedRun.OtherFailure) -> LimitedRun.Outcome {
    var scenario = Scenario(name: ScenarioName("it"), target: Target(command: .shell(":"), workingDirectory: "/"))
    scenario.memoryLimit = Self.limit
    let recording = Recording(end: end, failure: failure, duration: .seconds(1))
    return try LimitedRun(of: recording, in: scenario, at: Self.limit).outcome
  }

  @Test("Only a kill at the own limit counts as one; a refused malloc is a failure")
  func kinds() throws {
    let killed = End(.oom, signal: .kill, cause: .memoryLimit(limit: .own(limit: Self.limit)), oomKills: 1)
    #expect(try outcome(killed) == .killed(end: killed))
    let child = End(.exited, code: 0, oomKills: 1)
    #expect(try outcome(child) == .killed(end: child))
    #expect(try outcome(End(.exited, code: 0)) == .survived)
    for end in [End(.exited, code: 1), End(.allocationFailure, signal: .abrt), End(.crash, signal: .segv)] {
      guard case .failed(let failure) = try outcome(end) else { throw NotFailed(end: end) }
      #expect(failure.end == end)
    }
  }

  @Test("A process that held more than the limit did not run at it, whatever pages of files it had besides")
  func unlimited() throws {
    var scenario = Scenario(name: ScenarioName("it"), target: Target(command: .shell(":"), workingDirectory: "/"))
    scenario.memoryLimit = Self.limit
    func outcome(anonymous: Int64, file: Int64) throws -> LimitedRun.Outcome {
      let memory = MemoryReading(
        resident: .mebibytes(anonymous + file), peak: .mebibytes(anonymous + file), anonymous: .mebibytes(anonymous),
        file: .mebibytes(file), shared: .zero)
      let sample = Sample(time: .zero, main: memory, tree: .mebibytes(anonymous + file), processes: 1)
      let recording = Recording(samples: [sample], end: End(.exited, code: 0), duration: .seconds(1))
      return try LimitedRun(of: recording, in: scenario, at: Self.limit).outcome
    }
    #expect(try outcome(anonymous: 101, file: 1) == .unlimited(held: .mebibytes(101)))
    #expect(try outcome(anonymous: 63, file: 40) == .survived)
  }

  private struct NotFailed: Error { let end: End }

  @Test("What takes too long has stalled")
  func stalls() throws {
    let timeout = End.Timeout.notEnded(within: .seconds(30))
    let end = End(.timeout, cause: .timeout(kind: timeout, limitHits: nil))
    let failure = Failure(part: .init(.end), problem: .timeout(kind: timeout))
    #expect(try outcome(end, failure) == .stalled(within: .seconds(30)))
  }

  @Test("What no limit explains is no answer")
  func others() {
    let machine = End(.oom, signal: .kill, cause: .memoryLimit(limit: .machine))
    #expect(throws: LimitedRun.OtherFailure.self) { try outcome(machine) }
    #expect(throws: LimitedRun.OtherFailure.self) { try outcome(End(.killed, signal: .kill)) }
    #expect(throws: LimitedRun.OtherFailure.self) {
      try outcome(End(.startFailed), Failure(problem: .alreadyInUse(resource: .port(number: 7001))))
    }
    #expect(throws: LimitedRun.OtherFailure.self) {
      try outcome(End(.startFailed), Failure(part: .init(.setup), problem: .commandTimeout(after: .seconds(1))))
    }
  }
}
