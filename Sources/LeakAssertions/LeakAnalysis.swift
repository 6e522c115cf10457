/// Separates the causes of leaks from their consequences.
///
/// A pure function of a graph and of the objects that are still alive, in time that grows with their references only.
struct LeakAnalysis {
  /// Leaked objects that hold one another, and that no other leaked object holds.
  struct Cause {
    /// The member that was reached first.
    let node: Int

    let memberCount: Int

    let cycles: [String]
  }

  private let graph: ObjectGraph
  private let isAlive: [Bool]

  /// The leaked objects, in the order of the walk.
  let leaked: [Int]

  init(of graph: ObjectGraph) {
    self.graph = graph
    let isAlive = graph.nodes.indices.map(graph.isAlive)
    self.isAlive = isAlive
    leaked = graph.nodes.indices.filter { isAlive[$0] && graph.mustEnd($0) }
  }

  /// The causes, in the order of the walk.
  ///
  /// References also lead through objects that may stay alive, such as a closure, or an object of Foundation.
  func topmost() -> [Cause] {
    guard !leaked.isEmpty else { return [] }
    let components = StrongComponents(of: graph, isAlive)
    var isLeak = [Bool](repeating: false, count: components.members.count)
    for node in leaked { isLeak[components.number[node]] = true }
    var isHeld = [Bool](repeating: false, count: isLeak.count)
    var causes: [Cause] = []
    // A component comes after those that it reaches.
    for component in isLeak.indices.reversed() {
      if isLeak[component] && !isHeld[component] { causes.append(cause(components, component)) }
      guard isLeak[component] || isHeld[component] else { continue }
      for node in components.members[component] {
        for edge in graph.edges[graph.edgeRange(of: node)] where isAlive[edge.target] {
          let other = components.number[edge.target]
          if other != component { isHeld[other] = true }
        }
      }
    }
    return causes.sorted { $0.node < $1.node }
  }

  private func cause(_ components: StrongComponents, _ component: Int) -> Cause {
    let members = components.members[component]
    let leaks = members.filter(graph.mustEnd)
    let search = CycleSearch(graph: graph, numbers: components.number, component: component)
    return Cause(
      node: leaks.min() ?? members[0], memberCount: leaks.count,
      cycles: search.cycles(among: members.sorted()).map(text))
  }

  /// The most references of a cycle that are listed, half of them from its start and half from its end.
  private static let maximumLength = 16

  /// A cycle as text: the member that was reached first, the fields, and the same member again.
  private func text(of cycle: [CycleSearch.Step]) -> String {
    let start =
      cycle.indices.filter { graph.mustEnd(cycle[$0].holder) }.min { cycle[$0].holder < cycle[$1].holder } ?? 0
    let name = cycle.isEmpty ? "" : graph.path(of: cycle[start].holder)
    var labels: [String] = []
    var label = ""
    for step in cycle[start...] + cycle[..<start] {
      let edge = graph.edges[step.edge]
      label += edge.label
      // A closure and an object of the toolchain belong to the reference that leads through them.
      if graph.mustEnd(edge.target) {
        labels.append(shortLabel(label))
        label = ""
      }
    }
    if !label.isEmpty { labels.append(shortLabel(label)) }
    if labels.count > Self.maximumLength {
      let half = Self.maximumLength / 2
      labels.replaceSubrange(half..<(labels.count - half), with: ["… \(labels.count - Self.maximumLength) more …"])
    }
    return ([name] + labels + [name]).joined(separator: " → ")
  }

  /// The field without its dot, or the closure without the number of its capture.
  private func shortLabel(_ label: String) -> String {
    let field = label.firstRange(of: "{}").map { label[..<$0.upperBound] } ?? label[...]
    return String(field.hasPrefix(".") ? field.dropFirst() : field)
  }
}
