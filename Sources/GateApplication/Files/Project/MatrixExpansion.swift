import GateCore

/// The members of a scenario's `matrix`, and the scenario with `{{axis}}` replaced for each.
struct MatrixExpansion {
  /// One value of one axis.
  typealias Choice = (axis: String, value: String)

  /// A matrix cannot have more members than a project can have scenarios.
  static let mostMembers = ProjectReader.mostScenarios

  /// A name with the values of more axes would be too long: it has at most 400 bytes, and four for each value.
  static let mostAxes = 100

  /// The suite reads it, since it makes several scenarios of one.
  static let form = ValueForm<Never>(
    .map(["^\(PlainName.pattern)$": .list(.text, isShort: false)])
  ) { _, _, _ in nil }

  let context: ReadingContext

  /// Every combination, the last axis changing fastest; nil, with diagnostics, if the matrix is invalid.
  func members(of matrix: YAMLValue) -> [[Choice]]? {
    guard case .mapping(let axes) = matrix.content else {
      context.expected("a mapping of lists", as: "matrix", not: matrix, example: "matrix: {clients: [1, 50]}")
      return nil
    }
    guard !axes.isEmpty else {
      context.printError("`matrix` is empty", at: matrix.place, hint: "such as `matrix: {clients: [1, 50]}`")
      return nil
    }
    guard axes.count <= Self.mostAxes else {
      context.printError("the matrix has more than \(Self.mostAxes) axes", at: matrix.place)
      return nil
    }
    let lists = axes.compactMap(values)
    guard lists.count == axes.count, Set(lists.map(\.axis)).count == axes.count else { return nil }
    let count = lists.reduce(1) { product, list in
      let (next, overflow) = product.multipliedReportingOverflow(by: list.values.count)
      return overflow ? .max : next
    }
    guard count <= Self.mostMembers else {
      context.printError("the matrix expands to more than \(Self.mostMembers) scenarios", at: matrix.place)
      return nil
    }
    return lists.reduce([[]]) { members, list in
      members.flatMap { member in list.values.map { member + [(list.axis, $0)] } }
    }
  }

  /// The name of a member, as in `load[clients=1,size=big]`.
  static func name(of base: String, member: [Choice]) -> String {
    guard !member.isEmpty else { return base }
    return "\(base)[\(member.map { "\($0.axis)=\($0.value)" }.joined(separator: ","))]"
  }

  private func values(_ entry: YAMLValue.Entry) -> (axis: String, values: [String])? {
    let axis = entry.key.text
    guard PlainName.isValid(axis) else {
      context.printError(
        "`\(Shown.text(axis))` is not a name", at: entry.key.place, hint: "a name is \(PlainName.rule)")
      return nil
    }
    guard case .sequence(let items) = entry.value.content else {
      context.expected("a list of values", as: axis, not: entry.value, example: "matrix: {\(axis): [1, 50]}")
      return nil
    }
    if items.isEmpty {
      context.printError("`\(axis)` has no values", at: entry.value.place, hint: "such as `matrix: {\(axis): [1, 50]}`")
      return nil
    }
    var (values, known): ([String], Set<String>) = ([], [])
    for item in items {
      guard let value = self.value(item, of: axis) else { return nil }
      guard known.insert(value).inserted else {
        context.printError("duplicate value `\(Shown.text(value))` in `\(axis)`", at: item.place)
        return nil
      }
      values.append(value)
      guard values.count <= Self.mostMembers else {
        context.printError("the matrix expands to more than \(Self.mostMembers) scenarios", at: entry.key.place)
        return nil
      }
    }
    return (axis, values)
  }

  private func value(_ item: YAMLValue, of axis: String) -> String? {
    guard let text = item.scalar else {
      context.expected("a list of strings and numbers", as: axis, not: item, example: "matrix: {\(axis): [1, 50]}")
      return nil
    }
    guard (1...100).contains(text.utf8.count), !Shown.hasHarmful(text) else {
      context.printError(
        "`\(Shown.text(text))` cannot be a value of `\(axis)`",
        at: item.place,
        hint: "a value becomes part of the scenario's name: 1 to 100 bytes, and no control characters"
      )
      return nil
    }
    return text
  }

  /// The value with `{{axis}}` replaced in all its strings and keys; reports unknown axes.
  func filled(_ value: YAMLValue, with member: [Choice]) -> YAMLValue {
    switch value.content {
    case .scalar(let text, let style):
      guard let filled = filled(text, at: value.place, with: member) else { return value }
      return YAMLValue(.scalar(filled, filled == text ? style : .filled), at: value.place)
    case .sequence(let items):
      return YAMLValue(.sequence(items.map { self.filled($0, with: member) }), at: value.place)
    case .mapping(let entries):
      let filled = entries.map { entry in
        let text = self.filled(entry.key.text, at: entry.key.place, with: member) ?? entry.key.text
        return YAMLValue.Entry(
          key: .init(text: text, place: entry.key.place),
          value: self.filled(entry.value, with: member)
        )
      }
      return YAMLValue(.mapping(filled), at: value.place)
    }
  }

  /// nil if there are no double braces, which is usually the case.
  private func filled(_ text: String, at place: SourcePlace, with member: [Choice]) -> String? {
    guard Self.hasPlaceholder(text) else { return nil }
    var result = ""
    var rest = text[...]
    while let open = rest.firstRange(of: "{{") {
      result += rest[..<open.lowerBound]
      rest = rest[open.upperBound...]
      // No name has braces, so that each part of the text is searched once.
      let inner = rest.prefix { $0 != "{" && $0 != "}" }
      let name = inner.filter { $0 != " " }
      let after = rest[inner.endIndex...]
      guard after.hasPrefix("}}"), PlainName.isValid(name) else {
        // Braces of other template languages are left alone.
        result += "{{"
        continue
      }
      if let choice = member.first(where: { $0.axis == name }) {
        result += choice.value
      } else if name == FreePort.name {
        result += FreePort.placeholder
      } else {
        let nearest = NearMiss.closest(to: name, among: member.map(\.axis))
        context.printError(
          "the matrix has no axis `\(Shown.text(name))` for `{{\(Shown.text(name))}}`",
          at: place,
          hint: nearest.map { "did you mean `{{\($0)}}`?" } ?? "its axes are \(Shown.list(member.map(\.axis)))"
        )
      }
      rest = after.dropFirst(2)
    }
    return result + rest
  }

  static func hasPlaceholder(_ text: String) -> Bool {
    text.utf8.contains(UInt8(ascii: "{")) && text.contains("{{")
  }
}
