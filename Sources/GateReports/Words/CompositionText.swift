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
      ("anonymous", before.anonymous, now.anonymous, heap), ("file", before.file, now.file, libraries),
      ("shared", before.shared, now.shared, []),
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

  /// The files whose pages changed most.
  ///
  /// Each side lists only its largest files: a file that one side lacks counts as absent only if it is larger than the
  /// smallest file listed there.
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

  fileprivate var residentByLibrary: [String: Bytes] {
    Dictionary(libraries.map { ($0.name, $0.resident) }, uniquingKeysWith: +)
  }
}
