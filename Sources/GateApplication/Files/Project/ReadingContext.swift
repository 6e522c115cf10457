import GateCore

/// The shared state of all readers of a project: diagnostics, and the bases of paths and `${NAME}`.
struct ReadingContext {
  let findings: Findings
  /// The folder that paths are relative to.
  let root: String
  /// The variables for `${NAME}`; nil if it stays as it is.
  let environment: [String: String]?
  /// Whether an unset variable of a webhook is an error; if not, the webhook only names it.
  var needsWebhooks = true
  /// How many `repeat` steps the value is in.
  var loops = 0
  /// Those of the scenario that is read.
  var written = WrittenTexts()

  func printError(_ problem: String, at place: SourcePlace, hint: String? = nil) {
    findings.add(problem, at: place, hint: hint)
  }

  /// Reports a value of the wrong kind.
  func expected(_ what: String, as name: String, not value: YAMLValue, example: String) {
    printError("`\(name)` must be \(what), not \(value.found)", at: value.place, hint: "such as `\(example)`")
  }
}

// Each function below reads one value; if it is invalid, the function reports an error and returns nil. `name` is the
// key in messages.
extension ReadingContext {
  /// A string of any length, but without NUL, which no argument and no path can contain.
  func text(_ value: YAMLValue, as name: String, example: String) -> String? {
    guard let text = value.scalar else {
      expected("a string", as: name, not: value, example: example)
      return nil
    }
    guard !text.utf8.contains(0) else {
      printError("`\(name)` must not contain the character U+0", at: value.place)
      return nil
    }
    return text
  }

  /// A non-empty string of one line, without invisible characters.
  func line(_ value: YAMLValue, as name: String, example: String) -> String? {
    guard let text = text(value, as: name, example: example) else { return nil }
    guard !text.isEmpty else {
      printError("`\(name)` must not be empty", at: value.place, hint: "such as `\(example)`")
      return nil
    }
    guard !Shown.hasHarmful(text) else {
      printError("`\(name)` must not contain control characters: `\(Shown.text(text))`", at: value.place)
      return nil
    }
    return text
  }

  func plainName(_ value: YAMLValue, as name: String, example: String) -> String? {
    guard let text = line(value, as: name, example: example) else { return nil }
    guard PlainName.isValid(text) else {
      printError("`\(Shown.text(text))` is not a name", at: value.place, hint: "a name is \(PlainName.rule)")
      return nil
    }
    return text
  }

  func integer(_ value: YAMLValue, as name: String, in range: ClosedRange<Int>, example: Int = 1) -> Int? {
    guard case .scalar(let text, let style) = value.content, style != .quoted,
      text.utf8.count <= 20, let number = Int(text), range.contains(number)
    else {
      let isNumberInQuotes = value.isQuoted && value.scalar.flatMap { Int($0) } != nil
      printError(
        "`\(name)` must be a whole number from \(range.lowerBound) to \(range.upperBound), not \(value.found)",
        at: value.place,
        hint: isNumberInQuotes ? "remove the quotes around the number" : "such as `\(name): \(example)`"
      )
      return nil
    }
    return number
  }

  func duration(
    _ value: YAMLValue,
    as name: String,
    from least: Duration = .zero,
    to most: Duration = .seconds(24 * 3600),
    example: String
  ) -> Duration? {
    guard let duration = quantity(value, as: name, kind: "a duration", example: example, Duration.init(parsing:))
    else { return nil }
    guard (least...most).contains(duration) else {
      let bounds = "from \(least.displayText) to \(most == .seconds(86_400) ? "24 h" : most.displayText)"
      printError("`\(name)` must be \(bounds), not `\(Shown.text(value.scalar ?? ""))`", at: value.place)
      return nil
    }
    return duration
  }

  /// A maximum waiting time: a duration above 0.
  func timeout(_ value: YAMLValue, as name: String, example: String) -> Duration? {
    duration(value, as: name, from: .milliseconds(1), example: example)
  }

  func bytes(_ value: YAMLValue, as name: String, example: String) -> Bytes? {
    quantity(value, as: name, kind: "a size", example: example, Bytes.init(parsing:))
  }

  /// A number with its unit.
  func quantity<Quantity>(
    _ value: YAMLValue,
    as name: String,
    kind: String,
    example: String,
    _ parse: (String) throws(UnitError) -> Quantity
  ) -> Quantity? {
    guard value.scalar != nil else {
      expected(kind, as: name, not: value, example: example)
      return nil
    }
    guard let text = line(value, as: name, example: example) else { return nil }
    do {
      return try parse(text)
    } catch {
      printError(error.problem, at: value.place, hint: error.hint)
      return nil
    }
  }

  /// One of several words.
  func choice<Choice: RawRepresentable & CaseIterable>(
    _ value: YAMLValue,
    as name: String,
    _: Choice.Type = Choice.self
  ) -> Choice? where Choice.RawValue == String {
    word(value, as: name, among: Choice.allCases.map(\.rawValue)).flatMap(Choice.init(rawValue:))
  }

  /// One of several words; `other` is what else the caller reads, for the message.
  func word(_ value: YAMLValue, as name: String, among words: [String], or other: String? = nil) -> String? {
    if let text = value.scalar, words.contains(text) { return text }
    let nearest = value.scalar.flatMap { NearMiss.closest(to: $0, among: words) }
    printError(
      "`\(name)` must be one of \(Shown.list(words))\(other.map { " or \($0)" } ?? ""), not \(value.found)",
      at: value.place,
      hint: nearest.map { "did you mean `\($0)`?" }
    )
    return nil
  }

  func signal(_ value: YAMLValue, as name: String) -> Signal? {
    guard let text = line(value, as: name, example: "\(name): TERM") else { return nil }
    if let signal = Signal(name: text) { return signal }
    let upper = text.uppercased()
    let plain = upper.hasPrefix("SIG") ? String(upper.dropFirst(3)) : upper
    let meant = Signal(name: plain)?.name ?? NearMiss.closest(to: plain, among: Signal.allNames)
    printError(
      "unknown signal `\(Shown.text(text))`",
      at: value.place,
      hint: meant.map { "did you mean `\($0)`?" } ?? "write its name, such as `TERM`, `HUP` or `USR1`"
    )
    return nil
  }

  func pattern(_ value: YAMLValue, as name: String, example: String) -> Pattern? {
    guard let text = text(value, as: name, example: example) else { return nil }
    guard !text.isEmpty else {
      printError("`\(name)` must not be empty", at: value.place, hint: "such as `\(example)`")
      return nil
    }
    guard text.utf8.count <= 1000 else {
      printError("the regular expression in `\(name)` is longer than 1000 bytes", at: value.place)
      return nil
    }
    do {
      return try Pattern(parsing: text)
    } catch {
      printError(
        "`\(Shown.text(text))` is not a regular expression: \(Shown.text("\(error)"))",
        at: value.place,
        hint: #"write a literal `(` or `[` as `\(` or `\[`"#
      )
      return nil
    }
  }

  /// A list of items read with `item`, or a single text for a list of one; invalid items are left out.
  func list<Item>(
    _ value: YAMLValue,
    as name: String,
    example: String,
    _ item: (YAMLValue) -> Item?
  ) -> [Item]? {
    switch value.content {
    case .sequence(let values): return values.compactMap(item)
    case .scalar where !value.isNull: return item(value).map { [$0] }
    case .scalar, .mapping: expected("a list", as: name, not: value, example: example)
    }
    return nil
  }

  /// A single value or a list of at least one.
  func oneOrMore<Item>(_ value: YAMLValue, as name: String, _ item: (YAMLValue) -> Item?) -> [Item]? {
    guard case .sequence(let values) = value.content else { return item(value).map { [$0] } }
    guard !values.isEmpty else {
      printError("`\(name)` must not be an empty list", at: value.place)
      return nil
    }
    return values.compactMap(item)
  }
}
