import GateCore

/// The keys of `target`.
enum TargetKeys {
  static let command = Key(
    "command", commandForm,
    "the program and its arguments, without a shell; this, `shell`, or what [runs already](#targets-that-run-already) is required",
    standard: "–", example: #"command: [redis-server, --port, "7001"]"#)
  static let shell = Key(
    "shell", shellForm, "a line for `/bin/sh -c`", standard: "–", example: "shell: exec gzip -c big > /dev/null")
  static let suite = Key(
    "suite", .mapping(SuiteKeys.table, SuiteKeys.suite),
    "a [suite of tests](suites.md#in-a-project-file) as a command, each of whose tests is judged; also with `framework` and `limit`",
    standard: "–", example: "suite: [pytest, -q]")
  static let pid = Key(
    "pid", processID, "the process with this ID, such as `${SERVER_PID}`, and its descendants", standard: "–",
    example: "pid: 4711")
  static let pidfile = Key(
    "pidfile", .path, "the process whose ID is in this file, and its descendants", standard: "–",
    example: "pidfile: run/server.pid")
  static let cgroup = Key(
    "cgroup", .path, "the processes of a cgroup: its folder, or its path below the root of the hierarchy",
    standard: "–",
    example: "cgroup: /system.slice/redis.service")
  static let unit = Key(
    "unit", .line, "the processes of a systemd unit", standard: "–", example: "unit: redis.service")
  static let userUnit = Key(
    "user-unit", .line, "the same of the user's own systemd manager", standard: "–", example: "user-unit: app.service")
  static let container = Key(
    "container", .line, "the processes of a container of podman or docker, by its name or ID", standard: "–",
    example: "container: web")
  static let image = Key(
    "image", .mapping(ImageKeys.table, ImageKeys.image),
    "a [container of an image](#containers-of-an-image), which each repetition starts and removes: its name, or a mapping",
    standard: "–", example: "image: docker.io/library/redis:7")
  static let env = Key("env", variables, "variables to set", example: "env: {LC_ALL: C}")
  static let inheritEnv = Key(
    "inherit-env", .list(.init(.pattern("^[^=]+$")) { variableName($0.scalar, at: $0.place, in: $2) }),
    "names of variables to pass through", example: "inherit-env: [JAVA_HOME]")
  static let cwd = Key("cwd", .path, "working directory", standard: "the root", example: "cwd: build")
  static let stdin = Key(
    "stdin", InputKeys.form,
    #"`null`, `pipe` (for `send`), `{file: PATH}` (of a FIFO its first writer is awaited within `timeout`), `{text: "…"}`"#,
    standard: "`null`; `pipe` where a step is `send`", example: #"stdin: {text: "quit\n"}"#)
  static let main = Key(
    "main", .mapping(MainKeys.table, MainKeys.process),
    "which process of the tree is the program: `{pidfile: PATH}` or `{name: REGEX}` (process name or command line)",
    standard: "the largest process", example: "main: {pidfile: run/x.pid}")

  static let table = KeyTable(
    "target", of: "a target",
    [
      command.row, shell.row, suite.row, pid.row, pidfile.row, cgroup.row, unit.row, userUnit.row, container.row,
      image.row, env.row, inheritEnv.row, cwd.row, stdin.row, main.row,
    ],
    short: "command",
    only: ["command", "shell", "suite", "pid", "pidfile", "cgroup", "unit", "user-unit", "container", "image"],
    example: "target: {command: [sleep, 1]}")

  static func target(_ fields: Fields) -> Target? {
    let entry = fields.only()
    if let entry, entry.key.text == image.row.name { return container(fields) }
    if let entry, !["command", "shell", "suite"].contains(entry.key.text) { return running(fields, entry) }
    let tests = entry?.key.text == "suite" ? fields.value(of: suite) : nil
    let command =
      tests?.command
      ?? entry.flatMap { entry in [Self.command, shell].first { $0.row.name == entry.key.text } }.flatMap(fields.value)
    var target = Target(command: command ?? .shell(":"), workingDirectory: fields.context.root)
    target.suite = tests?.rule
    fields.take(env, into: &target.environment)
    fields.take(inheritEnv, into: &target.inheritedEnvironment)
    fields.take(cwd, into: &target.workingDirectory)
    fields.take(stdin, into: &target.input)
    fields.take(main, into: &target.main)
    return command == nil ? nil : target
  }

  /// A target that runs already: nothing of its start can be chosen.
  private static func running(_ fields: Fields, _ entry: YAMLValue.Entry) -> Target? {
    refuse(
      [env.row.name, inheritEnv.row.name, cwd.row.name, stdin.row.name], in: fields, of: "a target that runs already",
      hint: "remove it, or start the target by `command`")
    let running: RunningTarget? =
      switch entry.key.text {
      case "pid": fields.value(of: pid).map(RunningTarget.pid)
      case "pidfile": fields.value(of: pidfile).map(RunningTarget.pidfile)
      case "cgroup": fields.value(of: cgroup).map(RunningTarget.cgroup)
      case "unit": fields.value(of: unit).map { .unit($0, ofUser: false) }
      case "user-unit": fields.value(of: userUnit).map { .unit($0, ofUser: true) }
      default: fields.value(of: container).map(RunningTarget.container)
      }
    guard var target = running.map({ Target(running: $0, workingDirectory: fields.context.root) }) else { return nil }
    fields.take(main, into: &target.main)
    return target
  }

  /// A target that a container engine starts.
  private static func container(_ fields: Fields) -> Target? {
    refuse(
      [cwd.row.name, stdin.row.name], in: fields, of: "a container",
      hint: "remove it; `options` of the `image` can have `--workdir`")
    let image = fields.value(of: image)
    guard var target = image.map({ Target(running: .image($0), workingDirectory: fields.context.root) }) else {
      return nil
    }
    fields.take(env, into: &target.environment)
    fields.take(inheritEnv, into: &target.inheritedEnvironment)
    fields.take(main, into: &target.main)
    return target
  }

  private static func refuse(_ keys: [String], in fields: Fields, of owner: String, hint: String) {
    for key in keys where fields.mentions(key) {
      fields.context.printError("`\(key)` has no effect on \(owner)", at: fields.place(of: key), hint: hint)
    }
  }

  /// `PID_MAX_LIMIT` of 64-bit kernels (proc_sys_kernel(5)).
  private static let mostProcesses = 1 << 22

  private static let processID = ValueForm<Int32>(.any([.integer(1...mostProcesses), .pattern(#"^.*\$\{.*$"#)])) {
    value, row, context in
    guard let text = context.line(value, as: row.name, example: row.example),
      let filled = context.interpolated(text, at: value.place)
    else { return nil }
    if let pid = Int32(filled), pid > 0, pid <= mostProcesses { return pid }
    // Without an environment a variable stays as it is.
    if context.environment == nil, filled.contains("${") { return 1 }
    context.printError(
      "`\(Shown.text(text))` is not a process ID", at: value.place,
      hint: "such as `\(row.example)`, or `pidfile: run/x.pid`")
    return nil
  }

  static let commandForm = ValueForm<Command>(.list(.text, isShort: false)) { value, row, context in
    if value.scalar != nil {
      context.printError(
        "`command` must be a list of strings, not \(value.found)",
        at: value.place,
        hint: "such as `command: [sleep, 1]`; for a shell command line use `shell: \"…\"`"
      )
      return nil
    }
    return context.arguments(value, as: row.name).map(Command.arguments)
  }

  private static let shellForm = ValueForm<Command>(.text) { value, row, context in
    context.shellLine(value, as: row.name).map(Command.shell)
  }

  private static let variables = ValueForm<[String: String]>(.map(["^[^=]+$": .text])) {
    value, row, context in
    guard case .mapping(let entries) = value.content else {
      context.expected("a mapping", as: row.name, not: value, example: row.example)
      return nil
    }
    var variables: [String: String] = [:]
    for entry in entries {
      guard let name = variableName(entry.key.text, at: entry.key.place, in: context) else { continue }
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

  private static func variableName(_ text: String?, at place: SourcePlace, in context: ReadingContext) -> String? {
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
}

/// The keys of `image`, which may also be its name.
enum ImageKeys {
  static let name = Key(
    "name", .line, "the image, as `podman create` and `docker create` take it", standard: nil,
    example: "name: docker.io/library/redis:7")
  static let arguments = Key(
    "arguments", words, "what follows the image: it replaces the command of the image",
    example: "arguments: [redis-server, --save, \"\"]")
  static let options = Key(
    "options", words, "further options of `create`", example: #"options: [--publish, "6379:6379"]"#)
  static let table = KeyTable(
    "image", of: "an image", [name.row, arguments.row, options.row], short: "name",
    example: "image: docker.io/library/redis:7")

  private static let words = ValueForm<[String]>(.list(.text, isShort: false)) { value, row, context in
    context.arguments(value, as: row.name)
  }

  static func image(_ fields: Fields) -> ContainerImage? {
    guard let name = fields.value(of: name) else {
      if fields["name"] == nil { fields.context.printError("an image needs a `name`", at: fields.place) }
      return nil
    }
    // The engine would take it for an option.
    guard !name.isEmpty, !name.hasPrefix("-") else {
      fields.context.printError(
        "`\(Shown.text(name))` is not the name of an image", at: fields.place, hint: "such as `\(table.example)`")
      return nil
    }
    var image = ContainerImage(name: name)
    fields.take(arguments, into: &image.arguments)
    fields.take(options, into: &image.options)
    return image
  }
}

/// The keys of `suite`.
enum SuiteKeys {
  static let command = Key(
    "command", TargetKeys.commandForm, "the command that runs the tests", standard: nil,
    example: "command: [pytest, -q]")
  static let framework = Key(
    "framework", ValueForm<SuiteRule.Framework>.choice, "the framework of the tests, if the command does not name it",
    standard: "by the words of the command", example: "framework: googletest")
  static let limit = Key(
    "limit", limits, "the most that any test may need, or by patterns of names, of which the last that fits counts",
    example: #"limit: {"*": 200MiB, "tests/slow/*": 1GiB}"#)
  static let table = KeyTable(
    "suite", of: "`suite`", [command.row, framework.row, limit.row], short: "command", example: "suite: [pytest, -q]")

  static func suite(_ fields: Fields) -> (command: Command, rule: SuiteRule)? {
    var rule = SuiteRule()
    fields.take(framework, into: &rule.framework)
    fields.take(limit, into: &rule.limits)
    return fields.value(of: command).map { ($0, rule) }
  }

  private static let limits = ValueForm<[SuiteRule.Limit]>(.any([.size, .map([".+": .size])])) { value, row, context in
    let size = ValueForm<Bytes>.limit
    guard case .mapping(let entries) = value.content else {
      return size.read(value, row, context).map { [SuiteRule.Limit($0)] }
    }
    let limits = entries.map { entry in
      size.read(entry.value, row, context).map { SuiteRule.Limit($0, of: entry.key.text) }
    }
    return limits.contains { $0 == nil } ? nil : limits.compactMap(\.self)
  }
}

/// The keys of `stdin`, which may also be a word.
enum InputKeys {
  static let file = Key("file", .path, "a file that it reads", standard: "–", example: "file: input.txt")
  static let text = Key("text", .text, "a text that it reads", standard: "–", example: "text: quit")
  static let table = KeyTable(
    "stdin", of: "`stdin`", [file.row, text.row], only: ["file", "text"], example: "stdin: {file: path}")

  static let form = ValueForm<Target.Input>(.any([.null, .words(["null", "pipe"]), .mapping { table }])) {
    value, row, context in
    if case .mapping = value.content { return Fields(value, of: table, in: context).flatMap(described) }
    switch value.isNull ? "null" : value.scalar {
    case "null": return .null
    case "pipe": return .pipe
    default:
      context.expected(
        "`null`, `pipe`, `{file: path}` or `{text: \"…\"}`", as: row.name, not: value, example: "stdin: pipe")
      return nil
    }
  }

  private static func described(_ fields: Fields) -> Target.Input? {
    guard fields.only() != nil else { return nil }
    return fields.value(of: text).map(Target.Input.text) ?? fields.value(of: file).map(Target.Input.file)
  }
}

/// The keys of `main`.
enum MainKeys {
  static let pidfile = Key(
    "pidfile", .path, "a file with its process ID", standard: "–", example: "pidfile: run/x.pid")
  static let name = Key(
    "name", .pattern, "a regular expression for its name or command line", standard: "–", example: "name: worker")
  static let table = KeyTable(
    "main", of: "`main`", [pidfile.row, name.row], only: ["pidfile", "name"], example: "main: {pidfile: run/x.pid}")

  static func process(_ fields: Fields) -> Target.MainProcess? {
    guard fields.only() != nil else { return nil }
    return fields.value(of: name).map(Target.MainProcess.name)
      ?? fields.value(of: pidfile).map(Target.MainProcess.pidfile)
  }
}
