import Foundation
import GateCore
import Testing

@Suite("Merging the results of shards")
struct MergedResultTests {
  /// A run of ten scenarios with all verdicts, of which one is isolated.
  private static let whole: RunResult = {
    let verdicts: [Verdict] = [.pass, .improved, .regression, .inconclusive, .noBaseline, .skipped]
    let scenarios = (0..<10).map { number in
      var scenario = Given.measurements([.peakRSS: [Double(number + 1) * 1_048_576]]).judged(against: .missing)
      scenario.metrics = []
      scenario.name = ScenarioName("s\(number)")
      scenario.verdict = verdicts[number % verdicts.count]
      if number == 7 { scenario.environment.name += "-aslr" }
      return scenario
    }
    let run = RunInfo(
      id: "one", startedAt: Date(timeIntervalSince1970: 1_767_323_045), duration: .milliseconds(12_300),
      commit: "4f2a91c0d6e8b7a5", isDirty: true, subject: "x", branch: "main", buildURL: "https://ci.example/17",
      pullRequest: "7")
    return RunResult(run: run, environment: scenarios[0].environment, scenarios: scenarios)
  }()

  /// The results that jobs with `--shard 1/count` and so on give.
  private static func shards(_ count: Int, of whole: RunResult = whole) -> [ShardResult] {
    (1...count).map { index in
      let shard = RunInfo.Shard(index: index, count: count, scenarios: whole.scenarios.map(\.name))
      var part = whole
      part.run.id = "shard \(index)"
      part.run.shard = shard
      part.scenarios = shard.part(of: whole.scenarios)
      part.environment = part.scenarios.map(\.environment).plainest ?? whole.environment
      return ShardResult(file: "\(index).json", result: part)
    }
  }

  /// Changes the result of the second shard.
  private static func changed(_ change: (inout RunResult) -> Void) -> [ShardResult] {
    var shards = shards(4)
    var result = shards[1].result
    change(&result)
    shards[1] = ShardResult(file: "2.json", result: result)
    return shards
  }

  private func problems(_ shards: [ShardResult]) throws -> [MergeError.Problem] {
    let error = #expect(throws: MergeError.self) { try RunResult.merged(shards, id: "one") }
    return try #require(error).problems
  }

  @Test("Shards in any order are equal to one job but for the run's ID, also with empty shards", arguments: [1, 4, 12])
  func equal(count: Int) throws {
    for _ in 0..<20 {
      #expect(try RunResult.merged(Self.shards(count).shuffled(), id: "one") == Self.whole)
    }
  }

  @Test("A shard's scenario has the verdict of its metrics if that is worse than its own", arguments: Verdict.allCases)
  func contradiction(verdict: Verdict) throws {
    let position = 2
    var whole = Self.whole
    let rule = GateRule(metric: .peakRSS, tolerance: nil, limit: .size(.mebibytes(1)))
    whole.scenarios[position].metrics = [MetricResult(rule: rule, unit: "bytes", verdict: .regression, reason: nil)]
    whole.scenarios[position].verdict = verdict
    let merged = try RunResult.merged(Self.shards(4, of: whole), id: "one")
    #expect(merged.scenarios[position].verdict == .regression && merged.verdict == .regression)
  }

  @Test("A scenario of a missing shard is inconclusive; a worse verdict of another stays")
  func missing() throws {
    var merged = try RunResult.merged([Self.shards(4)[3], Self.shards(4)[0]], id: "one")
    #expect(merged.scenarios.map(\.name) == Self.whole.scenarios.map(\.name))
    #expect(merged.scenarios[5].notes == [.shardMissing(index: 2, count: 4)])
    #expect(merged.scenarios.count { $0.repetitions.isEmpty && $0.verdict == .inconclusive } == 5)
    #expect(merged.verdict == .regression)
    merged = try RunResult.merged([Self.shards(10)[0]], id: "one")
    #expect(merged.verdict == .inconclusive && merged.verdict.exitCode == .inconclusive)
  }

  @Test("The run lasts from the first start to the last end, and has no link if the jobs have different ones")
  func run() throws {
    let shards = Self.changed { result in
      result.run.startedAt.addTimeInterval(20)
      result.run.buildURL = "https://ci.example/18"
    }
    let run = try RunResult.merged(shards, id: "one").run
    #expect(run.startedAt == Self.whole.run.startedAt && run.duration == .milliseconds(32_300))
    #expect(run.buildURL == nil && run.shard == nil && run.isDirty)
  }

  @Test("Results of different runs are named, with what differs")
  func otherRuns() throws {
    let cases: [(MergeError.Property, (inout RunResult) -> Void)] = [
      (.toolVersion, { $0.toolVersion = "9.9" }),
      (.commit, { $0.run.commit = "57dc3d9" }),
      (.branch, { $0.run.branch = nil }),
      (.pullRequest, { $0.run.pullRequest = "8" }),
      (.shardCount, { $0.run.shard?.count = 5 }),
      (.scenarios, { $0.run.shard?.scenarios.removeLast() }),
      (.comparisonBuild, { $0.scenarios[0].notes.append(.comparedWithBuild(build: "old")) }),
    ]
    for (property, change) in cases {
      let found = try problems(Self.changed(change))
      guard found.count == 1, case .different(property, "2.json", _, "1.json", _) = found[0] else {
        Issue.record("\(property): \(found)")
        continue
      }
    }
    #expect(throws: Never.self) { try RunResult.merged(Self.changed { $0.run.commit = "4F2A91C0D6" }, id: "one") }
  }

  @Test("Shards of a comparison are merged, also with one that had nothing to compare")
  func comparison() throws {
    var compared = Self.whole
    for index in compared.scenarios.indices { compared.scenarios[index].notes.append(.comparedWithBuild(build: "old")) }
    #expect(try RunResult.merged(Self.shards(12, of: compared).shuffled(), id: "one") == compared)
  }

  @Test("Another kind of machine is named, unless the project ignores the difference")
  func otherMachine() throws {
    func measured(ignoring fields: Set<Fingerprint.Field>) -> [ShardResult] {
      Self.changed { result in
        for index in result.scenarios.indices {
          result.scenarios[index].environment.fingerprint.cpus = 64
          result.scenarios[index].environment.ignoredFields = fields
        }
      }
    }
    guard case .differentMachines("2.json", "1.json", let differences) = try problems(measured(ignoring: [])).first
    else {
      Issue.record("no difference was found")
      return
    }
    #expect(differences.map(\.field) == [.cpus])
    #expect(throws: Never.self) { try RunResult.merged(measured(ignoring: [.cpus]), id: "one") }
  }

  @Test("A shard that occurs twice, a scenario that does, and a whole run are named")
  func doubles() throws {
    let shards = Self.shards(4)
    let copy = ShardResult(file: "copy.json", result: shards[2].result)
    #expect(
      try problems([copy] + shards) == [.sameShard(index: 3, count: 4, files: ["3.json", "copy.json"])])
    let twice = Self.changed { $0.scenarios.append(Self.whole.scenarios[0]) }
    #expect(try problems(twice) == [.sameScenario(ScenarioName("s0"), files: ["1.json", "2.json"])])
    #expect(
      try problems(shards + [ShardResult(file: "all.json", result: Self.whole)]) == [.notOfShard(file: "all.json")])
  }
}
