/// The result of a comparison.
package enum Verdict: String, Sendable, CaseIterable, Codable {
  case pass, improved, regression, failed, inconclusive
  case noBaseline = "no-baseline"
  case skipped
}

/// The exit codes of the command line (README.md).
package enum ExitCode: Int32, Sendable, CaseIterable {
  case pass = 0
  case regression = 1
  case usage = 2
  case failed = 3
  case inconclusive = 4
  case noBaseline = 5
  case delivery = 6
  case interrupted = 130
  case terminated = 143

  /// The name on the summary's last line.
  package var name: String {
    switch self {
    case .pass: "pass"
    case .regression: "regression"
    case .usage: "usage"
    case .failed: "failed"
    case .inconclusive: "inconclusive"
    case .noBaseline: "no-baseline"
    case .delivery: "delivery"
    case .interrupted, .terminated: "interrupted"
    }
  }
}

extension Verdict {
  /// The first of these that any scenario has is the verdict of the run (README.md).
  package static let precedence: [Verdict] = [
    .regression, .failed, .noBaseline, .inconclusive, .improved, .pass, .skipped,
  ]

  /// The first of the verdicts in order of ``precedence``; nil if there are none.
  package static func combined(_ verdicts: some Sequence<Verdict>) -> Verdict? {
    let seen = Set(verdicts)
    return precedence.first(where: seen.contains)
  }

  /// The one of both that comes first in order of ``precedence``.
  func combined(with other: Verdict) -> Verdict {
    Self.combined([self, other]) ?? self
  }

  /// Whether a check with it does not pass.
  package var isProblem: Bool { exitCode != .pass }

  package var exitCode: ExitCode {
    switch self {
    case .pass, .improved, .skipped: .pass
    case .regression: .regression
    case .failed: .failed
    case .inconclusive: .inconclusive
    case .noBaseline: .noBaseline
    }
  }
}

extension Failure {
  /// The verdict of a scenario that failed in this way.
  var verdict: Verdict { isInconclusive ? .inconclusive : .failed }
}
