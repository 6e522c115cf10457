import GateCore

/// The keys of a project file, in the order of the documentation.
enum ProjectKeys {
  static let version = Key("version", versionForm, "`1`; required", standard: nil, example: "version: 1")
  static let build = Key(
    "build", .command, "the command that builds what is measured; below", example: "build: make")
  static let baselines = Key(
    "baselines", .fixedPath, "folder of the approved baselines, to be committed", standard: "`baselines`",
    example: "baselines: ci/baselines")
  static let history = Key(
    "history", HistoryKeys.form,
    "SQLite file, [PostgreSQL](postgresql.md) URL (also `{url: URL, project: NAME}`), or `off`",
    standard: "`.highwater/history.sqlite`", example: "history: off")
  static let artifacts = Key(
    "artifacts", .fixedPath,
    "folder for results, recordings, outputs and undelivered messages; git ignores it if Highwater makes it",
    standard: "`.highwater`", example: "artifacts: out")
  static let environment = Key(
    "environment", .mapping(EnvironmentKeys.table, EnvironmentKeys.rule),
    "how this class of machines is named and compared; below", standard: "derived name",
    example: "environment: {name: ci}")
  static let jobs = Key(
    "jobs", .integer(in: 1...Project.mostJobs),
    "how many scenarios a check measures at the same time, 1 to \(Project.mostJobs); `--jobs N` has precedence ([Measuring](measuring.md))",
    standard: "`1`", example: "jobs: 4")
  static let include = Key(
    "include", IncludeGlob.form,
    "list of files and patterns (`*`, `?`, `[…]`), inside the repository, at most \(IncludeGlob.mostFiles) files",
    example: "include: [scenarios/*.yml]")
  static let defaults = KeyRow(
    name: "defaults", meaning: "any key of a scenario but `name`, `target`, `build` and `matrix`", standard: "none",
    example: "defaults: {warmup: 2}", shape: .mapping { ScenarioKeys.shared })
  static let links = Key(
    "links", .mapping(LinkKeys.table, LinkKeys.links),
    "`commit`: a URL with `{commit}` in it, which makes commits on the trend page links",
    example: #"links: {commit: "https://git.example/commit/{commit}"}"#)
  static let webhooks = Key("webhooks", WebhookKeys.list, "list; below", example: #"webhooks: [{url: "${HOOK}"}]"#)
  static let scenarios = KeyRow(
    name: "scenarios", meaning: "list; below", standard: "–",
    example: "scenarios: [{name: load, target: {command: [./server]}}]",
    shape: .list(.mapping { ScenarioKeys.table }, isShort: false))

  static let table = KeyTable(
    "project", of: "a project file",
    [
      version.row, build.row, baselines.row, history.row, artifacts.row, environment.row, jobs.row, include.row,
      defaults, links.row, webhooks.row, scenarios,
    ], example: "version: 1")

  static let included = KeyTable(
    "included", of: "an included file", [version.row, scenarios], example: "scenarios: [{name: load, …}]")

  private static let versionForm = ValueForm<Int>(.integer(1...1)) { value, _, context in
    if value.scalar == "1", !value.isQuoted { return 1 }
    context.printError(
      "`version` must be 1, not \(value.found)", at: value.place, hint: "this version of highwater reads version 1")
    return nil
  }
}

/// The keys of `environment`.
enum EnvironmentKeys {
  static let name = Key(
    "name", .plainName, "a name instead of the derived one; `--environment NAME` has precedence",
    standard: "derived, such as `linux-x86_64-2cpu`", example: "name: ci-large")
  static let ignore = Key(
    "ignore", ValueForm<[Fingerprint.Field]>.list(ignoredField).map { Set($0) },
    "fields of the fingerprint to compare across: `\(ignorable.joined(separator: " "))`", example: "ignore: [cpus]")
  static let table = KeyTable(
    "environment", of: "`environment`", [name.row, ignore.row], short: "name", example: "environment: {name: ci-runner}"
  )

  static func rule(_ fields: Fields) -> EnvironmentRule {
    var rule = EnvironmentRule()
    fields.take(name, into: &rule.name)
    fields.take(ignore, into: &rule.ignoredFields)
    return rule
  }

  private static let ignorable = Fingerprint.Field.allCases.filter(\.isHard).map(\.rawValue)

  private static let ignoredField = ValueForm<Fingerprint.Field>(.words(ignorable)) { value, row, context in
    if let field = value.scalar.flatMap(Fingerprint.Field.init(rawValue:)), !field.isHard {
      context.printError(
        "`\(field.rawValue)` never prevents a comparison, so it cannot be ignored",
        at: value.place,
        hint: "the fields that can be ignored are \(Shown.list(ignorable))"
      )
      return nil
    }
    return context.word(value, as: row.name, among: ignorable).flatMap(Fingerprint.Field.init(rawValue:))
  }
}

/// The keys of `links`.
enum LinkKeys {
  static let commit = Key(
    "commit", commitForm, "the address of a commit, with `{commit}` in it",
    example: #"commit: "https://git.example/commit/{commit}""#)
  static let table = KeyTable(
    "links", of: "`links`", [commit.row], example: #"links: {commit: "https://git.example/commit/{commit}"}"#)

  static func links(_ fields: Fields) -> BuildLinks {
    var links = BuildLinks()
    fields.take(commit, into: &links.commit)
    return links
  }

  private static let commitForm = ValueForm<String>(.pattern("[{]commit[}]")) { value, row, context in
    guard context.isFixed(value, as: row.name, example: row.example),
      let address = context.address(value, as: row.name)
    else { return nil }
    guard address.contains("{commit}") else {
      context.printError("`commit` does not contain `{commit}`", at: value.place, hint: "such as `\(row.example)`")
      return nil
    }
    return address
  }
}
