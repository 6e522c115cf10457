package import GateCore
import Statistics

/// Highwater's defaults, read from its own code.
package enum Defaults {
  /// The number of comparisons for each row of the tables.
  package static let trials = 2000

  /// A tolerance as a team would write it.
  ///
  /// The tables that test the statistics use it, since `auto` follows the noise.
  package static let written = Tolerance.bounds(relative: Percent(3), absolute: .kibibytes(512))

  package static var repetitions: Repetitions { scenario.repetitions }

  /// The number of values of a first baseline.
  package static var baseline: Int { repetitions.countForBaseline }

  /// The maximum number of values for any rule of the tables.
  package static let most = 20

  private static var scenario: Scenario {
    Scenario(name: ScenarioName("any"), target: Target(command: .arguments(["true"]), workingDirectory: "."))
  }

  /// The defaults as text; if one of them changes, the tables are out of date.
  package static var lines: [String] {
    let plan = repetitions.plan
    let looks = plan.looks.map { count in
      "\(count) at \(Decimals.text(plan.alpha(at: count, against: baseline), places: 4))"
    }
    let levels = [2e6, 20e6, 2e9].map { level in
      let values = [Double](repeating: level, count: baseline)
      let allowed = [Tolerance.automatic, written].map { Bytes(Int64($0.allowed(above: values, of: .peakRSS))) }
      return "| \(text(level / 1e6)) MB | \(allowed.map(\.description).joined(separator: " | ")) |"
    }
    let rules = Gate.standard.rules.map { "`\($0.metric)` at \(words($0.tolerance))" }
    return [
      "- Judged where no gate is configured: \(rules.joined(separator: "; ")).",
      "- Repetitions of a baseline: \(baseline). Of a check: looks at \(looks.joined(separator: ", ")) "
        + "(the chance of a false alarm that each may take against \(baseline) values; "
        + "\(Decimals.text(100 * RepetitionPlan.falseAlarms, places: 0)) % in all).",
      "",
      "| level | `auto`, where all values are equal | `[3%, 512KiB]` |",
      "| ---: | ---: | ---: |",
    ] + levels
  }

  private static func words(_ tolerance: Tolerance?) -> String {
    switch tolerance {
    case .bounds(let relative, let absolute):
      "\(text(relative?.value ?? 0)) %, at least \(absolute?.description ?? "0 B")"
    case .automatic, nil: "`auto`"
    }
  }
}
