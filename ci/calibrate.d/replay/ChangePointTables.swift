import Statistics

/// The medians of one metric over sixty runs, whose true levels are known.
package struct SyntheticHistory: Sendable {
  package static let runs = 60

  package let name: String
  /// The indices of the true steps.
  let steps: [Int]
  private let noise: Noise
  /// The true level of each run, relative to the first.
  private let level: @Sendable (_ run: Int) -> Double

  private init(
    _ name: String,
    _ noise: Noise,
    steps: [Int] = [],
    level: @escaping @Sendable (_ run: Int) -> Double = { _ in 1 }
  ) {
    (self.name, self.noise, self.steps, self.level) = (name, noise, steps, level)
  }

  func values(_ chance: inout Chance) -> [Double] {
    noise.values(Self.runs, 0, level: 58.4e6, &chance).baseline.enumerated().map { run, value in
      (value * level(run) / 4096).rounded() * 4096
    }
  }

  /// A constant level.
  package static func level(_ noise: Noise) -> SyntheticHistory {
    SyntheticHistory("one level: \(noise.name)", noise)
  }

  /// A single rise, `age` runs ago.
  package static func step(_ percent: Double, age: Int, _ noise: Noise) -> SyntheticHistory {
    let start = runs - age
    return SyntheticHistory("+\(text(percent)) %, \(age) runs on: \(noise.name)", noise, steps: [start]) { run in
      run < start ? 1 : 1 + percent / 100
    }
  }

  /// A rise after twenty runs, and another change after twenty more.
  private static func twoSteps(_ name: String, to end: Double, _ noise: Noise) -> SyntheticHistory {
    SyntheticHistory("\(name): \(noise.name)", noise, steps: [20, 40]) { run in
      run < 20 ? 1 : run < 40 ? 1.05 : end
    }
  }

  /// A linear rise after a number of level runs, with or without a step within it.
  private static func creep(
    _ percent: Double,
    after level: Int,
    step: Double = 0,
    _ noise: Noise
  ) -> SyntheticHistory {
    let name = "\(level) level, creep \(percent) % a run" + (step > 0 ? ", +\(text(step)) % after 40" : "")
    return SyntheticHistory("\(name): \(noise.name)", noise, steps: step > 0 ? [40] : []) { run in
      1 + percent / 100 * Double(max(0, run - level)) + (run < 40 ? 0 : step / 100)
    }
  }

  /// A rise in the middle, and single runs that are 20 % higher, up to a few runs before it.
  private static func badRuns(_ count: Int, before distance: Int, _ noise: Noise) -> SyntheticHistory {
    let bad = runs / 2 - distance - count + 1...runs / 2 - distance
    let name = "+5 %, 30 runs on, \(count) bad up to \(distance) before it: \(noise.name)"
    return SyntheticHistory(name, noise, steps: [runs / 2]) { run in
      bad.contains(run) ? 1.2 : run < runs / 2 ? 1 : 1.05
    }
  }

  /// Two levels by turns, each for a number of runs.
  private static func turns(_ length: Int, _ noise: Noise) -> SyntheticHistory {
    SyntheticHistory("+5 % and back every \(length) runs: \(noise.name)", noise) { run in
      run / length % 2 == 0 ? 1 : 1.05
    }
  }

  /// All rows of the table.
  static let all: [SyntheticHistory] = levels + flips + steps + creeps

  private static let levels: [SyntheticHistory] = {
    let shapes: [Noise] = [.bimodal(0.5), .bimodal(0.2), .outliers, .heavyTailed, .pages]
    return ([0.5, 1, 2, 4].map(Noise.normal) + shapes + [0.5, 0.8, 0.9].map(Noise.wandering)).map(level)
  }()

  private static let flips = [6, 12].map { turns($0, .normal(0.5)) }

  private static let steps: [SyntheticHistory] =
    quiet.flatMap { noise in [1, 2, 3, 5, 12, 30].map { step(5, age: $0, noise) } }
    + quiet.map { step(2, age: 12, $0) }
    + quiet.flatMap { [twoSteps("+5 %, taken back", to: 1, $0), twoSteps("+5 % twice", to: 1.1, $0)] }
    + [0.5, 0.8].map { step(5, age: 30, .wandering($0)) }
    + [badRuns(1, before: 5, .normal(0.5)), badRuns(1, before: 3, .normal(0.5)), badRuns(3, before: 4, .normal(0.5))]

  private static let creeps: [SyntheticHistory] =
    quiet.flatMap { noise in
      [0.1, 0.3].flatMap { percent in [0, 20].map { creep(percent, after: $0, noise) } }
    } + [0.1, 0.3].map { creep($0, after: 0, step: 5, .normal(0.5)) }

  private static let quiet = [0.5, 1, 2].map(Noise.normal)
}

/// Steps in histories that are found, missed, or false.
package enum ChangePointTables {
  static let trials = 1000

  /// The number of series of a history that had steps, and their locations.
  private struct Count {
    var flagged = 0
    /// All true steps were found, at most this many runs from their true index.
    var located = [0, 1, 3].map { (within: $0, count: 0) }
    /// A step more than three runs from any true step.
    var elsewhere = 0
    var creep = 0

    mutating func add(_ values: [Double], steps: [Int], tolerance: Double) {
      let analysis = SeriesAnalysis(of: values) { tolerance * $0 }
      let points = analysis.steps
      func isFound(_ step: Int, within runs: Int) -> Bool { points.contains { abs($0.index - step) <= runs } }
      for place in located.indices where steps.allSatisfy({ isFound($0, within: located[place].within) }) {
        located[place].count += 1
      }
      if !points.isEmpty { flagged += 1 }
      if points.contains(where: { point in !steps.contains { abs($0 - point.index) <= 3 } }) { elsewhere += 1 }
      let creeps = Drift(analysis.withoutSteps(values), tolerance: { tolerance * $0 }) != nil
      if creeps { creep += 1 }
    }
  }

  /// A row of the table.
  package static func row(_ history: SyntheticHistory) -> [String] {
    var chance = Chance(for: "steps, \(history.name)")
    var (none, standard, previous) = (Count(), Count(), 0)
    for _ in 0..<trials {
      let values = history.values(&chance)
      none.add(values, steps: history.steps, tolerance: 0)
      standard.add(values, steps: history.steps, tolerance: 0.03)
      if zip(values, values.dropFirst()).contains(where: { $1 > 1.05 * $0 }) { previous += 1 }
    }
    func percent(_ count: Int) -> String { number(100 * Double(count) / Double(trials)) }
    let cells = [none, standard].flatMap { count in
      let located = history.steps.isEmpty ? ["", "", ""] : count.located.map { percent($0.count) }
      return [percent(count.flagged)] + located + [percent(count.elsewhere)]
    }
    return [history.name] + cells + [percent(standard.creep), percent(previous)]
  }

  static func section() -> [String] {
    let columns = ["steps", "exactly", "±1", "±3", "elsewhere"]
    var table = MarkdownTable(
      ["history"] + ["none", "3 %"].flatMap { tolerance in columns.map { "\(tolerance): \($0)" } }
        + ["3 %: creep", "previous run +5 %"]
    )
    for history in SyntheticHistory.all { table.add(row(history)) }
    return [
      "", "## I. Steps in a history", "",
      "\(trials) histories of \(SyntheticHistory.runs) runs for each row, one value a run, with no tolerance and with one of "
        + "3 %: in % of the histories, whether there are steps at all, whether all true ones were found where they are, "
        + "and whether there was one more than three runs away from any true one. Then in how many the values crept up "
        + "beside the steps that were found, and in how many any run was 5 % above the one before it, which is the rule of "
        + "other gates.", "",
      "A step counts from its third run on: one or two high runs may be outliers. Up to three bad runs between runs of one "
        + "level are outliers, and levels by turns are those of one program from the fourth change on. Where runs depend on "
        + "each other (wandering), a step must explain more than that. A rise that the noise hides over a dozen runs can "
        + "look like a step, and a step like such a rise: that is what the rows at CV 2 % cost.", "",
    ] + table.lines
  }
}
