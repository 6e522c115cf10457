import GateCore

/// Results with exact values, as the traced method gives them.
extension Fixture {
  static let tracedEnvironment: EnvironmentInfo = {
    var fingerprint = environment.fingerprint
    fingerprint.measurement = MeasurementMethod.tracedInCgroup.rawValue
    return EnvironmentInfo(
      name: fingerprint.derivedName(), fingerprint: fingerprint,
      counters: CounterCheck(bound: .kibibytes(248), difference: .zero)
    )
  }()

  static let spike = RepetitionResult.Spike(
    height: .mebibytes(30), after: .milliseconds(812), before: .milliseconds(822), phase: "load", isBusy: true
  )

  /// A server and its workers, one of which crashed.
  static func processes(_ count: Int, exact: Bool = true) -> [ProcessRecord] {
    (0..<count).map { index in
      let isMain = index == 0
      var record = ProcessRecord(
        id: Int32(4000 + index), parent: isMain ? 3999 : 4000, command: isMain ? "server" : "worker", isMain: isMain,
        peak: .mebibytes(isMain ? 28 : Int64(40 - index)), firstSeen: .milliseconds(index * 20),
        lastSeen: .milliseconds(1190), isExact: exact
      )
      let endings: [EndEvidence.Status?] = [.exited(code: 0), .signaled(signal: .segv, coreDumped: true), nil]
      if exact { record.ending = index < endings.count ? endings[index] : .exited(code: 0) }
      return record
    }
  }

  /// The scenario as if it had been traced in its own cgroup.
  static func traced(_ scenario: ScenarioResult, processes count: Int = 3) -> ScenarioResult {
    var scenario = scenario
    scenario.environment = tracedEnvironment
    for index in scenario.repetitions.indices {
      scenario.repetitions[index].treeMethod = .cgroup
      scenario.repetitions[index].processes = count
      scenario.repetitions[index].largestProcesses = Array(processes(count).prefix(RepetitionResult.mostProcesses))
      scenario.repetitions[index].widestGap = .microseconds(12_300)
    }
    return scenario
  }

  /// A higher spike, a larger tree and more page faults than the baseline.
  static var spiking: ScenarioResult {
    var scenario = scenario(
      "resize-images", .regression,
      metrics: [
        metric(.peakRSS, from: 52_428_800, to: 52_428_800),
        metric(.spike, .regression, from: 1_048_576, to: 31_457_280),
        metric(.treePeak, .regression, from: 83_886_080, to: 104_857_600),
        metric(.faultRate, .regression, from: 4_194_304, to: 12_897_485, unit: "bytes/second"),
      ],
      repetitions: repetitions(peak: 52_428_800, steady: 20_971_520)
    )
    for index in scenario.repetitions.indices {
      scenario.repetitions[index].metrics[.spike] = 31_457_280
      scenario.repetitions[index].metrics[.faultRate] = 12_897_485
      scenario.repetitions[index].spike = spike
    }
    scenario.repetitions[1].spike?.height = .mebibytes(29)
    let before = Composition(
      anonymous: Bytes(19_000_000), file: Bytes(4_000_000), shared: .zero, heap: Bytes(12_000_000), hugePages: .zero,
      libraries: [
        .init(name: "libc.so.6", resident: .kibibytes(1800)), .init(name: "libgif.so.7", resident: .kibibytes(960)),
        .init(name: "resize", resident: .kibibytes(900)),
      ]
    )
    scenario.reference = ReferenceInfo(composition: before)
    scenario.composition = Composition(
      anonymous: Bytes(25_291_456), file: Bytes(6_097_152), shared: .zero, heap: Bytes(12_000_000),
      hugePages: .mebibytes(6),
      libraries: [
        .init(name: "libc.so.6", resident: .kibibytes(1800)), .init(name: "libjpeg.so.62", resident: .mebibytes(2)),
        .init(name: "resize", resident: .kibibytes(904)), .init(name: "tiny.so", resident: .kibibytes(4)),
      ]
    )
    return traced(scenario)
  }

  static var outOfMemory: ScenarioResult {
    let end = End(
      .oom, signal: .kill, proof: .ownCgroup(kills: .init(before: 0, after: 1), limit: .mebibytes(100)),
      cause: .memoryLimit(limit: .own(limit: .mebibytes(100))), oomKills: 1)
    return traced(
      scenario(
        "import", .failed, repetitions: repetitions(peak: 104_000_000, count: 1, end: end),
        failure: failure(of: end, output: "reading rows\n")
      ))
  }

  static func refusedPtrace(_ output: String) -> ScenarioResult {
    let end = End(.exited, code: 23)
    return traced(
      scenario(
        "unit-tests", .failed, repetitions: repetitions(peak: 8_000_000, count: 1, end: end),
        failure: failure(of: end, output: output)
      ), processes: 1)
  }

  /// Scenarios of two methods on a machine that has a note for all of them.
  static var warnedOfMachine: [ScenarioResult] {
    var scenarios = [
      passing("debugger"), traced(passing("redis-load")), traced(spiking), traced(passing("json-parse")),
    ]
    for index in scenarios.indices { scenarios[index].notes = [.machine(note: .swapInUse(used: .mebibytes(64)))] }
    scenarios[0].notes.append(.otherProgram(baseline: "sh", current: "worker"))
    let changed = Note.environmentChanged(differences: [.init(field: .swap, baseline: "off", current: "on")])
    for index in [1, 2] { scenarios[index].notes.append(changed) }
    scenarios[2].notes.append(.tooFewValues(current: 3, baseline: 5))
    return scenarios
  }
}
