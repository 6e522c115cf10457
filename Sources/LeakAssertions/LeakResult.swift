/// An object that should be gone and is not.
public struct Leak: Sendable, Equatable {
  /// How it was reached, such as `self.children[0].parent?`.
  public let path: String

  /// The name of its class.
  public let typeName: String

  /// The circles of references that keep it, such as `self → onDone{} → self`; none where something else holds it.
  ///
  /// At most ten, one for each reference that leads back.
  public let cycles: [String]
}

/// What `expectNoLeak` has found.
public struct LeakResult: Sendable, Equatable {
  /// What has leaked, in the order of the walk.
  public let leaks: [Leak]

  /// How many objects were walked over.
  public let objectCount: Int

  /// What was not inspected, and why.
  public let notes: [String]

  /// What the test was failed with; `nil` if it was not.
  public let failure: String?

  /// The paths of what has leaked.
  public var paths: [String] {
    leaks.map(\.path)
  }
}

extension LeakResult {
  /// Says what still lives of a graph that was let go.
  init(of graph: ObjectGraph, vacuity: String, list: LeakOptions.List) {
    let leaked = graph.leaked
    let causes = LeakAnalysis(of: graph, leaked: leaked).topmost()
    let cycles = Dictionary(uniqueKeysWithValues: causes.map { ($0.node, $0.cycles) })
    let listed = list == .all ? leaked : causes.map(\.node)
    leaks = listed.map { node in
      Leak(path: graph.path(of: node), typeName: graph.nodes[node].typeName, cycles: cycles[node] ?? [])
    }
    objectCount = graph.instanceCount
    notes = graph.notes
    var lines = objectCount == 0 ? [vacuity] : []
    lines += Self.lines(for: leaks)
    let consequences = leaked.count - causes.reduce(0) { $0 + $1.memberCount }
    if list == .topmost, consequences > 0 {
      lines.append("\(consequences) more hang\(consequences == 1 ? "s" : "") on them (`list: .all` shows all)")
    }
    if let root = causes.first(where: { $0.cycles.isEmpty && graph.nodes[$0.node].holder == nil }) {
      let name = graph.path(of: root.node)
      lines.append("hint: is `\(name)` still held by a local variable? pass a builder that makes it")
    }
    failure = lines.isEmpty ? nil : (lines + notes.map { "note: \($0)" }).joined(separator: "\n")
  }

  /// Says that a builder was given up.
  init(outOfTime limit: Duration) {
    leaks = []
    objectCount = 0
    notes = []
    failure = "the builder has not ended after \(limit), so nothing was inspected"
  }

  /// So many leaks are told in words; all are in `leaks`.
  private static let mostLines = 100

  private static func lines(for leaks: [Leak]) -> [String] {
    guard !leaks.isEmpty else {
      return []
    }
    let told = leaks.prefix(mostLines).flatMap { leak in
      ["- \(leak.path): \(leak.typeName)"] + leak.cycles.map { "    \($0)" }
    }
    let head = "\(leaks.count) object\(leaks.count == 1 ? "" : "s") leaked:"
    let rest = leaks.count - mostLines
    return [head] + told + (rest > 0 ? ["… and \(rest) more"] : [])
  }
}
