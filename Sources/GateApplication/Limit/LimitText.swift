import GateCore

extension LimitedRun {
  /// What happened, as in `killed by the kernel (out of memory)`.
  var outcomeText: String {
    switch outcome {
    case .survived: "survives"
    case .killed: "killed by the kernel (out of memory)"
    case .failed(let failure): failure.shortText
    case .unlimited(let held):
      "it held \(Format.amount(held)), so the limit did not apply: it left its cgroup, or raised the limit"
    case .stalled(let time): "too slow, stopped after \(Format.time(time))"
    }
  }

  var timeText: String { "the run took \(Format.time(duration))" }

  /// What the kernel counted, as in `hit the limit 4211 times; 960 pages of files read again`; nil without a limit hit.
  var evidenceText: String? {
    if case .killed(let end) = outcome { return end.proofText.map { "evidence: \($0)" } }
    guard let hits = usage?.limitHits, hits > 0 else { return nil }
    let pages = usage?.refaults ?? 0
    let again = pages > 0 ? "; \(Format.count(Int(pages), "page")) of files thrown out and read again" : ""
    return "hit the limit \(Format.count(Int(hits), "time"))\(again)"
  }
}

extension Failure {
  /// The end of the target, or else the step that failed.
  fileprivate var shortText: String {
    if let end, case .unexpectedEnd = problem { return end.displayText }
    return [part?.displayText, problemText].compactMap(\.self).joined(separator: ": ")
  }
}

extension MemoryLimiting.Swap {
  /// As in `without swap: the machine has none`.
  var displayText: String {
    switch self {
    case .none: "without swap: the machine has none"
    case .forbidden: "without swap: the limit leaves none"
    case .possible: "the target may have swapped: this kernel does not count swap by cgroup"
    }
  }
}
