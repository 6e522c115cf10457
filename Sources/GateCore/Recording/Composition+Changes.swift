extension Composition {
  /// The same with the files that no process has mapped, as the memory of a whole tree counts them.
  package var countingUnmapped: Composition {
    var all = self
    let mapped = Set(libraries.map(\.name))
    // Of shared memory mappings have the whole path, of other files the last part.
    for file in unmapped where !mapped.contains(file.name) && !mapped.contains(file.lastPart) {
      all.libraries.append(file)
      all.shared = all.shared + file.resident
    }
    return all
  }

  /// The mappings whose resident pages changed, the largest change first.
  ///
  /// Each side lists only its largest mappings: one that a side lacks counts as absent only if it is larger than the
  /// smallest one listed there, or that list is not full.
  package func mappingChanges(since before: Composition) -> [Library] {
    guard !libraries.isEmpty, !before.libraries.isEmpty else { return [] }
    let new = residentByMapping
    let old = before.residentByMapping.renamed(as: new)
    let (leastOld, leastNew) = (before.leastListed, leastListed)
    let changes = Set(old.keys).union(new.keys).compactMap { name -> Library? in
      let amount: Bytes
      switch (old[name], new[name]) {
      case (let old?, let new?): amount = new - old
      case (nil, let new?) where new > leastOld: amount = new
      case (let old?, nil) where old > leastNew: amount = .zero - old
      default: return nil
      }
      return amount == .zero ? nil : Library(name: name, resident: amount)
    }
    return changes.sorted { ($0.resident.count.magnitude, $1.name) > ($1.resident.count.magnitude, $0.name) }
  }

  /// The smallest mapping listed; zero if all are.
  private var leastListed: Bytes {
    libraries.count < Self.storedLibraries ? .zero : libraries.map(\.resident).min() ?? .zero
  }

  private var residentByMapping: [String: Bytes] {
    Dictionary(libraries.map { ($0.name, $0.resident) }, uniquingKeysWith: +)
  }
}

extension [String: Bytes] {
  /// With the names that mappings have now, where only a version or a hash in the name of a library changed.
  fileprivate func renamed(as now: Self) -> Self {
    let new = [String: [String]](grouping: now.keys.filter { self[$0] == nil }, by: ModuleName.plain)
    let old = [String: [String]](grouping: keys.filter { now[$0] == nil }, by: ModuleName.plain)
    return old.reduce(into: self) { mappings, names in
      guard names.value.count == 1, let name = new[names.key], name.count == 1 else { return }
      mappings[name[0]] = mappings.removeValue(forKey: names.value[0])
    }
  }
}

extension MappedRise {
  private static let mostNamed = 3

  /// The rise from one composition to another, if it is most of a rise; nil if it is not.
  package init?(from before: Composition, to now: Composition, of rise: Bytes) {
    let changes = now.mappingChanges(since: before)
    let kinds: [(Kind, Bytes)] = [(.files, now.file - before.file), (.shared, now.shared - before.shared)]
    guard let (kind, amount) = kinds.max(by: { $0.1 < $1.1 }), amount >= Self.least,
      Double(amount.count) >= ProfileComparison.leastShare * Double(rise.count)
    else { return nil }
    let own = changes.filter { $0.isShared == (kind == .shared) && $0.resident.count >= amount.count / 10 }
    let named = own.prefix(Self.mostNamed).map { Mapping($0.name, rise: min($0.resident, amount)) }
    self.init(kind, rise: amount, largest: named)
  }
}
