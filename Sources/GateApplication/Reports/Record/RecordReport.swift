import GateCore

/// The report of `record` on one command.
enum RecordReport {
  /// The report of one command.
  ///
  /// - Parameters:
  ///   - scenario: The command's repetitions; several are shown as medians and ranges.
  ///   - recording: The last repetition, whose curve and memory are shown; nil leaves them out.
  ///   - style: The capabilities of the terminal.
  /// - Returns: Lines that each end in a newline.
  static func text(_ scenario: ScenarioResult, recording: Recording?, style: TerminalStyle) -> String {
    var page = TerminalPage(style)
    writeHeading(of: scenario, recording: recording, to: &page)
    page.gap()
    ValueTable(scenario: scenario).write(to: &page)
    if let recording {
      writeMemory(of: scenario, recording: recording, to: &page)
      TerminalCurve(recording: recording, style: style)?.write(to: &page)
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

  private static func writeHeading(of scenario: ScenarioResult, recording: Recording?, to page: inout TerminalPage) {
    page.paragraph(TerminalText.safe(scenario.name.text), indent: 0, tone: .strong)
    // The failure has the reason as well.
    let isStarted = scenario.repetitions.last?.end.kind != .startFailed
    let failure = isStarted ? nil : scenario.failure.map { TerminalText.safe($0.displayText) }
    for end in failure.map({ [(text: $0, evidence: nil)] }) ?? scenario.endTexts {
      page.paragraph(end.text, indent: 2)
      if let evidence = end.evidence { page.paragraph(evidence, indent: 2, label: "evidence: ") }
    }
    if let times = ValueSummary(scenario.repetitions.map(\.duration.inSeconds)), let range = times.range {
      let ends = [range.lowerBound, range.upperBound].map { Format.time(.seconds($0)) }
      let rangeText = times.count > 1 ? " (\(ends[0]) to \(ends[1]))" : ""
      page.paragraph("took \(Format.time(.seconds(times.median)))\(rangeText)", indent: 2)
    }
    OutputLines.write(scenario.failure?.output ?? "", lines: 12, to: &page)
  }

  /// Writes the composition of memory at the end, and at the peak if that was a tenth higher.
  private static func writeMemory(of scenario: ScenarioResult, recording: Recording, to page: inout TerminalPage) {
    let last = scenario.composition ?? recording.composition
    if let last {
      let title = "memory by kind, as last read: \(Format.amount(last.resident))"
      CompositionList(composition: last, title: title).write(to: &page)
    }
    let highest = recording.compositions.max { $0.composition.resident < $1.composition.resident }
    guard let highest, isTenthAbove(highest.composition.resident.count, last?.resident.count ?? 0) else { return }
    let share = highest.proportional.map { " (Pss \(Format.amount($0)))" } ?? ""
    let whole = Format.amount(highest.composition.resident)
    // Mappings are read once a second at most, and a peak may come between.
    let peak = Int64(scenario.repetitions.compactMap { $0.metrics[.peakRSS] }.max() ?? 0)
    let isNear = !isTenthAbove(peak, highest.composition.resident.count)
    let title = "memory by kind\(isNear ? " near its peak" : ""), at \(Format.instant(highest.time))"
    CompositionList(composition: highest.composition, title: "\(title): \(whole)\(share)").write(to: &page)
  }

  private static func isTenthAbove(_ higher: Int64, _ lower: Int64) -> Bool { higher / 11 * 10 > lower }

  private static func writeEvents(of scenario: ScenarioResult, to page: inout TerminalPage) {
    let events = scenario.eventTexts
    if !events.isEmpty { page.gap() }
    for event in events { page.paragraph(event, indent: 2, label: "event: ") }
  }

  private static func writeMeasurement(of scenario: ScenarioResult, recording: Recording?, to page: inout TerminalPage)
  {
    let method = recording?.method.rawValue ?? scenario.environment.fingerprint.measurement
    let text = MeasurementText(
      method: method, counters: scenario.environment.counters, repetitions: scenario.repetitions,
      interval: recording?.typicalInterval
    )
    page.gap()
    let parts = [TerminalText.safe(method)] + text.parts
    page.paragraph(parts.joined(separator: page.style.separator), indent: 2, label: "measured by: ")
  }

  private static func writeNotes(of scenario: ScenarioResult, to page: inout TerminalPage) {
    let texts = scenario.allNotes.map { $0.text(in: scenario) } + [remark(on: scenario)].compactMap(\.self)
    if !texts.isEmpty { page.gap() }
    for text in texts { page.paragraph(TerminalText.safe(text), indent: 2, label: "note: ") }
    if PtraceAdvice.isNeeded(by: scenario) { page.paragraph("it \(PtraceAdvice.text)", indent: 2, label: "hint: ") }
  }

  /// A remark that the values exclude a child larger than the main process, if there is one.
  static func remark(on scenario: ScenarioResult) -> String? {
    let processes = scenario.repetitions.last?.largestProcesses ?? []
    guard let main = processes.first(where: \.isMain), let child = processes.max(by: { $0.peak < $1.peak }),
      child.peak > main.peak
    else { return nil }
    return "process \(child.id) (\(child.command)) used \(Format.amount(child.peak)), more than the main process "
      + "(\(Format.amount(main.peak))); peak, steady and growth cover only the main process, tree_peak covers all processes"
  }
}
