import FoundationEssentials
package import GateCore

/// The repetitions of an unchanged service, which answers requests.
package struct RecordedService: Decodable {
  package let name: String
  package let kernel: String
  package let cpus: Int
  package let startedAt: String
  package let repetitions: [RepetitionResult]

  /// All services in a folder, by name.
  package static func all(in folder: String) throws -> [RecordedService] {
    try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".json") }.sorted().map { name in
      let data = try Data(contentsOf: URL(filePath: "\(folder)/\(name)"))
      return try JSONDecoder().decode(RecordedService.self, from: data)
    }
  }
}

/// Self-comparisons of services from their recordings, with the standard gate.
package enum ServiceTables {
  /// A baseline from each repetition on, and a check right after it; at the end of the series it begins again.
  package static func results(of service: RecordedService) -> [ScenarioResult] {
    service.repetitions.indices.map { start in
      var index = start
      func next() -> RepetitionResult {
        defer { index += 1 }
        return service.repetitions[index % service.repetitions.count]
      }
      let replay = Replay(gate: .standard, repetitions: Defaults.repetitions, growthIsPerIteration: true)
      return replay.result(against: replay.newBaseline(measuring: next), measuring: next)
    }
  }

  static func section(_ all: [RecordedService]) -> [String] {
    guard let first = all.first else { return [] }
    var table = MarkdownTable(
      ["service and requests", "regression", "improved", "pass", "inconclusive", "mean runs", "not passed"])
    var sum = Tally()
    for service in all {
      var tally = Tally()
      var metrics: [String: Int] = [:]
      for result in results(of: service) {
        tally.add(result)
        for metric in result.metrics where metric.verdict != .pass { metrics["\(metric.metric)", default: 0] += 1 }
      }
      sum = sum + tally
      let counts = [Verdict.regression, .improved, .pass, .inconclusive].map { "\(tally.count(of: $0))" }
      let words = metrics.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
      table.add([service.name] + counts + [number(tally.meanRuns), words])
    }
    return [
      "", "## J. Services, recorded", "",
      "\(all.count) services, \(first.repetitions.count) repetitions of each (Linux \(first.kernel), \(first.cpus) CPUs, "
        + "\(first.startedAt)), with the whole standard gate, growth per iteration included: a baseline from each repetition "
        + "on, and the check right after it; at the end the series begins again. \(sum.count) comparisons in all, "
        + "\(sum.count(of: .regression)) regressions (\(number(sum.percent(.regression), places: 2)) %), "
        + "\(sum.count(of: .inconclusive)) inconclusive (\(number(sum.percent(.inconclusive), places: 2)) %), "
        + "\(number(sum.meanRuns)) repetitions in the mean.", "",
    ] + table.lines
  }
}
