import FoundationEssentials
import GateCore

/// Applies Highwater's rules to simulated and recorded values, and writes the results to a file; if sections are named by
/// their letters, it prints only these.
@main
struct Calibrate {
  static func main() throws {
    let folder = CommandLine.arguments.dropFirst().first ?? "ci/calibrate.d"
    let letters = CommandLine.arguments.dropFirst(2)
    let report = Report(
      series: try RecordedSeries.all(in: "\(folder)/recorded"),
      services: try RecordedService.all(in: "\(folder)/recorded-services"))
    guard letters.isEmpty else {
      for (letter, lines) in report.sections where letters.contains(letter) {
        print(lines().joined(separator: "\n"))
      }
      return
    }
    let text = report.lines.joined(separator: "\n") + "\n"
    try Data(text.utf8).write(to: URL(filePath: "\(folder)/RESULTS.md"), options: .atomic)
    print("wrote \(folder)/RESULTS.md")
    for line in Cost.lines() { print(line) }
  }
}

/// The text of RESULTS.md.
struct Report {
  let series: [RecordedSeries]
  let services: [RecordedService]

  var lines: [String] {
    [
      "# Calibration", "",
      "Written by `ci/calibrate`, which applies Highwater's rules to simulated and recorded values with fixed seeds: "
        + "each run writes the same bytes. Results of real programs that were measured again are in [REAL.md](REAL.md).",
      "",
      "## Defaults", "",
    ] + Defaults.lines + [""] + sections.flatMap { $0.lines() }
  }

  /// By their letters, C with B; each starts with an empty line, apart from the first.
  var sections: [(letter: String, lines: () -> [String])] {
    [
      ("A", FalseAlarms.section), ("B", DetectionTables.section), ("D", LeakTables.section),
      ("E", AutomaticTables.section), ("F", DetectableChangeTables.section),
      ("G", { RecordedTables.section(series) }), ("H", CreepTables.section), ("I", ChangePointTables.section),
      ("J", { ServiceTables.section(services) }), ("K", ApprovalTables.section),
    ]
  }
}
