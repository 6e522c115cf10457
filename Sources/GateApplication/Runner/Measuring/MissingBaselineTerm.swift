import FoundationEssentials
import GateCore

/// For how long `--allow-missing-baseline` skips a scenario that has no baseline in any environment.
struct MissingBaselineTerm {
  /// Enough for a review and a first approval; without an end nobody would notice that the gate is off.
  private static let length: TimeInterval = 14 * 86_400

  let project: Project
  let now: Date

  func reference(for scenario: ScenarioName) -> Reference {
    // A matrix adds its values to the name in the file.
    let name = String(scenario.text.prefix { $0 != "[" })
    switch GitQuery.firstCommit(naming: name, in: [project.file] + project.includes, of: project.root) {
    case .missing: return .missingOfNew(until: nil)
    case .unknown: return .missingTooLong(since: nil)
    // A commit may have any date; clocks differ by less than a day.
    case .at(let date) where date > now.addingTimeInterval(86_400): return .missingTooLong(since: nil)
    case .at(let date):
      let end = date.addingTimeInterval(Self.length)
      return now < end ? .missingOfNew(until: end) : .missingTooLong(since: date)
    }
  }
}
