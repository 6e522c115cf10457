extension ProfileSummary {
  /// The same with the names of the other build for functions that have changed their parameters, or a script its folder.
  ///
  /// Otherwise what such a function held before would count as a fall, and what it holds now as a rise. Two functions that
  /// only one build has are matched if each build has just one of that name.
  func renamed(like other: ProfileSummary) -> ProfileSummary {
    let (own, others) = (Set(functions.map(\.name)), Set(other.functions.map(\.name)))
    let new = Self.unique(others.subtracting(own))
    let names = Self.unique(own.subtracting(others)).compactMap { key, name in new[key].map { (name, $0) } }
    guard !names.isEmpty else { return self }
    let renames = Dictionary(uniqueKeysWithValues: names)
    var renamed = self
    for index in functions.indices {
      renames[functions[index].name].map { renamed.functions[index].name = $0 }
    }
    return renamed
  }

  /// What a new name of the same function has in common with the old one.
  private struct Key: Hashable {
    let place: String
    let name: String
    let isScript: Bool
  }

  /// The functions of which no other has the same key.
  private static func unique(_ names: Set<FunctionName>) -> [Key: FunctionName] {
    var found: [Key: FunctionName?] = [:]
    // The code of a module, or a lambda, has no name of its own.
    for name in names where !name.name.isEmpty && !name.name.hasPrefix("<") {
      let place = name.isScript ? String(name.package) : name.module
      let key = Key(place: place, name: name.shortName, isScript: name.isScript)
      found[key] = found[key] == nil ? .some(name) : .some(nil)
    }
    return found.compactMapValues(\.self)
  }
}
