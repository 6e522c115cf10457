/// The result of `expectNoLeak`.
public struct LeakResult: Sendable, Equatable {
  /// An object that should have been deallocated.
  public struct Leak: Sendable, Equatable {
    /// The path to the object, such as `self.children[0].parent?`; a path of more than 32 fields is abbreviated.
    public let path: String

    /// The name of its class.
    public let typeName: String

    /// The reference cycles that keep it alive, such as `self → onDone{} → self`; empty if something else holds it.
    ///
    /// At most ten, one for each reference that closes a cycle.
    public let cycles: [String]

    /// Whether the options name it in ``LeakOptions/expectedLeaks``.
    public let isExpected: Bool
  }

  /// The leaked objects, in the order of the walk.
  public let leaks: [Leak]

  /// How many objects were visited.
  public let objectCount: Int

  /// What was not inspected, and why.
  public let notes: [String]

  /// The message of the failure; `nil` if the test passed.
  public let failure: String?

  /// The paths of the leaked objects.
  public var paths: [String] {
    leaks.map(\.path)
  }
}

extension LeakResult {
  /// Lists the objects of a released graph that are still alive.
  init(of graph: ObjectGraph, emptyMessage: String, options: LeakOptions) {
    let analysis = LeakAnalysis(of: graph)
    let causes = analysis.topmost()
    leaks = Self.leaks(of: graph, options.list == .all ? analysis.leaked : causes.map(\.node), causes, options)
    objectCount = graph.instanceCount
    let exceeded = graph.exceeded.map { "not inspected: \($0)" }
    notes = graph.notes + exceeded
    let unexpected = leaks.filter { !$0.isExpected }
    var lines = objectCount == 0 && LeakCheck.isSupported ? [emptyMessage] : []
    lines += Self.lines(for: unexpected)
    let consequences = analysis.leaked.count - causes.reduce(0) { $0 + $1.memberCount }
    if options.list == .topmost, consequences > 0, !unexpected.isEmpty {
      let objects = consequences == 1 ? "1 more object is" : "\(consequences) more objects are"
      lines.append("\(objects) held by them (`list: .all` lists all)")
    }
    if !unexpected.isEmpty { lines += Self.hints(for: causes, in: graph) }
    lines += Self.missing(leaks, options)
    lines += exceeded.map { "\($0); leaks in them would be missed" }
    failure = lines.isEmpty ? nil : (lines + graph.notes.map { "note: \($0)" }).joined(separator: "\n")
  }

  /// Reports that a builder has exceeded its time limit.
  init(outOfTime limit: Duration) {
    leaks = []
    objectCount = 0
    notes = []
    failure = "nothing was checked: the builder did not finish within \(limit)"
  }

  private static func leaks(
    of graph: ObjectGraph,
    _ listed: [Int],
    _ causes: [LeakAnalysis.Cause],
    _ options: LeakOptions
  ) -> [Leak] {
    let cycles = Dictionary(uniqueKeysWithValues: causes.map { ($0.node, $0.cycles) })
    let expected = Set(options.expectedLeaks)
    return zip(listed, graph.paths(of: listed)).map { node, path in
      let type = graph.nodes[node].typeName
      let isExpected = expected.contains(path) || expected.contains(type)
      return Leak(path: path, typeName: type, cycles: cycles[node] ?? [], isExpected: isExpected)
    }
  }

  /// The most leaks in the failure message; all are in `leaks`.
  private static let maximumLines = 100

  private static func lines(for leaks: [Leak]) -> [String] {
    guard !leaks.isEmpty else {
      return []
    }
    let listed = leaks.prefix(maximumLines).flatMap { leak in
      ["- \(leak.path): \(leak.typeName)"] + leak.cycles.map { "    \($0)" }
    }
    let head = "\(leaks.count) object\(leaks.count == 1 ? "" : "s") leaked:"
    let rest = leaks.count - maximumLines
    return [head] + listed + (rest > 0 ? ["… and \(rest) more"] : [])
  }

  /// Expected leaks that did not occur: the option would hide the next one.
  private static func missing(_ leaks: [Leak], _ options: LeakOptions) -> [String] {
    options.expectedLeaks.filter { name in !leaks.contains { $0.path == name || $0.typeName == name } }
      .map { "`\($0)` did not leak: remove it from `expectedLeaks`" }
  }

  /// The most values that hints name.
  private static let maximumHints = 3

  /// What may hold the objects that no cycle holds.
  private static func hints(for causes: [LeakAnalysis.Cause], in graph: ObjectGraph) -> [String] {
    guard let cause = causes.first(where: { $0.cycles.isEmpty }) else { return [] }
    let name = graph.path(of: cause.node)
    let living = graph.opaque.filter { value in value.holder.map(graph.isAlive) ?? true }
    guard living.isEmpty else {
      return living.prefix(maximumHints).map { value in
        let path = (value.holder.map(graph.path) ?? "") + value.label
        return "hint: `\(path)` is \(value.kind.description); it may hold `\(name)`"
      }
    }
    guard graph.nodes[cause.node].holder == nil else { return [] }
    return ["hint: is `\(name)` still held by a local variable? pass a builder that makes it"]
  }
}
