import GateCore

extension ReadingContext {
  /// A command: a list of strings or, if allowed, a shell command line.
  ///
  /// Its variables are not replaced: `${X}` belongs to the shell.
  func command(_ value: YAMLValue, as name: String) -> Command? {
    if value.scalar != nil { return shellLine(value, as: name).map(Command.shell) }
    if case .sequence = value.content { return arguments(value, as: name).map(Command.arguments) }
    expected("a list of strings or a shell command line", as: name, not: value, example: "\(name): [sleep, 1]")
    return nil
  }

  /// The arguments of a command without a shell; numbers and other scalars are used as written.
  func arguments(_ value: YAMLValue, as name: String) -> [String]? {
    guard case .sequence(let items) = value.content else {
      expected("a list of strings", as: name, not: value, example: "\(name): [sleep, 1]")
      return nil
    }
    let words = items.compactMap { item -> String? in
      if item.isNull {
        printError("an item of `\(name)` is null", at: item.place, hint: "write \"\" for an empty string")
        return nil
      }
      return text(item, as: name, example: "\(name): [sleep, 1]")
    }
    guard words.count == items.count else { return nil }
    guard words.first?.isEmpty == false else {
      printError("`\(name)` is empty", at: value.place, hint: "such as `\(name): [sleep, 1]`")
      return nil
    }
    return words
  }

  func shellLine(_ value: YAMLValue, as name: String) -> String? {
    guard let line = text(value, as: name, example: "\(name): sleep 1") else { return nil }
    guard line.contains(where: { !$0.isWhitespace }) else {
      printError("`\(name)` must not be empty", at: value.place, hint: "such as `\(name): sleep 1`")
      return nil
    }
    return line
  }
}
