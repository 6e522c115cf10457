package import GateCore

/// What `record` says of one command.
package enum RecordReport {
  /// The report of one command.
  ///
  /// - Parameters:
  ///   - scenario: The command's repetitions; with several, medians and ranges are shown.
  ///   - recording: The repetition whose curve, memory and processes are shown; nil leaves them out.
  ///   - style: What the terminal can show.
  /// - Returns: Lines that each end in a newline.
  package static func text(_ scenario: ScenarioResult, recording: Recording?, style: TerminalStyle) -> String {
    var page = Page(style)
    writeHeading(of: scenario, recording: recording, to: &page)
    page.gap()
    FigureList(scenario: scenario).write(to: &page)
    if let recording {
      writeMemory(of: scenario.currentComposition ?? recording.composition, to: &page)
      Curve(recording: recording, style: style)?.write(to: &page)
      ProcessTable(processes: recording.processes).write(to: &page)
    }
    writeNotes(of: scenario, recording: recording, to: &page)
    return page.text
  }

  private static func writeHeading(of scenario: ScenarioResult, recording: Recording?, to page: inout Page) {
    page.paragraph(TerminalText.safe(scenario.name.text), indent: 0, tone: .strong)
    let ends = scenario.repetitions.map(\.end) + (scenario.repetitions.isEmpty ? recording.map { [$0.end] } ?? [] : [])
    let times = scenario.repetitions.map(\.duration.inSeconds)
    let spans = times.isEmpty ? recording.map { [$0.duration.inSeconds] } ?? [] : times
    for (end, count) in distinct(ends) {
      let times = count > 1 || ends.count > 1 ? ", \(count) of \(Figures.count(ends.count, "repetition"))" : ""
      // The failure has the hint, too.
      let problem = end.kind == .startFailed ? scenario.failure.map { "\(end.kind.rawValue): \($0.problem)" } : nil
      page.paragraph(TerminalText.safe(problem ?? end.forPeople) + times, indent: 2)
      if let proof = end.proof { page.paragraph(TerminalText.safe(proof), indent: 2, label: "proof: ") }
    }
    guard let span = RepeatedFigure(spans) else { return }
    let median = Figures.time(.seconds(span.median))
    let range = "\(Figures.time(.seconds(span.lowest))) to \(Figures.time(.seconds(span.highest)))"
    page.paragraph("took \(median)" + (span.count > 1 ? " (\(range))" : ""), indent: 2)
    OutputTail.write(scenario.failure?.output ?? "", lines: outputLines, to: &page)
  }

  /// How many of the last lines of a failed command's output are shown.
  private static let outputLines = 12

  private static func distinct(_ ends: [End]) -> [(End, Int)] {
    ends.reduce(into: []) { seen, end in
      if let index = seen.firstIndex(where: { $0.0 == end }) {
        seen[index].1 += 1
      } else {
        seen.append((end, 1))
      }
    }
  }

  private static func writeMemory(of composition: Composition?, to page: inout Page) {
    guard let composition else { return }
    let kinds: [(String, Bytes?)] = [
      ("anonymous", composition.anonymous), ("file", composition.file), ("shared", composition.shared),
      ("heap", composition.heap), ("stack", composition.stack),
    ]
    let parts = kinds.compactMap { name, amount in amount.map { "\(name)\(Figures.space)\(Figures.amount($0))" } }
    page.gap()
    page.paragraph(parts.joined(separator: ", "), indent: 2, label: "memory by kind: ")
  }

  private static func writeNotes(of scenario: ScenarioResult, recording: Recording?, to page: inout Page) {
    var notes = scenario.notes + scenario.repetitions.flatMap(\.notes) + (recording?.notes ?? [])
    if let recording { notes += remarks(on: recording) }
    var seen: Set<String> = []
    if !notes.isEmpty { page.gap() }
    for note in notes where seen.insert(note).inserted {
      page.paragraph(TerminalText.safe(note), indent: 2, label: "note: ")
    }
  }

  private static func remarks(on recording: Recording) -> [String] {
    var remarks: [String] = []
    let main = recording.processes.first(where: \.isMain)
    let children = recording.processes.filter { !$0.isMain }
    if let main, let child = children.max(by: { $0.peak < $1.peak }), child.peak > main.peak {
      remarks.append(
        "process \(child.id) (\(child.command)) held \(Figures.amount(child.peak)), more than the main process "
          + "(\(Figures.amount(main.peak))); peak, steady and growth are of the main process, tree_peak is of all"
      )
    }
    if recording.rung == .sampled, recording.widestGap > .zero {
      remarks.append(
        "peaks are VmHWM as last read: a rise in the last \(Figures.time(recording.widestGap)) before a process ends "
          + "can be missed"
      )
    }
    return remarks
  }
}
