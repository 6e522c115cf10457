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
    let topmost = LeakAnalysis(of: graph, leaked: leaked).topmost()
    let consequences = leaked.count - topmost.reduce(0) { $0 + $1.memberCount }
    switch list {
    case .topmost: leaks = topmost.map { graph.leak(at: $0.node, cycles: $0.cycles) }
    case .all: leaks = leaked.map { node in graph.leak(at: node, cycles: topmost.first { $0.node == node }?.cycles ?? []) }
    }
    objectCount = graph.instanceCount
    notes = graph.notes
    var lines: [String] = []
    if objectCount == 0 {
      lines.append(vacuity)
    }
    if !leaks.isEmpty {
      lines.append("\(leaks.count) object\(leaks.count == 1 ? "" : "s") leaked:")
      for leak in leaks {
        lines.append("- \(leak.path): \(leak.typeName)")
        lines += leak.cycles.map { "    \($0)" }
      }
      if list == .topmost, consequences > 0 {
        lines.append("\(consequences) more hang\(consequences == 1 ? "s" : "") on them (`list: .all` shows all)")
      }
      if let root = graph.rootLeak(among: leaks) {
        lines.append("hint: is `\(root)` still held by a local variable? pass a builder that makes it")
      }
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
}

extension ObjectGraph {
  fileprivate func leak(at index: Int, cycles: [String]) -> Leak {
    Leak(path: nodes[index].path, typeName: nodes[index].typeName, cycles: cycles)
  }

  /// The root that lives though no circle holds it.
  fileprivate func rootLeak(among leaks: [Leak]) -> String? {
    leaks.first { leak in
      leak.cycles.isEmpty && nodes.contains { $0.depth == 0 && $0.isInstance && $0.path == leak.path }
    }?.path
  }
}
