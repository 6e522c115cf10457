import GateCore

/// What a process's memory consists of, one line for each kind.
struct CompositionList {
  let composition: Composition
  let title: String

  /// Enough to see which files weigh.
  private static let mostLibraries = 4

  func write(to page: inout Page) {
    let kinds = [
      ("anonymous", composition.anonymous, composition.anonymousParts),
      ("file", composition.file, largestLibraries),
      ("shared", composition.shared, []),
    ]
    let names = kinds.map { TerminalText.columns($0.0) }.max() ?? 0
    let amounts = kinds.map { TerminalText.columns(Format.amount($0.1)) }.max() ?? 0
    page.gap()
    page.paragraph(title, indent: 2, tone: .faint)
    for (name, amount, parts) in kinds {
      let shown = parts.filter { $0.amount > .zero }.map { "\($0.name)\(Format.space)\(Format.amount($0.amount))" }
      let figure = Format.glued(TerminalText.padded(Format.amount(amount), to: amounts, on: .right))
      page.paragraph(
        figure + (shown.isEmpty ? "" : " (\(shown.joined(separator: ", ")))"), indent: 2,
        label: TerminalText.padded(name, to: names + 2)
      )
    }
  }

  private var largestLibraries: [Composition.Part] {
    let sorted = composition.libraries.sorted { $0.resident > $1.resident }
    let rest = sorted.dropFirst(Self.mostLibraries)
    let shown = sorted.prefix(Self.mostLibraries).map { Composition.Part(TerminalText.safe($0.name), $0.resident) }
    guard !rest.isEmpty else { return shown }
    let others = Bytes(rest.map(\.resident.count).reduce(0, +))
    return shown + [Composition.Part(Format.count(rest.count, "other"), others)]
  }
}

/// How the kinds of memory have changed.
struct CompositionChange {
  let before: Composition
  let now: Composition

  private static let mostLibraries = 3

  /// As in `anonymous +1.2 MiB (heap +1.2 MiB), file +51.2 KiB`; empty where nothing has changed.
  var text: String {
    let heap = Self.changes(of: now.anonymousParts, since: before.anonymousParts)
    let kinds = [
      ("anonymous", before.anonymous, now.anonymous, heap), ("file", before.file, now.file, libraries),
      ("shared", before.shared, now.shared, []),
    ]
    return kinds.compactMap { name, before, now, parts -> String? in
      guard before != now || !parts.isEmpty else { return nil }
      let details = parts.map(Self.words)
      return Self.words(Composition.Part(name, now - before))
        + (details.isEmpty ? "" : " (\(details.joined(separator: ", ")))")
    }.joined(separator: ", ")
  }

  private static func words(_ change: Composition.Part) -> String {
    "\(change.name)\(Format.space)\(Format.difference(Double(change.amount.count)))"
  }

  /// Of parts that both sides know.
  private static func changes(of now: [Composition.Part], since before: [Composition.Part]) -> [Composition.Part] {
    now.compactMap { part in
      guard let old = before.first(where: { $0.name == part.name }), old.amount != part.amount else { return nil }
      return Composition.Part(part.name, part.amount - old.amount)
    }
  }

  /// The files whose pages changed most.
  ///
  /// A list holds the largest files only, so that one which a side does not list counts as absent there just where it is
  /// larger than the least that side lists.
  private var libraries: [Composition.Part] {
    let (old, new) = (before.residentByLibrary, now.residentByLibrary)
    guard let leastOld = old.values.min(), let leastNew = new.values.min() else { return [] }
    let changes = Set(old.keys).union(new.keys).compactMap { name -> Composition.Part? in
      let amount: Bytes
      switch (old[name], new[name]) {
      case (let old?, let new?): amount = new - old
      case (nil, let new?) where new > leastOld: amount = new
      case (let old?, nil) where old > leastNew: amount = .zero - old
      default: return nil
      }
      return amount == .zero ? nil : Composition.Part(TerminalText.safe(name), amount)
    }
    let sorted = changes.sorted { ($0.amount.count.magnitude, $1.name) > ($1.amount.count.magnitude, $0.name) }
    return Array(sorted.prefix(Self.mostLibraries))
  }
}

extension Composition {
  /// A part of one kind of memory, with its name for people.
  struct Part: Equatable {
    var name: String
    var amount: Bytes

    init(_ name: String, _ amount: Bytes) {
      self.name = name
      self.amount = amount
    }
  }

  /// The parts of the anonymous memory that are known; they may overlap.
  var anonymousParts: [Part] {
    let parts = [("heap", heap), ("stack", stack), ("huge pages", hugePages), ("lazily freed", lazilyFreed)]
    return parts.compactMap { name, amount in amount.map { Part(Format.glued(name), $0) } }
  }

  fileprivate var residentByLibrary: [String: Bytes] {
    Dictionary(libraries.map { ($0.name, $0.resident) }, uniquingKeysWith: +)
  }
}
