import FoundationEssentials
import GateCore
import Statistics
import Testing

/// A program of three scenarios, of which each branch changes one, measured with noise.
private struct SimulatedRepository {
  struct Branch {
    let scenario: Int
    let addition: Double
    var change: BaselineChange?
  }

  private static let bases = [20.0, 60, 150].map { $0 * 1_048_576 }

  /// The standard deviation of a repetition, as a share of the level.
  let noise: Double
  var random: SeededNumbers
  var baselines: [Baseline] = []
  var changes: [[BaselineChange]] = [[], [], []]
  /// What the merged program needs.
  var levels = bases

  init(noise: Double, seed: UInt64) {
    (self.noise, random) = (noise, SeededNumbers(seed: seed))
    for index in Self.bases.indices {
      baselines.append(newBaseline(at: Self.bases[index], approval("base-\(index)")))
    }
  }

  func approval(_ run: String) -> Approval {
    Approval(at: Date(timeIntervalSince1970: 0), by: "ann", commit: nil, reason: nil, run: run)
  }

  /// A sum of twelve equally distributed numbers has the deviation 1.
  private mutating func normal() -> Double { (0..<12).reduce(-6) { sum, _ in sum + random.nextShare() } }

  mutating func measure(_ level: Double, count: Int) -> ScenarioMeasurement {
    let values = (0..<count).map { _ in (level * (1 + noise * normal()) / 4096).rounded() * 4096 }
    return Given.measurements(
      [.peakRSS: values], gate: Gate(rules: [GateRule(metric: .peakRSS, tolerance: .automatic)]))
  }

  private mutating func newBaseline(at level: Double, _ approval: Approval) -> Baseline {
    Baseline(of: measure(level, count: 10).judged(against: .missing), approval: approval)
  }

  /// A check, which measures on until it is decided.
  mutating func check(_ level: Double, against expected: Baseline) -> ScenarioResult {
    var measured = measure(level, count: 5)
    let plan = RepetitionPlan(min: 5, max: 20)
    measured.plan = plan
    while true {
      let result = measured.judged(against: .baseline(expected))
      guard let more = plan.nextLook(after: result) ?? plan.countForApproval(after: result, of: expected) else {
        return result
      }
      measured.repetitions += measure(level, count: more - measured.repetitions.count).repetitions
    }
  }

  /// A branch of the first commit that rises or falls by 1 to 5 %, and approves what its check measured.
  mutating func branch(_ number: Int) -> Branch {
    let scenario = number < 50 ? 0 : number < 75 ? 1 : 2
    let share = (0.01 + 0.04 * random.nextShare()) * (random.next(below: 2) == 0 ? -1 : 1)
    let addition = Self.bases[scenario] * share
    let result = check(Self.bases[scenario] + addition, against: baselines[scenario])
    var branch = Branch(scenario: scenario, addition: addition)
    guard result.verdict != .pass else { return branch }
    let measured = Baseline(of: result, approval: approval("branch-\(number)"))
    branch.change = BaselineChange(from: baselines[scenario], to: measured, gate: result.gate)
    // Two new baselines would conflict.
    #expect(branch.change != nil, "\(measured.metrics)")
    return branch
  }

  mutating func merge(_ branch: Branch) {
    levels[branch.scenario] += branch.addition
    if let change = branch.change { changes[branch.scenario].append(change) }
  }

  func expected(_ scenario: Int) -> Baseline { baselines[scenario].expecting(changes[scenario]) }

  mutating func checkOfMain(_ scenario: Int) -> ScenarioResult { check(levels[scenario], against: expected(scenario)) }

  mutating func fold() {
    for scenario in levels.indices {
      baselines[scenario] = newBaseline(at: levels[scenario], approval("fold-\(scenario)"))
      changes[scenario] = []
    }
  }
}

@Suite("A hundred branches that approve changes of one commit")
struct ManyBranchesTests {
  private static let noises = [0, 0.0002, 0.001, 0.002]

  @Test(
    "The check of main passes after each merge, in any order, and finds a rise of 5 % after folding", arguments: noises)
  func merges(noise: Double) {
    for seed in 1...3 as ClosedRange<UInt64> {
      var repository = SimulatedRepository(noise: noise, seed: seed)
      var branches: [SimulatedRepository.Branch] = []
      for number in 0..<100 { branches.append(repository.branch(number)) }
      // What passes needs no approval, and is small.
      #expect(branches.count { $0.change == nil } <= 10)
      while !branches.isEmpty {
        let branch = branches.remove(at: repository.random.next(below: branches.count))
        repository.merge(branch)
        let check = repository.checkOfMain(branch.scenario)
        #expect([.pass, .improved].contains(check.verdict), "\(branches.count) left: \(check.metrics)")
      }
      repository.fold()
      for scenario in 0..<3 {
        #expect(repository.checkOfMain(scenario).verdict == .pass)
        repository.levels[scenario] *= 1.05
        #expect(repository.checkOfMain(scenario).verdict == .regression)
      }
    }
  }

  @Test("A merge queue that tests branches together before they land passes", arguments: noises)
  func queue(noise: Double) {
    var repository = SimulatedRepository(noise: noise, seed: 7)
    var branches: [SimulatedRepository.Branch] = []
    for number in 0..<100 { branches.append(repository.branch(number)) }
    while !branches.isEmpty {
      var candidate = repository
      let group = (0..<min(5, branches.count)).map { _ in
        branches.remove(at: candidate.random.next(below: branches.count))
      }
      for branch in group { candidate.merge(branch) }
      for scenario in Set(group.map(\.scenario)) {
        #expect([.pass, .improved].contains(candidate.checkOfMain(scenario).verdict))
      }
      repository = candidate
    }
  }

  @Test("What many parallel changes cannot show is allowed and reported, and one after the other is as sharp as one")
  func uncertainty() throws {
    let base = Given.baseline([.peakRSS: (0..<10).map { 100_000_000 + Double($0) * 100_000 }])
    let middle = try #require(base.medians[.peakRSS])
    func change(_ number: Int, from: Double, to: Double) -> BaselineChange {
      var approval = Given.approval
      (approval.run, approval.at) = ("\(number)", Date(timeIntervalSince1970: Double(number)))
      return BaselineChange(
        scenario: base.scenario, environment: base.environment, moves: [.peakRSS: .init(from: from, to: to)],
        repetitions: 5, approval: approval)
    }
    let parallel = (1...10).map { change($0, from: middle, to: middle + 2_000_000) }
    let chain = (1...10).map {
      change($0, from: middle + Double($0 - 1) * 2_000_000, to: middle + Double($0) * 2_000_000)
    }
    #expect(base.expecting(Array(parallel[..<1])).uncertainties == [:])
    #expect(base.expecting(chain).uncertainties == [.peakRSS: 0])
    let uncertain = base.expecting(parallel)
    #expect(uncertain.medians == base.expecting(chain).medians)
    // The root of 9² / 10 + 10 / 5, without the 1 / 10 + 1 / 5 of a single approval, times √(π / 2).
    let deviation = try #require(uncertain.uncertainties[.peakRSS]) / Spread.noise(base.metrics[.peakRSS] ?? [])
    #expect(abs(deviation - 3.92) < 0.05, "\(deviation)")
    let gate = Gate(rules: [GateRule(metric: .peakRSS, tolerance: .bounds(relative: Percent(3), absolute: nil))])
    let measured = Given.measurements([.peakRSS: Array(repeating: middle + 24_000_000, count: 5)], gate: gate)
    let judged = measured.judged(against: .baseline(uncertain))
    #expect(judged.verdict == .pass && judged.notes.contains(.summedChanges(count: 10)))
    #expect(measured.judged(against: .baseline(base.expecting(chain))).verdict == .regression)
  }

  @Test("A sum of changes is never a negative amount, and the rate of page faults is left out unless it is gated")
  func amounts() throws {
    let gate = Gate(rules: [.peakRSS, .faultRate].map { GateRule(metric: $0, tolerance: .automatic) })
    func baseline(_ level: Double) -> Baseline {
      Given.baseline([.peakRSS: Given.values(20), .faultRate: Array(repeating: level, count: 5)])
    }
    let change = try #require(BaselineChange(from: baseline(1000), to: baseline(100), gate: gate))
    #expect(baseline(1000).expecting([change, change]).metrics[.faultRate] == [0, 0, 0, 0, 0])
    let standard = try #require(BaselineChange(from: baseline(1000), to: baseline(100), gate: .standard))
    #expect(standard.moves.isEmpty)
  }

  @Test(
    "A level that a short program has by chance does not make an approval a new baseline, and one that is new does",
    arguments: [([1.0], [], true), ([], [1], true), ([], [1, 1, 1, 1, 1], false), ([1, 1, 1, 1, 1], [], false)]
      as [([Double], [Double], Bool)])
  func seldomSteady(before: [Double], now: [Double], isChange: Bool) {
    let (expected, measured) = (
      Given.baseline([.peakRSS: Given.values(20), .steadyRSS: before].filter { !$0.value.isEmpty }),
      Given.baseline([.peakRSS: Given.values(26), .steadyRSS: now].filter { !$0.value.isEmpty })
    )
    #expect((BaselineChange(from: expected, to: measured, gate: .standard) != nil) == isChange)
    let written = Gate(rules: [GateRule(metric: .steadyRSS, tolerance: .automatic)])
    #expect(BaselineChange(from: expected, to: measured, gate: written) == nil)
  }

  @Test("The note on a moved baseline names the tree only if it moves otherwise than its process")
  func movedTree() throws {
    func moves(ofTree amounts: (Double, Double)) throws -> [MetricName] {
      let baselines = [(20.0, amounts.0), (26, amounts.1)].map { peak, tree in
        Given.baseline([.peakRSS: Given.values(peak), .treePeak: Given.values(tree)])
      }
      let note = try #require(RunNote(onMoveFrom: baselines[0], to: baselines[1], gate: .standard))
      guard case .movesBaseline(_, _, let moves, _, _) = note else { return [] }
      return moves.map(\.metric)
    }
    #expect(try moves(ofTree: (20, 26)) == [.peakRSS])
    #expect(try moves(ofTree: (30, 36)) == [.peakRSS, .treePeak])
  }
}
