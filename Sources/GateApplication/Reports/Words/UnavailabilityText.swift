import GateCore

extension Unavailability {
  /// The cause and the remedy, as a clause about the metric.
  func text(for metric: MetricName) -> String {
    switch self {
    case .noPhaseStarted: "no phase was started"
    case .phaseNotStarted(let started):
      "the phase `\(metric.inPhase?.phase ?? metric.text)` was never started, only \(started.displayText)"
    case .phaseSeldomStarted(let count, let total): "the phase was started \(Self.inFew(count, total))"
    case .phaseSeldomRead(let count, let total):
      "memory was read during the phase \(Self.inFew(count, total)); \(Self.phaseRemedy)"
    case .phaseSeldomSteady(let count, let total):
      "resident memory became steady during the phase \(Self.inFew(count, total)); \(Self.phaseRemedy)"
    case .notReported(0, _): "the target did not report it (`value \(metric.reportedName) NUMBER UNIT`)"
    case .notReported(let count, let total):
      "the target reported it (`value \(metric.reportedName) NUMBER UNIT`) \(Self.inFew(count, total))"
    case .otherValuesReported(let reported):
      "the target did not report `\(metric.reportedName)`, only \(reported.displayText)"
    case .tooFewReadings:
      WholeRunMetric(rawValue: metric.text).flatMap { MetricWords(of: $0, treeMethod: "").unread } ?? MetricWords.unread
    case .iterationsTooFast:
      "the iterations were too short for their levels to be read; do more work in each iteration"
    case .noLoad: "it is measured from the first `phase` or the first turn of a `repeat`, and there was neither"
    case .seldomSteady(let count, let total):
      "resident memory became steady \(Self.inFew(count, total)); \(Self.remedy)"
    case .neverSteady(.drifting):
      (Steadiness.drifting.displayText ?? "") + ", as with a leak, or a start that takes longer than the scenario"
    case .neverSteady(let steadiness):
      [steadiness.displayText, Self.remedy].compactMap(\.self).joined(separator: "; ")
    case .instancesNotCounted(let refusal): refusal?.displayText ?? "only `check` counts instances"
    case .allocationsNotCounted(let refusal): refusal?.displayText ?? "only `check` counts allocations"
    case .noInstances(let others) where others.count == 0: "no instance of `\(metric.reportedName)` was allocated"
    case .noInstances(let others):
      "no instance of `\(metric.reportedName)` was allocated; there were instances of \(others.displayText)"
    }
  }

  private static let remedy = "a longer scenario may help"
  private static let phaseRemedy = "a longer phase may help"

  private static func inFew(_ count: Int, _ total: Int) -> String {
    count == 0 ? "in no repetition" : "in only \(count) of \(total) repetitions"
  }
}

extension AllocationRefusal {
  /// Why allocations were not counted, as a clause.
  var displayText: String {
    switch self {
    case .notLoaded:
      "the program did not load the library that counts: it is fully static, or set-user-ID; link it dynamically"
    case .notLoadedByAll:
      "a program that the target starts did not load the library that counts: it is fully static, set-user-ID, or started "
        + "with an empty environment"
    case .replaced:
      "the program contains its own allocator (a `malloc` in the executable); link the allocator as a library"
    case .failedRepetition: "the scenario failed while its allocations were counted"
    }
  }
}

extension InstanceRefusal {
  /// Why instances were not counted, as a clause.
  var displayText: String {
    switch self {
    case .notLoaded:
      "no process loaded the library that counts: the target is not a Swift program, or it is fully static"
    case .noSymbols:
      "the Swift runtime is linked statically and the program has no symbols; "
        + "keep them, or start `InstanceProfiler` of MemoryMarkers in it"
    case .unknownCode: "this version of the Swift runtime is not known, or another tool has changed it"
    case .protectedMemory: "the system does not allow the program's code to be changed (mprotect(2))"
    case .failedSelfTest: "the Swift runtime did not call the counters"
    case .tooManyProcesses: "the target had more processes than are read; count them in a scenario with fewer"
    case .failedRepetition: "the scenario failed while its instances were counted"
    }
  }
}

extension ReportedNames {
  /// As in ``` `load`, `serve`; did you mean `load`? ```.
  var displayText: String {
    let rest = count > names.count ? " and \(Format.count(count - names.count, "other"))" : ""
    return names.map { "`\($0)`" }.joined(separator: ", ") + rest + (nearest.map { "; did you mean `\($0)`?" } ?? "")
  }
}

extension Steadiness {
  /// Why there is no steady state, as a clause; nil if there is one.
  var displayText: String? {
    switch self {
    case .steady: nil
    case .unsteady: "resident memory never became steady"
    case .drifting: "resident memory rose or fell continuously"
    case .tooShort:
      "there were fewer than \(Steadiness.fewestReadings) readings of it, "
        + "or they cover less than \(Steadiness.shortestTime.displayText)"
    }
  }
}
