/// An object that should have been deallocated.
public struct Leak: Sendable, Equatable {
  /// The path to the object, such as `self.children[0].parent?`.
  public let path: String

  /// The name of its class.
  public let typeName: String

  /// The reference cycles that keep it alive, such as `self → onDone{} → self`; empty if something else holds it.
  ///
  /// At most ten, one for each reference that closes a cycle.
  public let cycles: [String]
}

/// The result of `expectNoLeak`.
public struct LeakResult: Sendable, Equatable {
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
  init(of graph: ObjectGraph, emptyMessage: String, list: LeakOptions.List) {
    let leaked = graph.leaked
    let causes = LeakAnalysis(of: graph, leaked: leaked).topmost()
    let cycles = Dictionary(uniqueKeysWithValues: causes.map { ($0.node, $0.cycles) })
    let listed = list == .all ? leaked : causes.map(\.node)
    leaks = listed.map { node in
      Leak(path: graph.path(of: node), typeName: graph.nodes[node].typeName, cycles: cycles[node] ?? [])
    }
    objectCount = graph.instanceCount
    notes = graph.notes
    var lines = objectCount == 0 ? [emptyMessage] : []
    lines += Self.lines(for: leaks)
    let consequences = leaked.count - causes.reduce(0) { $0 + $1.memberCount }
    if list == .topmost, consequences > 0 {
      let objects = consequences == 1 ? "1 more object is" : "\(consequences) more objects are"
      lines.append("\(objects) held by them (`list: .all` lists all)")
    }
    if let root = causes.first(where: { $0.cycles.isEmpty && graph.nodes[$0.node].holder == nil }) {
      let name = graph.path(of: root.node)
      lines.append("hint: is `\(name)` still held by a local variable? pass a builder that makes it")
    }
    failure = lines.isEmpty ? nil : (lines + notes.map { "note: \($0)" }).joined(separator: "\n")
  }

  /// Reports that a builder has exceeded its time limit.
  init(outOfTime limit: Duration) {
    leaks = []
    objectCount = 0
    notes = []
    failure = "nothing was checked: the builder did not finish within \(limit)"
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
}
