import GateCore

/// Something that happened to a scenario between two runs or in one, in words.
struct TrendEvent {
  enum Kind: String {
    case openStep = "open step"
    case step, approval, environment, trouble
  }

  /// The place of its run in the course's entries.
  var entry: Int
  var kind: Kind
  var metric: MetricName?
  var words: String
  /// What a chart says beside its mark.
  var label = ""

  /// In the order of time.
  static func all(of course: ScenarioCourse) -> [TrendEvent] {
    let steps = course.metrics.flatMap { metric in metric.steps.map { TrendEvent($0, of: metric) } }
    let approvals = course.approvals.map { approved in
      TrendEvent(
        entry: approved.entry, kind: .approval, words: "baseline " + PageWords.shown(approved.approval.displayText))
    }
    let changes = course.environmentChanges.map { change in
      TrendEvent(entry: change.entry, kind: .environment, words: change.differences.words)
    }
    let troubles = course.entries.enumerated().flatMap { index, entry in
      entry.failedRepetitions.prefix(3).map { trouble in
        TrendEvent(
          entry: index, kind: .trouble,
          words: "repetition \(trouble.number): \(PageWords.shown(trouble.end.inWords))",
          label: trouble.loop != nil ? "loop" : trouble.end.kind.rawValue)
      }
    }
    return (troubles + changes + approvals + steps).sorted { $0.entry < $1.entry }
  }

  private init(entry: Int, kind: Kind, metric: MetricName? = nil, words: String, label: String = "") {
    (self.entry, self.kind, self.metric, self.words, self.label) = (entry, kind, metric, words, label)
  }

  init(_ step: MetricCourse.Step, of metric: MetricCourse) {
    let name = PageWords.shown(metric.metric.text)
    let size = step.size(unit: metric.unit)
    let levels = [step.before, step.after].map { Format.amount($0, unit: metric.unit) }
    self.init(
      entry: step.entry, kind: step.isOpen ? .openStep : .step, metric: metric.metric,
      words: "\(name) \(size), from \(levels[0]) to \(levels[1]); \(step.chanceInWords); \(step.causeInWords)",
      label: size)
  }
}

extension MetricCourse.Step {
  /// As in `+1.2 MiB (+5.3 %)`.
  func size(unit: String) -> String {
    let percent = before > 0 ? " (\(Format.percent((after - before) / before * 100)))" : ""
    return Format.difference(after - before, unit: unit) + percent
  }

  /// How likely such a step is where nothing has changed; below one in a million nobody tells figures apart.
  var chanceInWords: String {
    switch chance {
    case ..<1e-6: "by chance less than once in a million"
    case ..<0.01: "by chance once in \(Decimals.text(1 / chance, places: 0))"
    default: "by chance in \(Format.share(chance * 100))"
    }
  }

  /// ``causeInWords`` for a table's cell.
  var causeInBrief: String {
    switch cause {
    case .approval(let approval): "approved by \(PageWords.shown(approval.by))"
    case .environment(let differences):
      "with the \(differences.map(\.field.rawValue).joined(separator: ", ")) of the environment"
    case nil: causeInWords
    }
  }

  var causeInWords: String {
    switch cause {
    case .approval(let approval): PageWords.shown(approval.displayText)
    case .environment(let differences): "with the environment: \(differences.words)"
    case nil: after < before ? "unexplained fall" : stands ? "unexplained" : "unexplained, and gone since"
    }
  }
}

extension [Fingerprint.Difference] {
  /// As in `kernel 6.1 → 6.6, libc glibc 2.36 → glibc 2.41`.
  var words: String {
    map { PageWords.shown($0.displayText) }.joined(separator: ", ")
  }
}

extension End {
  /// With how many processes the kernel killed for want of memory, where it did.
  var inWords: String {
    oomKills > 0 && kind != .oom ? "\(displayText), \(Format.count(oomKills, "OOM kill"))" : displayText
  }
}
