import GateCore
import Glibc
import Synchronization
import Testing

@testable import GateApplication

@Suite("Scenarios side by side")
struct SideBySideTests {
  /// The names of the scenarios that are measured at one time, for each start of a target.
  private final class Company: Sendable {
    private let state = Mutex((active: Set<String>(), seen: [Set<String>]()))

    /// Stays until `count` scenarios have been active at one time, or for ten seconds.
    func join(_ name: ScenarioName, until count: Int) {
      state.withLock { state in
        state.active.insert(name.text)
        state.seen.append(state.active)
      }
      let end = ContinuousClock.now + .seconds(10)
      while mostAtOneTime < count, ContinuousClock.now < end { usleep(1000) }
    }

    func leave(_ name: ScenarioName) { state.withLock { _ = $0.active.remove(name.text) } }

    var seen: [Set<String>] { state.withLock { $0.seen } }
    var mostAtOneTime: Int { seen.map(\.count).max() ?? 0 }
  }

  private func project(_ keys: String, scenarios: [String: String]) throws -> UseCaseProject {
    let list = scenarios.sorted { $0.key < $1.key }.map { name, keys in
      "  - {name: \(name), target: {command: [\(name)]}, repetitions: 1, warmup: 0, gate: {peak_rss: 3%}\(keys)}"
    }
    return try UseCaseProject(
      "version: 1\nhistory: off\n\(keys)\nscenarios:\n\(list.joined(separator: "\n"))\n", holding: 20)
  }

  @Test("As many as `jobs` allows are measured at one time, exclusive ones alone and last; results keep their order")
  func jobs() throws {
    let company = Company()
    let project = try project(
      "jobs: 2", scenarios: ["a": ", exclusive: true", "b": "", "c": "", "d": "", "e": ""])
    project.measurer.follow { scenario, _ in
      company.join(scenario.name, until: 2)
      defer { company.leave(scenario.name) }
      return .holding(20)
    }
    let outcome = try project.check { $0.allowsMissingBaseline = true }
    #expect(outcome.code == .pass, "\(outcome.text)")
    #expect(company.mostAtOneTime == 2)
    #expect(company.seen.last == ["a"])
    let scenarios = try #require(project.result()["scenarios"] as? [[String: Any]])
    #expect(scenarios.map { $0["name"] as? String } == ["a", "b", "c", "d", "e"])
  }

  @Test("The option has precedence, and an interruption ends all")
  func interruption() throws {
    let company = Company()
    let project = try project("jobs: 2", scenarios: ["a": "", "b": "", "c": "", "d": ""])
    project.measurer.follow { scenario, _ in
      company.join(scenario.name, until: 3)
      return nil
    }
    let outcome = try project.check { $0.jobs = 3 }
    #expect(outcome.code == .interrupted)
    #expect(company.seen.count == 3)
    #expect(!project.exists(".highwater/result.json"))
  }
}
