import GateCore

/// The scenarios of a project, collected from all its files.
struct Suite {
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

  /// The defaults with valid keys; each of their errors is reported once, here.
  private static func checked(_ value: YAMLValue, context: ReadingContext) -> [YAMLValue.Entry] {
    guard case .mapping(let entries) = value.content else {
      context.expected("a mapping", as: "defaults", not: value, example: "defaults: {warmup: 1}")
      return []
    }
    // A value with `{{axis}}` has no meaning until a matrix fills it in.
    let now = entries.filter { !$0.value.hasPlaceholder }
    ScenarioReader(context: context).checkDefaults(YAMLValue(.mapping(now), at: value.place))
    return entries.filter { ScenarioKeys.shared.keys.contains($0.key.text) && !$0.value.isNull }
  }

  private mutating func addMembers(of item: YAMLValue) {
    guard case .mapping(let own) = item.content else {
      context.printError(
        "a scenario must be a mapping, not \(item.found)", at: item.place, hint: "such as `- name: load`")
      return
    }
    let base = baseName(own, at: item.place)
    let merged = Self.merged(own, over: Self.isSuite(own) ? defaultsOfSuites : defaults)
    let matrix = own.first { $0.key.text == "matrix" && !$0.value.isNull }?.value
    let expansion = MatrixExpansion(context: context)
    guard let members = matrix.map({ expansion.members(of: $0) }) ?? [[]] else {
      // The scenario is read without the matrix, for its other diagnostics.
      _ = ScenarioReader(context: context).scenario(
        YAMLValue(.mapping(merged.filter { !$0.value.hasPlaceholder }), at: item.place), named: ScenarioName(base ?? "")
      )
      return
    }
    // A key without a value is kept, and reported with the other keys.
    let rest = merged.filter { !["matrix", "name", "scale"].contains($0.key.text) || $0.value.isNull }
    let body = YAMLValue(.mapping(rest), at: item.place)
    let scale = own.first { $0.key.text == "scale" && !$0.value.isNull }
    let axis = scale.flatMap { ScenarioKeys.scale.read($0.value, in: context) }
    if scale != nil, axis == nil { return }
    if let axis, let scale, !body.contains(placeholder: axis.name) {
      return context.printError(
        "the axis `\(axis.name)` of `scale` is used nowhere in the scenario", at: scale.value.place,
        hint: "write `{{\(axis.name)}}` where the number of items belongs")
    }
    for member in members where !isFull {
      let name = MatrixExpansion.name(of: base ?? "scenario", member: member)
      let bodies = axis.map { axis in
        axis.values.map { expansion.filled(body, with: member + [(axis.name, $0)]) }
      }
      let filled = bodies?.last ?? (member.isEmpty ? body : expansion.filled(body, with: member))
      let count = scenarios.count
      add(filled, named: name, isNamed: base != nil)
      if let axis, let bodies, scenarios.count > count {
        setScale(axis, bodies)
      } else if scenarios.count > count {
        checkScaleMetrics(at: item.place)
      }
    }
  }

  /// Makes the last scenario, which is that of the largest value, run with the smaller ones as well.
  private mutating func setScale(_ axis: ScaleKeys.Axis, _ bodies: [YAMLValue]) {
    let name = scenarios[scenarios.count - 1].name
    let smaller = bodies.dropLast().compactMap { ScenarioReader(context: context).scenario($0, named: name) }
    guard smaller.count == bodies.count - 1 else { return }
    weight += bodies.dropLast().reduce(0) { $0 + $1.weight }
    scenarios[scenarios.count - 1].scale = Scale(
      axis: axis.name, values: axis.values.compactMap(Double.init), smaller: smaller)
    guard scenarios[scenarios.count - 1].gate.isStandard else { return }
    scenarios[scenarios.count - 1].gate.rules += MetricName.ofScale.map {
      GateRule(metric: $0, tolerance: .standard(of: $0))
    }
  }

  /// Reports a rule on what only a scenario with a `scale` has.
  private func checkScaleMetrics(at place: SourcePlace) {
    guard let rule = scenarios.last?.gate.rules.first(where: { ScaleMetric($0.metric) != nil }) else { return }
    context.printError(
      "`\(rule.metric)` needs a `scale`", at: place, hint: "such as `\(ScaleKeys.table.example)`")
  }

  private mutating func add(_ value: YAMLValue, named text: String, isNamed: Bool) {
    weight += value.weight
    guard places.count < ProjectReader.mostScenarios, weight <= ProjectReader.mostScenarioValues else {
      isFull = true
      context.printError(
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
      context.printError(
        "the name `\(Shown.text(name.text))` is longer than 400 bytes with its matrix values", at: place)
    }
    if let first = places[name] {
      context.printError(
        "duplicate scenario name `\(Shown.text(name.text))`", at: place, hint: "the first is at \(first)")
    } else {
      places[name] = place
    }
  }

  private func baseName(_ entries: [YAMLValue.Entry], at place: SourcePlace) -> String? {
    guard let entry = entries.first(where: { $0.key.text == "name" }) else {
      context.printError("a scenario has no `name`", at: place, hint: "such as `name: load`")
      return nil
    }
    // A name without a value is reported with the other keys.
    guard !entry.value.isNull else { return nil }
    return ScenarioKeys.name.read(entry.value, in: context)
  }

  /// Whether the target is a suite of tests.
  private static func isSuite(_ entries: [YAMLValue.Entry]) -> Bool {
    guard case .mapping(let target)? = entries.first(where: { $0.key.text == "target" })?.value.content else {
      return false
    }
    return target.contains { $0.key.text == "suite" }
  }

  private var defaultsOfSuites: [YAMLValue.Entry] {
    // The default is of a program, and suites take longer.
    defaults.filter { ScenarioKeys.ofSuite.contains($0.key.text) && $0.key.text != "timeout" }
  }

  /// A scenario's own keys over the defaults: a value replaces the whole default, except in `gate` and `isolation`,
  /// which merge by key, since they are lists of independent settings.
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
      let known = Set(base.map(\.key.text))
      let own = Dictionary(changes.map { ($0.key.text, $0) }) { first, _ in first }
      let kept = base.map { own[$0.key.text] ?? $0 }
      let added = changes.filter { !known.contains($0.key.text) }
      result[index].value = YAMLValue(.mapping(kept + added), at: result[index].value.place)
    }
    return result
  }
}
