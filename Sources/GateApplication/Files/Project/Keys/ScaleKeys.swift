import GateCore

/// The keys of `scale`.
enum ScaleKeys {
  static let axis = Key("axis", .plainName, "the name that stands for the number of items", example: "axis: keys")
  static let values = Key(
    "values", numbers, "numbers of items, \(Scale.fewestValues) to \(Scale.mostValues), in ascending order",
    example: "values: [1000, 4000, 16000]")
  static let table = KeyTable(
    "scale", of: "`scale`", [axis.row, values.row], example: "scale: {axis: keys, values: [1000, 4000, 16000]}")

  /// The axis and its values as they are written.
  typealias Axis = (name: String, values: [String])

  static func axis(_ fields: Fields) -> Axis? {
    for key in [axis.row, values.row] where !fields.mentions(key.name) {
      fields.context.printError("`scale` needs `\(key.name)`", at: fields.place, hint: "such as `\(table.example)`")
    }
    guard let name = fields.value(of: axis), let values = fields.value(of: values) else { return nil }
    return (name, values)
  }

  private static let numbers = ValueForm<[String]>(.list(.count, isShort: false)) { value, row, context in
    guard case .sequence(let items) = value.content else {
      context.expected("a list of numbers", as: row.name, not: value, example: row.example)
      return nil
    }
    let texts = items.compactMap(\.scalar)
    let numbers = texts.compactMap(Double.init).filter { $0.isFinite && $0 >= 0 && $0 <= Double(Bytes.largest.count) }
    let isAscending = zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 }
    guard numbers.count == items.count, isAscending, (Scale.fewestValues...Scale.mostValues).contains(items.count)
    else {
      context.printError(
        "`\(row.name)` must be \(Scale.fewestValues) to \(Scale.mostValues) numbers in ascending order",
        at: value.place,
        hint: "fewer do not show whether memory grows in proportion; such as `\(row.example)`")
      return nil
    }
    return texts
  }
}
