import GateCore

// The forms that many keys have; each reports a value of another form.

extension ValueForm where Value == String {
  static var text: Self { .init(.text) { $2.text($0, as: $1.name, example: $1.example) } }
  static var line: Self { .init(.text) { $2.line($0, as: $1.name, example: $1.example) } }

  static var plainName: Self {
    .init(.any([.pattern("^\(PlainName.pattern)$"), .count])) { $2.plainName($0, as: $1.name, example: $1.example) }
  }

  /// A path, as an absolute one.
  static var path: Self { .init(.text) { $2.path($0, as: $1.name, example: $1.example) } }
  /// A path without variables, as an absolute one.
  static var fixedPath: Self { .init(.text) { $2.fixedPath($0, as: $1.name, example: $1.example) } }

  static var address: Self {
    .init(.pattern(#"^([Hh][Tt][Tt][Pp][Ss]?://[^ ]+|.*\$\{.*)$"#)) { $2.address($0, as: $1.name) }
  }
}

extension ValueForm where Value == Int {
  /// `sample` is the number in hints.
  static func integer(in range: ClosedRange<Int>, sample: Int = 1) -> Self {
    .init(.integer(range)) { $2.integer($0, as: $1.name, in: range, example: sample) }
  }
}

extension ValueForm where Value == Bool {
  static func either(_ yes: String, or no: String) -> Self {
    .init(.words([yes, no])) { value, row, context in
      context.word(value, as: row.name, among: [yes, no]).map { $0 == yes }
    }
  }
}

extension ValueForm where Value == Duration {
  static func duration(from least: Duration = .zero, to most: Duration = .seconds(24 * 3600)) -> Self {
    .init(.duration) { $2.duration($0, as: $1.name, from: least, to: most, example: $1.example) }
  }

  /// How long something is waited for: a duration above 0.
  static var timeout: Self { duration(from: .milliseconds(1)) }
}

extension ValueForm where Value == Bytes {
  /// A size above 0.
  static var limit: Self {
    .init(.size) { value, row, context in
      guard let limit = context.bytes(value, as: row.name, example: row.example) else { return nil }
      guard limit > .zero else {
        context.printError("`\(row.name)` must be greater than 0", at: value.place)
        return nil
      }
      return limit
    }
  }
}

extension ValueForm where Value == Signal {
  static var signal: Self {
    .init(.words(Signal.allNames.flatMap { [$0, "SIG\($0)"] })) { $2.signal($0, as: $1.name) }
  }
}

extension ValueForm where Value == Pattern {
  static var pattern: Self { .init(.text) { $2.pattern($0, as: $1.name, example: $1.example) } }
}

extension ValueForm where Value == Command {
  /// A list of words, or a line for a shell.
  static var command: Self { .init(.any([.text, .list(.text, isShort: false)])) { $2.command($0, as: $1.name) } }
}

extension ValueForm where Value: RawRepresentable & CaseIterable & Sendable, Value.RawValue == String {
  static var choice: Self {
    .init(.words(Value.allCases.map(\.rawValue))) { $2.choice($0, as: $1.name) }
  }
}

extension ValueForm {
  /// A list, or a single text for a list of one; invalid items are left out.
  static func list<Item>(_ item: ValueForm<Item>) -> Self where Value == [Item] {
    .init(.list(item.shape, isShort: true)) { value, row, context in
      context.list(value, as: row.name, example: row.example) { item.read($0, row, context) }
    }
  }

  /// A single value, or a list of at least one.
  static func oneOrMore<Item>(_ item: ValueForm<Item>) -> Self where Value == [Item] {
    .init(.list(item.shape, isShort: true)) { value, row, context in
      context.oneOrMore(value, as: row.name) { item.read($0, row, context) }
    }
  }

  /// A mapping with the keys of a table.
  static func mapping(
    _ table: @escaping @autoclosure @Sendable () -> KeyTable, _ read: @escaping @Sendable (Fields) -> Value?
  ) -> Self {
    .init(.mapping(table)) { value, _, context in Fields(value, of: table(), in: context).flatMap(read) }
  }
}

extension ValueShape {
  private static let number = "([0-9]+([.][0-9]*)?|[.][0-9]+)"

  static var duration: Self { .pattern("^\(number) *(\(Duration.unitSizes.map(\.name).joined(separator: "|")))$") }
  static var size: Self { .pattern("^\(number) *(\(Bytes.units.map(\.name).joined(separator: "|")))$") }
  static var share: Self { .pattern("^\(number) *%$") }
}
