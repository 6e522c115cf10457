import GateCore

/// Reads a project from the values of its file.
struct ProjectReader {
  static let keys = [
    "version", "baselines", "history", "artifacts", "environment", "jobs", "include", "defaults", "links", "webhooks",
    "scenarios",
  ]

  /// The maximum number of scenarios, including those of matrices; a larger suite belongs in several jobs.
  static let mostScenarios = 5000

  /// The maximum number of values in all scenarios, with defaults and matrices expanded: about 150 for each of the
  /// maximum number of scenarios.
  static let mostScenarioValues = 750_000

  let context: ReadingContext
  let webhooksNeeded: Bool
  /// The working directory, to which paths in messages are relative.
  let workingDirectory: String

  /// Reads the file's root value, nil if it is not a mapping; `file` is its absolute path.
  func project(_ value: YAMLValue, file: String) -> Project? {
    guard
      let fields = Fields(
        value, of: "a project file", known: Self.keys, nullable: ["history"], example: "version: 1", in: context)
    else { return nil }
    checkVersion(fields, isRequired: true)
    var project = Project(
      file: file,
      root: context.root,
      baselines: PathText.absolute("baselines", from: context.root),
      history: .file(PathText.absolute(".highwater/history.sqlite", from: context.root)),
      artifacts: PathText.absolute(".highwater", from: context.root)
    )
    fields.take("baselines", into: &project.baselines) {
      context.fixedPath($0, as: "baselines", example: "baselines: b")
    }
    fields.take("artifacts", into: &project.artifacts) {
      context.fixedPath($0, as: "artifacts", example: "artifacts: a")
    }
    if fields["history"]?.scalar == "off" {
      project.history = nil
    } else if fields["history"]?.isNull == true {
      context.printError(
        "the key `history` has no value", at: fields.place(of: "history"), hint: "`history: off` for none")
    } else {
      fields.take("history", into: &project.history, context.history)
    }
    fields.take("environment", into: &project.environment, environmentRule)
    fields.take("jobs", into: &project.jobs) { context.integer($0, as: "jobs", in: 1...Project.mostJobs) }
    fields.take("links", into: &project.links, links)
    fields.take("webhooks", into: &project.webhooks) {
      WebhookReader(context: context, areNeeded: webhooksNeeded).webhooks($0)
    }
    let includes = fields["include"].map(IncludeGlob(context: context).patterns) ?? []
    project.includes = includes.map(\.path)
    project.scenarios = scenarios(fields, including: includes, file: file)
    return project
  }

  private func checkVersion(_ fields: Fields, isRequired: Bool) {
    guard let value = fields["version"] else {
      if isRequired, !fields.mentions("version") {
        context.printError("the file has no `version`", at: fields.place, hint: "add `version: 1`")
      }
      return
    }
    guard value.scalar != "1" || value.isQuoted else { return }
    context.printError(
      "`version` must be 1, not \(value.found)", at: value.place, hint: "this version of highwater reads version 1")
  }

  private func environmentRule(_ value: YAMLValue) -> EnvironmentRule? {
    guard
      let fields = Fields(
        value, of: "`environment`", known: ["name", "ignore"], short: "name", example: "environment: {name: ci-runner}",
        in: context
      )
    else { return nil }
    var rule = EnvironmentRule()
    fields.take("name", into: &rule.name) { context.plainName($0, as: "name", example: "name: ci-runner") }
    fields.take("ignore", into: &rule.ignoredFields) { value in
      context.list(value, as: "ignore", example: "ignore: [cpus]", ignoredField).map(Set.init)
    }
    return rule
  }

  private func ignoredField(_ value: YAMLValue) -> Fingerprint.Field? {
    let hard = Fingerprint.Field.allCases.filter(\.isHard).map(\.rawValue)
    if let field = value.scalar.flatMap(Fingerprint.Field.init(rawValue:)), !field.isHard {
      context.printError(
        "`\(field.rawValue)` never prevents a comparison, so it cannot be ignored",
        at: value.place,
        hint: "the fields that can be ignored are \(Shown.list(hard))"
      )
      return nil
    }
    return context.word(value, as: "ignore", among: hard).flatMap(Fingerprint.Field.init(rawValue:))
  }

  private func links(_ value: YAMLValue) -> BuildLinks? {
    let example = "links: {commit: \"https://git.example/commit/{commit}\"}"
    guard let fields = Fields(value, of: "`links`", known: ["commit"], example: example, in: context) else {
      return nil
    }
    var links = BuildLinks()
    fields.take("commit", into: &links.commit) { value in
      guard let address = context.address(value, as: "commit") else { return nil }
      guard address.contains("{commit}") else {
        context.printError("`commit` does not contain `{commit}`", at: value.place, hint: example)
        return nil
      }
      return address
    }
    return links
  }

  private func scenarios(_ fields: Fields, including includes: [IncludeGlob.Pattern], file: String) -> [Scenario] {
    var lists = fields["scenarios"].map { [$0] } ?? []
    for path in IncludeGlob(context: context).files(includes, besides: file) {
      guard let list = includedScenarios(path) else { continue }
      if case .sequence(let items) = list.content, items.isEmpty {
        context.printError("the file has no scenarios", at: list.place, hint: "remove the file, or add a scenario")
      }
      lists.append(list)
    }
    var suite = Suite(context: context, defaults: fields["defaults"])
    for list in lists { suite.add(list) }
    if suite.isEmpty, context.findings.isEmpty {
      context.printError("the project has no scenarios", at: fields.place, hint: "add a list `scenarios:`")
    }
    return suite.scenarios
  }

  /// The scenario list of an included file, which has no other content.
  private func includedScenarios(_ path: String) -> YAMLValue? {
    let name = PathText.shown(path, from: workingDirectory)
    context.findings.willRead(name)
    let start = SourcePlace(file: name, line: 1, column: 1)
    do throws(ProjectError) {
      guard let value = try YAMLDocument.parse(ProjectText.read(path, name: name), name: name) else {
        context.printError("the file is empty", at: start, hint: "an included file has a list `scenarios:`")
        return nil
      }
      guard
        let fields = Fields(
          value, of: "an included file", known: ["version", "scenarios"], example: "scenarios: [{name: load, …}]",
          in: context
        )
      else { return nil }
      checkVersion(fields, isRequired: false)
      if fields["scenarios"] == nil {
        context.printError("an included file needs a list `scenarios:`", at: fields.place)
      }
      return fields["scenarios"]
    } catch {
      context.findings.add(error, of: name)
      return nil
    }
  }
}
