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

/// Reads `target`.
struct TargetReader {
  static let keys = ["command", "shell", "env", "inherit-env", "cwd", "stdin", "main"]

  let context: ReadingContext

  func target(_ value: YAMLValue) -> Target? {
    guard
      let fields = Fields(
        value, of: "a target", known: Self.keys, nullable: ["stdin"], short: "command",
        example: "target: {command: [sleep, 1]}", in: context
      )
    else { return nil }
    let command = command(fields)
    var target = Target(command: command ?? .shell(":"), workingDirectory: context.root)
    fields.take("env", into: &target.environment, variables)
    fields.take("inherit-env", into: &target.inheritedEnvironment) { value in
      context.list(value, as: "inherit-env", example: "inherit-env: [JAVA_HOME]") {
        variableName($0.scalar, at: $0.place)
      }
    }
    fields.take("cwd", into: &target.workingDirectory) { context.path($0, as: "cwd", example: "cwd: build") }
    fields.take("stdin", into: &target.input, input)
    fields.take("main", into: &target.main, main)
    return command == nil ? nil : target
  }

  private func command(_ fields: Fields) -> Command? {
    guard let entry = fields.only(of: ["command", "shell"], for: "a target", in: context) else { return nil }
    if entry.key.text == "shell" { return context.shellLine(entry.value, as: "shell").map(Command.shell) }
    if entry.value.scalar != nil {
      context.printError(
        "`command` must be a list of strings, not \(entry.value.found)",
        at: entry.value.place,
        hint: "such as `command: [sleep, 1]`; for a shell command line use `shell: \"…\"`"
      )
      return nil
    }
    return context.arguments(entry.value, as: "command").map(Command.arguments)
  }

  private func variables(_ value: YAMLValue) -> [String: String]? {
    guard case .mapping(let entries) = value.content else {
      context.expected("a mapping", as: "env", not: value, example: "env: {LC_ALL: C}")
      return nil
    }
    var variables: [String: String] = [:]
    for entry in entries {
      guard let name = variableName(entry.key.text, at: entry.key.place) else { continue }
      if variables[name] != nil {
        context.printError("duplicate variable `\(Shown.text(name))`", at: entry.key.place)
      }
      if entry.value.isNull {
        context.printError(
          "the variable `\(Shown.text(name))` has no value",
          at: entry.key.place,
          hint: "write \"\" for an empty string"
        )
      }
      variables[name] = entry.value.isNull ? "" : context.text(entry.value, as: name, example: "\(name): text")
    }
    return variables
  }

  private func variableName(_ text: String?, at place: SourcePlace) -> String? {
    guard let text, !text.isEmpty, !text.contains("="), !Shown.hasHarmful(text), text.utf8.count <= 1000 else {
      context.printError(
        "`\(Shown.text(text ?? ""))` is not a variable name",
        at: place,
        hint: "a name has no `=` and no control characters, such as `JAVA_HOME`"
      )
      return nil
    }
    guard text != "HIGHWATER_MARKS" else {
      context.printError("`HIGHWATER_MARKS` is set by highwater itself", at: place, hint: "remove it")
      return nil
    }
    return text
  }

  private func input(_ value: YAMLValue) -> Target.Input? {
    if case .mapping = value.content { return describedInput(value) }
    switch value.isNull ? "null" : value.scalar {
    case "null": return .null
    case "pipe": return .pipe
    default:
      context.expected(
        "`null`, `pipe`, `{file: path}` or `{text: \"…\"}`", as: "stdin", not: value, example: "stdin: pipe"
      )
      return nil
    }
  }

  private func describedInput(_ value: YAMLValue) -> Target.Input? {
    guard
      let fields = Fields(
        value, of: "`stdin`", known: ["file", "text"], example: "stdin: {file: path}", in: context
      ), let entry = fields.only(of: ["file", "text"], for: "`stdin`", in: context)
    else { return nil }
    if entry.key.text == "text" {
      return context.text(entry.value, as: "text", example: "text: quit").map(Target.Input.text)
    }
    return context.path(entry.value, as: "file", example: "file: input.txt").map(Target.Input.file)
  }

  private func main(_ value: YAMLValue) -> Target.MainProcess? {
    guard
      let fields = Fields(
        value, of: "`main`", known: ["pidfile", "name"], example: "main: {pidfile: run/x.pid}", in: context
      ), let entry = fields.only(of: ["pidfile", "name"], for: "`main`", in: context)
    else { return nil }
    if entry.key.text == "name" {
      return context.pattern(entry.value, as: "name", example: "name: worker").map(Target.MainProcess.name)
    }
    return context.path(entry.value, as: "pidfile", example: "pidfile: run/x.pid").map(Target.MainProcess.pidfile)
  }
}
