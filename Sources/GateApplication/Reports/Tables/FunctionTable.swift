import GateCore

/// The functions whose memory changed most, or that hold most.
struct FunctionTable {
  let comparison: ProfileComparison

  private static let most = 10

  func table(_ style: TerminalStyle) -> Table {
    let isCompared = comparison.before != nil
    let (before, now) = comparison.explained.sides
    let sides: [Table.Column] = isCompared ? [.init(title: before, rank: 2), .init(title: now, rank: 1)] : []
    return Table(
      columns: [.init(title: "function", side: .left)] + sides
        + [.init(title: isCompared ? "change" : "bytes"), .init(title: "evidence", side: .left)],
      rows: comparison.largestChanges(atMost: Self.most).map { row($0, isCompared: isCompared, style) })
  }

  private func row(_ change: FunctionChange, isCompared: Bool, _ style: TerminalStyle) -> [Table.Cell] {
    let sides = isCompared ? [change.before ?? .zero, change.now].map { Table.Cell(Format.amount($0)) } : []
    let amount = isCompared ? Format.difference(Double(change.change.count)) : Format.amount(change.now)
    let path = change.path(callers: 1)
    return [.init(style.unicode ? path : TerminalText.withoutArrows(path))] + sides
      + [.init(amount, .strong), .init(change.evidence.shortWords, .faint)]
  }
}

/// The parts of a process's anonymous memory, which add up to it.
struct MemoryPartTable {
  let comparison: ProfileComparison

  func table(_ style: TerminalStyle) -> Table {
    let (before, now) = (comparison.before, comparison.now)
    let parts = Set(now.parts.keys).union(before?.parts.keys ?? [:].keys)
    let named = parts.map { part in (name: part.name, before: before?.parts[part], now: now.parts[part]) }
    let rows = named.sorted { (-($0.now?.median ?? 0), $0.name) < (-($1.now?.median ?? 0), $1.name) }
    let titles = comparison.explained.sides
    let sides: [Table.Column] =
      before == nil ? [.init()] : [titles.before, titles.now, "change"].map { .init(title: $0) }
    return Table(
      columns: [
        .init(
          title: "anonymous memory\(comparison.explained == .growth ? "" : " \(comparison.explained.moment)")",
          side: .left)
      ] + sides,
      rows: rows.map { row($0.name, before: $0.before?.median ?? 0, now: $0.now?.median ?? 0) }
        + [row("sum", before: before?.anonymous.median ?? 0, now: now.anonymous.median, tone: .strong)])
  }

  private func row(_ name: String, before: Int64, now: Int64, tone: Tone? = nil) -> [Table.Cell] {
    let amounts = [Bytes(before), Bytes(now)].map { Table.Cell(Format.amount($0), tone) }
    guard comparison.before != nil else { return [.init(name, tone), amounts[1]] }
    return [.init(name, tone)] + amounts + [.init(Format.difference(Double(now - before)), tone)]
  }
}
