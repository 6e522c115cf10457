import FoundationEssentials
import GateCore

/// Applies Highwater's rules to simulated and recorded values, and writes the results to a file.
@main
struct Calibrate {
  static func main() throws {
    let folder = CommandLine.arguments.dropFirst().first ?? "ci/calibrate.d"
    let series = try RecordedSeries.all(in: "\(folder)/recorded")
    let text = Report.lines(series).joined(separator: "\n") + "\n"
    try Data(text.utf8).write(to: URL(filePath: "\(folder)/RESULTS.md"), options: .atomic)
    print("wrote \(folder)/RESULTS.md")
    for line in Cost.lines() { print(line) }
  }
}

/// The text of RESULTS.md.
enum Report {
  static func lines(_ series: [RecordedSeries]) -> [String] {
    [
      "# Calibration", "",
      "Written by `ci/calibrate`, which applies Highwater's rules to simulated and recorded values with fixed seeds: "
        + "each run writes the same bytes. Results of real programs that were measured again are in [REAL.md](REAL.md).",
      "",
      "## Defaults", "",
    ] + Defaults.lines + [""] + FalseAlarms.section() + DetectionTables.section() + LeakTables.section()
      + AutomaticTables.section() + DetectableChangeTables.section() + RecordedTables.section(series)
      + CreepTables.section()
      + ChangePointTables.section()
  }
}
