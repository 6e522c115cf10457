import GateCore

/// The changes of each kind of memory.
struct CompositionChange {
  let before: Composition
  let now: Composition

  private static let mostLibraries = 3

  /// As in `anonymous +1.2 MiB (heap +1.2 MiB), file +51.2 KiB`; empty without a change.
  var text: String {
    let heap = Self.changes(of: now.anonymousParts, since: before.anonymousParts)
    let kinds = [
      ("anonymous", before.anonymous, now.anonymous, heap), ("file", before.file, now.file, mappings { !$0.isShared }),
      ("shared", before.shared, now.shared, mappings(where: \.isShared)),
    ]
    return kinds.compactMap { name, before, now, parts -> String? in
      guard before != now || !parts.isEmpty else { return nil }
      let details = parts.map(Self.text)
      return Self.text(Composition.Part(name, now - before))
        + (details.isEmpty ? "" : " (\(details.joined(separator: ", ")))")
    }.joined(separator: ", ")
  }

  private static func text(_ change: Composition.Part) -> String {
    "\(change.name)\(Format.space)\(Format.difference(Double(change.amount.count)))"
  }

  /// Only parts that both sides have.
  private static func changes(of now: [Composition.Part], since before: [Composition.Part]) -> [Composition.Part] {
    now.compactMap { part in
      guard let old = before.first(where: { $0.name == part.name }), old.amount != part.amount else { return nil }
      return Composition.Part(part.name, part.amount - old.amount)
    }
  }

  /// The mappings whose pages changed most.
  private func mappings(where isShown: (Composition.Library) -> Bool) -> [Composition.Part] {
    now.mappingChanges(since: before).filter(isShown).prefix(Self.mostLibraries)
      .map { Composition.Part(TerminalText.safe($0.name), $0.resident) }
  }
}

extension Composition {
  /// A part of one kind of memory.
  struct Part: Equatable {
    var name: String
    var amount: Bytes

    init(_ name: String, _ amount: Bytes) {
      self.name = name
      self.amount = amount
    }
  }

  /// The known parts of the anonymous memory; they may overlap.
  var anonymousParts: [Part] {
    let parts = [("heap", heap), ("stack", stack), ("huge pages", hugePages), ("lazily freed", lazilyFreed)]
    return parts.compactMap { name, amount in amount.map { Part(Format.glued(name), $0) } }
  }
}
