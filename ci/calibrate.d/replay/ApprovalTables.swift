import FoundationEssentials
import GateCore
import Statistics

/// Checks of unchanged programs after approvals: how often they are wrong.
package enum ApprovalTables {
  /// Approvals of rises and falls by 10 %.
  package enum Kind: Sendable {
    /// Each expects what the last one has approved.
    case following(Int)
    /// Of branches that leave one commit.
    case parallel(Int)

    fileprivate var words: String {
      switch self {
      case .following(0): "none"
      case .following(let count): "\(count) following"
      case .parallel(let count): "\(count) parallel"
      }
    }

    fileprivate var count: Int {
      switch self {
      case .following(let count), .parallel(let count): count
      }
    }

    /// Histories of many approvals take long.
    fileprivate var trials: Int { count < 10 ? Defaults.trials : Defaults.trials / 4 }
  }

  private static let kinds: [Kind] = [
    .following(0), .following(1), .following(10), .parallel(2), .parallel(3), .parallel(10), .parallel(50),
  ]

  static func section() -> [String] {
    var table = MarkdownTable([
      "CV %", "approvals", "regression %", "improved %", "inconclusive %", "off by %", "new baselines %", "repetitions",
      "with those of a check: regression %",
    ])
    for percent in [0.1, 0.5, 1, 2] {
      for kind in kinds { table.add(row(percent, kind)) }
    }
    return [
      "", "## K. Approvals", "",
      "A check of an unchanged program with normal noise at `auto`, after approvals of rises and falls by 10 % in turn, "
        + "with the rules of `check` and `approve`. `off by` is how far the expected median is from the true one in 95 of 100 "
        + "histories, `new baselines` are approvals that are not a change, since the values are too noisy, and "
        + "`repetitions` is the mean number that is approved. The last column is for approvals of as many repetitions as the "
        + "check needs for its verdict.", "",
    ] + table.lines
  }

  package static func row(_ percent: Double, _ kind: Kind) -> [String] {
    let rules = outcomes(percent, kind, completes: true)
    let (approvals, errors) = (rules.map(\.approvals).reduce(0, +), rules.map(\.error).sorted())
    func share(_ count: Int) -> Double { 100 * Double(count) / Double(max(1, approvals)) }
    let (tally, asChecked) = (Self.tally(of: rules), Self.tally(of: outcomes(percent, kind, completes: false)))
    return [
      text(percent), kind.words, number(tally.percent(.regression), places: 2),
      number(tally.percent(.improved), places: 2), number(tally.percent(.inconclusive), places: 2),
      number(100 * errors[errors.count * 95 / 100], places: 2), number(share(rules.map(\.newBaselines).reduce(0, +))),
      number(share(rules.map(\.repetitions).reduce(0, +)) / 100),
      number(asChecked.percent(.regression), places: 2),
    ]
  }

  private static func tally(of programs: [ApprovedProgram]) -> Tally {
    programs.reduce(into: Tally()) { tally, program in
      if let check = program.lastCheck { tally.add(check) }
    }
  }

  private static func outcomes(_ percent: Double, _ kind: Kind, completes: Bool) -> [ApprovedProgram] {
    var chance = Chance(for: "approvals, \(percent), \(kind.words)")
    return (0..<kind.trials).map { _ in
      var program = ApprovedProgram(percent: percent, completes: completes, chance)
      for number in 0..<kind.count { program.approve(number, kind) }
      program.checkUnchanged()
      chance = program.chance
      return program
    }
  }
}

/// A program whose changes are approved.
private struct ApprovedProgram {
  private static let replay = Replay(tolerance: .automatic)
  private static let start = 58.4e6

  private let percent: Double
  /// Whether an approval has as many repetitions as the rules ask for.
  private let completes: Bool
  private(set) var chance: Chance
  private(set) var lastCheck: ScenarioResult?
  private(set) var approvals = 0
  private(set) var newBaselines = 0
  private(set) var repetitions = 0

  private var baseline: Baseline
  private var changes: [BaselineChange] = []
  private var level = start
  private var expected: Baseline { baseline.expecting(changes) }

  init(percent: Double, completes: Bool, _ chance: Chance) {
    var random = chance
    (self.percent, self.completes) = (percent, completes)
    baseline = Self.replay.newBaseline { Self.repetition(at: Self.start, percent, &random) }
    self.chance = random
  }

  /// How far the expected median is from the true one, as a share of that.
  var error: Double { abs((expected.medians[.peakRSS] ?? 0) - level) / level }

  private static func repetition(at level: Double, _ percent: Double, _ chance: inout Chance) -> RepetitionResult {
    Replay.repetition([.peakRSS: (level * (1 + percent / 100 * chance.normal()) / 4096).rounded() * 4096])
  }

  /// Approves a change of the program, if its check asks for that.
  mutating func approve(_ number: Int, _ kind: ApprovalTables.Kind) {
    let change = (number.isMultiple(of: 2) ? 0.1 : -0.1) * Self.start
    var (before, from) = (expected, level)
    if case .parallel = kind { (before, from) = (baseline, Self.start) }
    let result = check(at: from + change, against: before, completes: completes)
    guard [.regression, .improved].contains(result.verdict) else { return }
    approvals += 1
    repetitions += result.repetitions.count
    let approval = Approval(
      at: Date(timeIntervalSince1970: Double(number)), by: "", commit: nil, reason: nil, run: "\(number)")
    let measured = Baseline(of: result, approval: approval)
    if let moved = BaselineChange(from: before, to: measured, gate: Self.replay.gate) {
      changes.append(moved)
    } else {
      newBaselines += 1
      // A second new baseline would conflict, and is not merged.
      if case .parallel = kind { return }
      (baseline, changes) = (measured, [])
    }
    level += change
  }

  mutating func checkUnchanged() { lastCheck = check(at: level, against: expected, completes: false) }

  private mutating func check(at level: Double, against baseline: Baseline, completes: Bool) -> ScenarioResult {
    var chance = chance
    defer { self.chance = chance }
    return Self.replay.result(against: baseline, forApproval: completes) { [percent] in
      Self.repetition(at: level, percent, &chance)
    }
  }
}
