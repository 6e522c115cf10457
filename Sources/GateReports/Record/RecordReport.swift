package import GateCore

/// What `record` says of one command.
package enum RecordReport {
  /// The report of one command.
  ///
  /// - Parameters:
  ///   - scenario: The command's repetitions; with several, medians and ranges are shown.
  ///   - recording: The last repetition, whose curve and memory are shown; nil leaves them out.
  ///   - style: What the terminal can show.
  /// - Returns: Lines that each end in a newline.
  package static func text(_ scenario: ScenarioResult, recording: Recording?, style: TerminalStyle) -> String {
    var page = Page(style)
    writeHeading(of: scenario, recording: recording, to: &page)
    page.gap()
    FigureList(scenario: scenario).write(to: &page)
    if let recording {
      writeMemory(of: scenario, recording: recording, to: &page)
      Curve(recording: recording, style: style)?.write(to: &page)
    }
    if let last = scenario.repetitions.last {
      ProcessTable(
        repetition: last,
        title: scenario.repetitions.count > 1 ? "processes of the last repetition" : "processes, the largest first"
      ).write(to: &page)
    }
    writeEvents(of: scenario, to: &page)
    writeMeasurement(of: scenario, recording: recording, to: &page)
    writeNotes(of: scenario, to: &page)
    return page.text
  }

  private static func writeHeading(of scenario: ScenarioResult, recording: Recording?, to page: inout Page) {
    page.paragraph(TerminalText.safe(scenario.name.text), indent: 0, tone: .strong)
    let ends = scenario.repetitions.map(\.end) + (scenario.repetitions.isEmpty ? recording.map { [$0.end] } ?? [] : [])
    let times = scenario.repetitions.map(\.duration.inSeconds)
    let spans = times.isEmpty ? recording.map { [$0.duration.inSeconds] } ?? [] : times
    for (end, count) in distinct(ends) {
      let times = count > 1 || ends.count > 1 ? ", \(count) of \(Format.count(ends.count, "repetition"))" : ""
      // The failure has the hint, too.
      let problem = end.kind == .startFailed ? scenario.failure.map { "\(end.kind.rawValue): \($0.problemText)" } : nil
      page.paragraph(TerminalText.safe(problem ?? end.displayText) + times, indent: 2)
      if let proof = end.proofText { page.paragraph(TerminalText.safe(proof), indent: 2, label: "evidence: ") }
    }
    guard let span = RepeatedFigure(spans) else { return }
    let median = Format.time(.seconds(span.median))
    let range = "\(Format.time(.seconds(span.lowest))) to \(Format.time(.seconds(span.highest)))"
    page.paragraph("took \(median)" + (span.count > 1 ? " (\(range))" : ""), indent: 2)
    OutputTail.write(scenario.failure?.output ?? "", lines: outputLines, to: &page)
  }

  /// How many of the last lines of a failed command's output are shown.
  private static let outputLines = 12

  static func distinct(_ ends: [End]) -> [(End, Int)] {
    ends.reduce(into: []) { seen, end in
      if let index = seen.firstIndex(where: { $0.0 == end }) {
        seen[index].1 += 1
      } else {
        seen.append((end, 1))
      }
    }
  }

  /// Writes what its memory consisted of at the end, and also near its peak where it held a tenth more then.
  private static func writeMemory(of scenario: ScenarioResult, recording: Recording, to page: inout Page) {
    let last = scenario.currentComposition ?? recording.composition
    if let last {
      let title = "memory by kind, as last read: \(Format.amount(last.resident))"
      CompositionList(composition: last, title: title).write(to: &page)
    }
    let highest = recording.compositions.max { $0.composition.resident < $1.composition.resident }
    guard let highest, highest.composition.resident.count / 11 * 10 > last?.resident.count ?? 0 else { return }
    let share = highest.proportional.map { " (Pss \(Format.amount($0)))" } ?? ""
    let title = "memory by kind near its peak, at \(Format.instant(highest.time))"
    let whole = Format.amount(highest.composition.resident)
    CompositionList(composition: highest.composition, title: "\(title): \(whole)\(share)").write(to: &page)
  }

  private static func writeEvents(of scenario: ScenarioResult, to page: inout Page) {
    let events = scenario.eventTexts
    if !events.isEmpty { page.gap() }
    for event in events { page.paragraph(event, indent: 2, label: "event: ") }
  }

  private static func writeMeasurement(of scenario: ScenarioResult, recording: Recording?, to page: inout Page) {
    let method = recording?.method.rawValue ?? scenario.environment.fingerprint.measurement
    let words = MeasurementWords(
      method: method, counters: scenario.environment.counters, repetitions: scenario.repetitions,
      interval: recording?.typicalInterval
    )
    page.gap()
    let parts = [TerminalText.safe(method)] + words.parts
    page.paragraph(parts.joined(separator: page.style.separator), indent: 2, label: "measured by: ")
  }

  private static func writeNotes(of scenario: ScenarioResult, to page: inout Page) {
    let notes = scenario.allNotes + (remark(on: scenario).map { [$0] } ?? [])
    if !notes.isEmpty { page.gap() }
    for note in notes { page.paragraph(TerminalText.safe(note), indent: 2, label: "note: ") }
    if PtraceAdvice.isNeeded(by: scenario) { page.paragraph("it " + PtraceAdvice.text, indent: 2, label: "hint: ") }
  }

  /// What the figures leave out, where a child held more than the main process.
  static func remark(on scenario: ScenarioResult) -> String? {
    let processes = scenario.repetitions.last?.largestProcesses ?? []
    guard let main = processes.first(where: \.isMain), let child = processes.max(by: { $0.peak < $1.peak }),
      child.peak > main.peak
    else { return nil }
    return "process \(child.id) (\(child.command)) held \(Format.amount(child.peak)), more than the main process "
      + "(\(Format.amount(main.peak))); peak, steady and growth are of the main process, tree_peak is of all"
  }
}
