import GateCore

/// Reads a project from the values of its file.
struct ProjectReader {
  static let keys = [
    "version", "baselines", "history", "artifacts", "environment", "include", "defaults", "webhooks", "scenarios",
  ]

  /// Scenarios of a project, those of matrices included; a larger suite belongs into several jobs.
  static let mostScenarios = 5000

  /// The values that all scenarios may have together, defaults and matrices written out: some 150 for each of the
  /// most scenarios that there may be.
  static let mostScenarioValues = 750_000

  let context: ReadingContext
  let webhooksNeeded: Bool
  /// The working directory, from which messages name files.
  let workingDirectory: String

  /// - Parameter file: the absolute path of the project file.
  func project(_ value: YAMLValue, file: String) -> Project? {
    guard let fields = Fields(value, of: "a project file", known: Self.keys, nullable: ["history"], example: "version: 1", in: context)
    else { return nil }
    checkVersion(fields, isRequired: true)
    var project = Project(
      file: file,
      root: context.root,
      baselines: PathText.absolute("baselines", from: context.root),
      history: PathText.absolute(".highwater/history.sqlite", from: context.root),
      artifacts: PathText.absolute(".highwater", from: context.root)
    )
    fields.take("baselines", into: &project.baselines) { context.path($0, as: "baselines", example: "baselines: b") }
    fields.take("artifacts", into: &project.artifacts) { context.path($0, as: "artifacts", example: "artifacts: a") }
    if fields["history"]?.scalar == "off" {
      project.history = nil
    } else if fields["history"]?.isNull == true {
      context.complain("the key `history` has no value", at: fields.place(of: "history"), hint: "`history: off` for none")
    } else {
      fields.take("history", into: &project.history) { context.path($0, as: "history", example: "history: off") }
    }
    fields.take("environment", into: &project.environment, environmentRule)
    fields.take("webhooks", into: &project.webhooks) {
      WebhookReader(context: context, areNeeded: webhooksNeeded).webhooks($0)
    }
    project.scenarios = scenarios(fields, file: file)
    return project
  }

  private func checkVersion(_ fields: Fields, isRequired: Bool) {
    guard let value = fields["version"] else {
      if isRequired, !fields.mentions("version") {
        context.complain("the file does not say its version", at: fields.place, hint: "add `version: 1`")
      }
      return
    }
    guard value.scalar != "1" || value.isQuoted else { return }
    context.complain("`version` must be 1, not \(value.found)", at: value.place, hint: "this highwater reads version 1")
  }

  private func environmentRule(_ value: YAMLValue) -> EnvironmentRule? {
    guard
      let fields = Fields(
        value, of: "`environment`", known: ["name", "ignore"], example: "environment: {name: ci-runner}", in: context
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
      context.complain(
        "`\(field.rawValue)` is compared across anyway",
        at: value.place,
        hint: "what can be ignored is \(Shown.list(hard))"
      )
      return nil
    }
    return context.word(value, as: "ignore", among: hard).flatMap(Fingerprint.Field.init(rawValue:))
  }

  private func scenarios(_ fields: Fields, file: String) -> [Scenario] {
    var lists = fields["scenarios"].map { [$0] } ?? []
    if let include = fields["include"] {
      for path in IncludeGlob(context: context).files(include, besides: file) {
        if let list = includedScenarios(path) { lists.append(list) }
      }
    }
    var suite = Suite(context: context, defaults: fields["defaults"])
    for list in lists { suite.add(list) }
    if suite.isEmpty, context.findings.isEmpty {
      context.complain("the project has no scenarios", at: fields.place, hint: "add a list `scenarios:`")
    }
    return suite.scenarios
  }

  /// The list of an included file, which can have nothing else.
  private func includedScenarios(_ path: String) -> YAMLValue? {
    let name = PathText.shown(path, from: workingDirectory)
    context.findings.willRead(name)
    let start = SourcePlace(file: name, line: 1, column: 1)
    do throws(ProjectError) {
      guard let value = try YAMLDocument.parse(ProjectText.read(path, name: name), name: name) else {
        context.complain("the file is empty", at: start, hint: "an included file has a list `scenarios:`")
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
        context.complain("an included file needs a list `scenarios:`", at: fields.place)
      }
      return fields["scenarios"]
    } catch {
      context.findings.add(error, of: name)
      return nil
    }
  }
}

/// The scenarios of a project as they come together.
private struct Suite {
  let context: ReadingContext
  private let defaults: [YAMLValue.Entry]
  private(set) var scenarios: [Scenario] = []
  private var places: [ScenarioName: SourcePlace] = [:]
  private var weight = 0
  private var isFull = false

  init(context: ReadingContext, defaults: YAMLValue?) {
    self.context = context
    self.defaults = defaults.map { Self.checked($0, context: context) } ?? []
  }

  var isEmpty: Bool { places.isEmpty }

  mutating func add(_ list: YAMLValue) {
    guard case .sequence(let items) = list.content else {
      context.expected("a list", as: "scenarios", not: list, example: "scenarios: [{name: load, …}]")
      return
    }
    for item in items where !isFull { addMembers(of: item) }
  }

  /// The defaults' entries that are sound as keys; each of their faults is complained of once, here.
  private static func checked(_ value: YAMLValue, context: ReadingContext) -> [YAMLValue.Entry] {
    guard case .mapping(let entries) = value.content else {
      context.expected("a mapping", as: "defaults", not: value, example: "defaults: {warmup: 1}")
      return []
    }
    // What holds `{{axis}}` has no meaning before a matrix fills it.
    let now = entries.filter { !$0.value.hasPlaceholder }
    ScenarioReader(context: context).checkDefaults(YAMLValue(.mapping(now), at: value.place))
    return entries.filter { ScenarioReader.sharedKeys.contains($0.key.text) && !$0.value.isNull }
  }

  private mutating func addMembers(of item: YAMLValue) {
    guard case .mapping(let own) = item.content else {
      context.complain("a scenario must be a mapping, not \(item.found)", at: item.place, hint: "such as `- name: load`")
      return
    }
    let base = baseName(own, at: item.place)
    let merged = Self.merged(own, over: defaults)
    let matrix = own.first { $0.key.text == "matrix" && !$0.value.isNull }?.value
    let expansion = MatrixExpansion(context: context)
    guard let members = matrix.map({ expansion.members(of: $0) }) ?? [[]] else {
      // The scenario is read as it stands, for its other complaints.
      _ = ScenarioReader(context: context).scenario(
        YAMLValue(.mapping(merged.filter { !$0.value.hasPlaceholder }), at: item.place), named: ScenarioName(base ?? "")
      )
      return
    }
    let body = YAMLValue(.mapping(merged.filter { $0.key.text != "matrix" && $0.key.text != "name" }), at: item.place)
    for member in members where !isFull {
      let filled = member.isEmpty ? body : expansion.filled(body, with: member)
      add(filled, named: MatrixExpansion.name(of: base ?? "scenario", member: member), isNamed: base != nil)
    }
  }

  private mutating func add(_ value: YAMLValue, named text: String, isNamed: Bool) {
    weight += value.weight
    guard places.count < ProjectReader.mostScenarios, weight <= ProjectReader.mostScenarioValues else {
      isFull = true
      context.complain(
        "the project is too large: more than \(ProjectReader.mostScenarios) scenarios,"
          + " or \(ProjectReader.mostScenarioValues) values in them",
        at: value.place,
        hint: "split the suite over several project files"
      )
      return
    }
    let name = ScenarioName(text)
    if isNamed { register(name, at: value.place) }
    if let scenario = ScenarioReader(context: context).scenario(value, named: name) { scenarios.append(scenario) }
  }

  private mutating func register(_ name: ScenarioName, at place: SourcePlace) {
    if name.text.utf8.count > 400 {
      context.complain("the name `\(Shown.text(name.text))` is longer than 400 bytes with its matrix", at: place)
    }
    if let first = places[name] {
      context.complain("the scenario `\(Shown.text(name.text))` exists twice", at: place, hint: "the first is at \(first)")
    } else {
      places[name] = place
    }
  }

  private func baseName(_ entries: [YAMLValue.Entry], at place: SourcePlace) -> String? {
    guard let entry = entries.first(where: { $0.key.text == "name" }) else {
      context.complain("a scenario has no `name`", at: place, hint: "such as `name: load`")
      return nil
    }
    // A name without a value is complained of where all keys are.
    guard !entry.value.isNull else { return nil }
    return context.plainName(entry.value, as: "name", example: "name: load")
  }

  /// A scenario's own keys over the defaults: its value replaces the whole default, but in `gate` and `isolation` key
  /// by key, since those are lists of independent settings.
  private static func merged(_ own: [YAMLValue.Entry], over defaults: [YAMLValue.Entry]) -> [YAMLValue.Entry] {
    guard !defaults.isEmpty else { return own }
    var result = own
    for shared in defaults {
      guard let index = result.firstIndex(where: { $0.key.text == shared.key.text }) else {
        result.append(shared)
        continue
      }
      guard ["gate", "isolation"].contains(shared.key.text),
        case .mapping(let base) = shared.value.content, case .mapping(let changes) = result[index].value.content
      else { continue }
      let kept = base.map { entry in changes.first { $0.key.text == entry.key.text } ?? entry }
      let added = changes.filter { change in !base.contains { $0.key.text == change.key.text } }
      result[index].value = YAMLValue(.mapping(kept + added), at: result[index].value.place)
    }
    return result
  }
}
