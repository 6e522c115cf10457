import Statistics
import Testing

@testable import GateCore

/// The whole search on noisy values: how often the guilty commit is found, and with how many builds.
@Suite("Bisecting a rise")
struct BisectionTests {
  /// A simulated repository, whose program holds 24 MiB at the good end.
  private struct Repository {
    var levels: [Double]
    /// The deviation of repetitions, in percent.
    var noise = 0.1
    /// How much higher the machine measures everything after each repetition, in percent.
    var drift = 0.0
    var broken: Set<Int> = []
    var numbers: SeededNumbers
    var repetitions = 0

    static let base = 24.0 * 1_048_576

    /// Nearly normal, in whole pages.
    mutating func value(of index: Int) -> Double {
      repetitions += 1
      let normal = (0..<12).reduce(-6) { sum, _ in sum + numbers.nextShare() }
      let percent = levels[index] + normal * noise + Double(repetitions) * drift
      return (Self.base * (1 + percent / 100) / 4096).rounded() * 4096
    }

    mutating func measured(_ index: Int, _ count: Int) -> MeasuredCommit {
      let pairs = (0..<count).map { _ in (value(of: index), value(of: 0)) }
      return MeasuredCommit(
        repetitions: count, values: [.peakRSS: pairs.map(\.0)], reference: [.peakRSS: pairs.map(\.1)])
    }

    /// Runs a search to its end; returns it and the number of builds.
    mutating func bisect(_ depth: RiseSearch.Depth = .largestStep) -> (bisection: Bisection, builds: Int) {
      var bisection = Bisection(last: levels.count - 1, plan: RepetitionPlan(min: 5, max: 20), depth: depth)
      var builds = 1
      while let next = bisection.next {
        builds += 1
        bisection.record(answer(next, in: bisection), at: next)
      }
      return (bisection, builds)
    }

    private mutating func answer(_ index: Int, in bisection: Bisection) -> CommitAnswer {
      if broken.contains(index) { return .notBuilt(failure: Failure(problem: .interrupted)) }
      var measured = measured(index, bisection.plan.min)
      while let more = bisection.nextLook(after: measured, at: index) {
        let further = self.measured(index, more - measured.repetitions)
        measured.repetitions = more
        measured.values.merge(further.values) { $0 + $1 }
        measured.reference.merge(further.reference) { $0 + $1 }
      }
      return .measured(values: measured)
    }
  }

  private static func step(_ percent: Double, at place: Int, of count: Int = 200) -> [Double] {
    (0...count).map { $0 < place ? 0 : percent }
  }

  /// A rise, its noise, the drift and the commits that do not build in percent, and of 40 searches those that must find the
  /// guilty commit.
  private static let cases: [(rise: Double, noise: Double, drift: Double, broken: Int, least: Int)] = [
    (3, 0.1, 0, 0, 40), (10, 0.1, 0, 0, 40), (3, 0.5, 0, 0, 40), (3, 0.5, 0.005, 0, 39), (10, 3, 0, 0, 40),
    (10, 0.5, 0.02, 15, 39),
  ]

  @Test("The guilty commit is found with at most log2(n) + 3 builds, and some more past broken ones", arguments: cases)
  func guilty(rise: Double, noise: Double, drift: Double, broken: Int, least: Int) {
    var numbers = SeededNumbers(seed: UInt64(rise * 100 + noise * 10))
    var (right, builds): (Int, [Int]) = (0, [])
    for _ in 1...40 {
      let place = 1 + numbers.next(below: 200)
      var repository = Repository(
        levels: Self.step(rise, at: place), noise: noise, drift: drift,
        broken: Set((1...199).filter { _ in numbers.next(below: 100) < broken }), numbers: numbers)
      let found = repository.bisect()
      numbers = repository.numbers
      let step = found.bisection.steps.first
      let between = step.map { Set($0.lower + 1..<$0.upper) } ?? []
      if step.map({ ($0.lower + 1...$0.upper).contains(place) && between.isSubset(of: repository.broken) }) == true {
        right += 1
      }
      builds.append(found.builds)
    }
    #expect(right >= least, "\(right) of 40")
    // A drift makes levels doubtful, which are then measured again.
    let limit = broken == 0 ? (noise < 1 ? 10 : 14) + (drift > 0 ? 1 : 0) : 20
    #expect(builds.sorted()[38] <= limit, "\(builds.sorted())")
  }

  @Test("Ends that do not differ, that differ the wrong way, or that are too noisy are refused")
  func ends() {
    func outcome(_ rise: Double, noise: Double) -> BisectionOutcome? {
      var repository = Repository(levels: [0, 0, rise], noise: noise, numbers: SeededNumbers(seed: 5))
      return repository.bisect().bisection.outcome
    }
    #expect(outcome(0, noise: 0.1) == .same)
    #expect(outcome(-5, noise: 0.1) == .lower)
    #expect(outcome(0.5, noise: 3) == .undecided)
    #expect(outcome(5, noise: 0.1) == .commit)
  }

  @Test("A rise over many commits is creep, and two steps are told with their shares")
  func outcomes() {
    var creep = Repository(levels: (0...200).map { Double($0) * 0.1 }, noise: 0.3, numbers: SeededNumbers(seed: 6))
    let crept = creep.bisect()
    #expect(crept.bisection.outcome == .creep && crept.builds <= 11, "\(crept.builds) builds")
    let levels = (0...200).map { index in (index >= 30 ? 6.0 : 0) + (index >= 170 ? 4 : 0) }
    var two = Repository(levels: levels, noise: 0.3, numbers: SeededNumbers(seed: 7))
    let all = two.bisect(.allSteps).bisection
    #expect(all.outcome == .steps && all.steps.map(\.upper) == [30, 170])
    #expect(all.steps.map { (($0.share ?? 0) * 10).rounded() } == [6, 4])
    let largest = two.bisect().bisection
    #expect(largest.outcome == .steps && largest.steps.first?.upper == 30)
  }

  @Test("A machine that measures more from hour to hour does not move the answer, and the figures do not contain it")
  func drift() throws {
    // 200 repetitions drift by 10 %, as much as the step.
    var repository = Repository(
      levels: Self.step(10, at: 77), noise: 0.2, drift: 0.05, numbers: SeededNumbers(seed: 8))
    let found = repository.bisect().bisection
    let step = try #require(found.steps.first)
    #expect(step.upper == 77 && step.isCommit)
    let percent = try #require(step.change?.change?.percent)
    #expect(abs(percent - 10) < 0.6, "\(percent)")
  }

  @Test("Running out of memory counts as the rise, at an end and between the ends")
  func outOfMemory() {
    let failure = Failure(problem: .interrupted, end: End(.oom))
    var search = Bisection(last: 8, plan: RepetitionPlan(min: 5, max: 20))
    var good = Repository(levels: Array(repeating: 0, count: 9), numbers: SeededNumbers(seed: 9))
    while let next = search.next {
      search.record(next >= 3 ? .outOfMemory(failure: failure) : .measured(values: good.measured(next, 5)), at: next)
    }
    #expect(search.outcome == .commit && search.steps.map(\.upper) == [3] && search.searched == nil)
  }

  @Test("A search goes on from its stored answers as if it had not been interrupted")
  func resumed() {
    var repository = Repository(levels: Self.step(10, at: 123), numbers: SeededNumbers(seed: 10))
    let whole = repository.bisect().bisection
    var again = Bisection(last: whole.last, plan: whole.plan)
    for (index, answer) in whole.answers.sorted(by: { $0.key > $1.key }) { again.record(answer, at: index) }
    #expect(again == whole)
  }

  @Test(
    "A step in the history narrows the range, unless it holds less than most of the rise",
    arguments: [
      ([(0, 24), (50, 24.01), (80, 26), (200, 26.1)], 50...80), ([(0, 24), (100, 25), (200, 26)], nil),
      ([(0, 24), (50, 24), (80, 24)], nil), ([(10, 24), (20, 26), (20, 26.2), (10, 24.1)], 10...20), ([(5, 24)], nil),
    ] as [([(Int, Double)], ClosedRange<Int>?)])
  func history(runs: [(Int, Double)], expected: ClosedRange<Int>?) {
    let medians = runs.map { (index: $0.0, median: $0.1 * 1_048_576) }
    #expect(KnownStep.range(in: medians, of: .peakRSS) == expected)
  }

  @Test("A single bad run before the step does not widen the range")
  func badRun() {
    let medians = (0..<16).map { number in
      let level = number == 2 ? 27.0 : number < 8 ? 24 : 26
      return (index: 10 * number, median: (level + (number.isMultiple(of: 3) ? 0.01 : 0)) * 1_048_576)
    }
    #expect(KnownStep.range(in: medians, of: .peakRSS) == 70...80)
  }
}
