import GateCore

/// Searches for memory limits as JSON (`highwater.limit/1`), for other programs; not read by this one.
enum LimitFile {
  /// The answers with every run, each with a text.
  static func encode(
    _ result: LimitResult, words: FileWords, text: (LimitedRun) -> String
  ) -> [UInt8] {
    StudyDocument(
      run: result.run, verdict: result.verdict, scenarios: result.studies.map { Study($0, words, text) }
    ).encoded(as: .limit)
  }
}

/// Sizes are in bytes.
private struct Study: Encodable {
  struct Usual: Encodable {
    let durationsSeconds: [Double]
    let treePeak: Bytes
    let cgroupPeak: Bytes?
  }

  struct Advice: Encodable {
    let request: Bytes
    let limit: Bytes
  }

  let name: ScenarioName
  let environment: EnvironmentInfo
  let outcome: LimitStudy.Outcome
  let needs: Bytes?
  let fullSpeedFrom: Bytes?
  let failsAt: Bytes?
  let alsoPassesAt: Bytes?
  let advice: Advice?
  let memoryLimit: Bytes?
  let swap: MemoryLimiting.Swap?
  let runs: Int
  let durationSeconds: Double
  let usual: Usual?
  let levels: [Level]
  let failure: Worded<Failure>?

  init(_ study: LimitStudy, _ words: FileWords, _ text: (LimitedRun) -> String) {
    let search = study.search
    (name, environment, outcome, memoryLimit) = (study.name, study.environment, study.outcome, study.ownLimit)
    (needs, fullSpeedFrom, failsAt) = (search?.need, search?.fullSpeed, search?.highestDeath)
    alsoPassesAt = search?.survivorBelowDeath
    advice = search?.advice.map { Advice(request: $0.request, limit: $0.limit) }
    (swap, runs, durationSeconds) = (search?.machine.swap, study.runCount, study.duration.inSeconds)
    usual = search.map { search in
      Usual(
        durationsSeconds: search.usual.durations.map(\.inSeconds), treePeak: search.usual.treePeak,
        cgroupPeak: search.usual.peak)
    }
    levels = search.map { search in search.triedLevels.map { Level($0, in: search, text) } } ?? []
    failure = study.failure.map { Worded(value: $0, text: words.failure($0)) }
  }
}

private struct Level: Encodable {
  struct Run: Encodable {
    let text: String
    let durationSeconds: Double
    let cgroupPeak: Bytes?
    let limitHits: Int64?
    let refaults: Int64?
  }

  let limit: Bytes
  let outcome: LimitSearch.LevelOutcome
  let runs: [Run]

  init(_ level: Bytes, in search: LimitSearch, _ text: (LimitedRun) -> String) {
    (limit, outcome) = (level, search.outcome(at: level))
    runs = search.runs(at: level).map { run in
      Run(
        text: text(run), durationSeconds: run.duration.inSeconds, cgroupPeak: run.usage?.peak,
        limitHits: run.usage?.limitHits, refaults: run.usage?.refaults)
    }
  }
}
