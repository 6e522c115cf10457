import GateCore

/// Reads a project from the values of its file.
struct ProjectReader {
  /// The maximum number of scenarios, including those of matrices; a larger suite belongs in several jobs.
  static let mostScenarios = 5000

  /// The maximum number of values in all scenarios, with defaults and matrices expanded: about 150 for each of the
  /// maximum number of scenarios.
  static let mostScenarioValues = 750_000

  let context: ReadingContext
  /// The working directory, to which paths in messages are relative.
  let workingDirectory: String

  /// Reads the file's root value, nil if it is not a mapping; `file` is its absolute path.
  func project(_ value: YAMLValue, file: String) -> Project? {
    guard let fields = Fields(value, of: ProjectKeys.table, in: context) else { return nil }
    checkVersion(fields, isRequired: true)
    var project = Project(
      file: file,
      root: context.root,
      baselines: PathText.absolute("baselines", from: context.root),
      history: .file(PathText.absolute(".highwater/history.sqlite", from: context.root)),
      artifacts: PathText.absolute(".highwater", from: context.root)
    )
    fields.take(ProjectKeys.baselines, into: &project.baselines)
    fields.take(ProjectKeys.artifacts, into: &project.artifacts)
    fields.take(ProjectKeys.history, into: &project.history)
    fields.take(ProjectKeys.environment, into: &project.environment)
    fields.take(ProjectKeys.jobs, into: &project.jobs)
    fields.take(ProjectKeys.links, into: &project.links)
    fields.take(ProjectKeys.webhooks, into: &project.webhooks)
    let includes = fields.value(of: ProjectKeys.include) ?? []
    project.includes = includes.map(\.path)
    project.scenarios = scenarios(fields, including: includes, file: file)
    if let build = fields.value(of: ProjectKeys.build) {
      for index in project.scenarios.indices where project.scenarios[index].build == nil {
        project.scenarios[index].build = build
      }
    }
    return project
  }

  private func checkVersion(_ fields: Fields, isRequired: Bool) {
    if fields.value(of: ProjectKeys.version) == nil, isRequired, !fields.mentions("version") {
      context.printError("the file has no `version`", at: fields.place, hint: "add `version: 1`")
    }
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
      guard let fields = Fields(value, of: ProjectKeys.included, in: context) else { return nil }
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
