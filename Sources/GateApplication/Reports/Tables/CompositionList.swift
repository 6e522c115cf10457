import GateCore

/// The composition of a process's memory, one line per kind.
struct CompositionList {
  let composition: Composition
  let title: String

  private static let mostLibraries = 4

  func write(to page: inout TerminalPage) {
    let kinds = [
      ("anonymous", composition.anonymous, composition.anonymousParts),
      ("file", composition.file, largest { !$0.isShared }),
      ("shared", composition.shared, largest(where: \.isShared)),
    ]
    let names = kinds.map { TerminalText.columns($0.0) }.max() ?? 0
    let amounts = kinds.map { TerminalText.columns(Format.amount($0.1)) }.max() ?? 0
    page.gap()
    page.paragraph(title, indent: 2, tone: .faint)
    for (name, amount, parts) in kinds {
      let shown = parts.filter { $0.amount > .zero }.map { "\($0.name)\(Format.space)\(Format.amount($0.amount))" }
      let value = Format.glued(TerminalText.padded(Format.amount(amount), to: amounts, on: .right))
      page.paragraph(
        value + (shown.isEmpty ? "" : " (\(shown.joined(separator: ", ")))"), indent: 2,
        label: TerminalText.padded(name, to: names + 2)
      )
    }
  }

  private func largest(where isShown: (Composition.Library) -> Bool) -> [Composition.Part] {
    let sorted = composition.libraries.filter(isShown).sorted { $0.resident > $1.resident }
    let rest = sorted.dropFirst(Self.mostLibraries)
    let shown = sorted.prefix(Self.mostLibraries).map { Composition.Part(TerminalText.safe($0.name), $0.resident) }
    guard !rest.isEmpty else { return shown }
    let others = Bytes(rest.map(\.resident.count).reduce(0, +))
    return shown + [Composition.Part(Format.count(rest.count, "other"), others)]
  }
}
