import FoundationEssentials
import GateCore

/// Replays the gate's rules over simulated and recorded data, and writes what came of it.
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

/// The whole of RESULTS.md.
enum Report {
  static func lines(_ series: [RecordedSeries]) -> [String] {
    [
      "# Calibration", "",
      "Written by `ci/calibrate`, which replays the gate's own rules over simulated and recorded values with fixed seeds: "
        + "each run writes the same bytes. What takes part is named in the tables; how real programs fare when they are run "
        + "again is in [REAL.md](REAL.md).", "",
      "## The defaults that these tables are of", "",
    ] + Defaults.lines + [""] + FalseAlarms.section() + DetectionTables.section() + LeakTables.section()
      + AutomaticTables.section() + SightTables.section() + RecordedTables.section(series) + CreepTables.section()
      + ChangePointTables.section()
  }
}
