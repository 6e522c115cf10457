/// Separates the causes of leaks from their consequences.
///
/// A pure function of a graph and of the objects that are still alive.
struct LeakAnalysis {
  /// A strongly connected component of leaked objects that no other leaked object references.
  struct Cause {
    /// The member that was reached first.
    let node: Int

    let memberCount: Int

    let cycles: [String]
  }

  private struct Reference: Hashable {
    let holder: Int
    let label: String
    let target: Int
  }

  private let graph: ObjectGraph
  private let leaked: [Int]

  /// The references between leaked objects, directly or through live closures and captured variables.
  private let references: [Int: [Reference]]

  init(of graph: ObjectGraph, leaked: [Int]) {
    self.graph = graph
    self.leaked = leaked
    let members = Set(leaked)
    references = Dictionary(
      uniqueKeysWithValues: leaked.map { ($0, Self.references(from: $0, in: graph, among: members)) }
    )
  }

  private static func references(from start: Int, in graph: ObjectGraph, among members: Set<Int>) -> [Reference] {
    var found: [Reference] = []
    var seen: Set<Int> = []
    var open = [Reference(holder: start, label: "", target: start)]
    var next = 0
    while next < open.count {
      let here = open[next]
      next += 1
      for edge in graph.nodes[here.target].edges {
        let reference = Reference(holder: start, label: here.label + edge.label, target: edge.target)
        if members.contains(edge.target) {
          found.append(reference)
        } else if !graph.nodes[edge.target].isInstance, graph.nodes[edge.target].object != nil,
          seen.insert(edge.target).inserted
        {
          open.append(reference)
        }
      }
    }
    return found
  }

  /// The causes, in the order of the walk.
  ///
  /// In the reverse order in which a depth-first search finishes the nodes, a component comes before those that it reaches
  /// (the first half of the algorithm of Kosaraju and Sharir).
  func topmost() -> [Cause] {
    var seen: Set<Int> = []
    var causes: [Cause] = []
    for candidate in finished().reversed() where !seen.contains(candidate) {
      let below = reached(from: candidate, avoiding: seen)
      seen.formUnion(below)
      causes.append(cause(from: candidate, below: below))
    }
    return causes.sorted { $0.node < $1.node }
  }

  /// The leaked objects in the order in which a depth-first search finishes them.
  private func finished() -> [Int] {
    var order: [Int] = []
    var seen: Set<Int> = []
    for start in leaked where seen.insert(start).inserted {
      var stack = [(node: start, next: 0)]
      while let (node, next) = stack.last {
        guard let reference = references[node]?.dropFirst(next).first else {
          order.append(node)
          stack.removeLast()
          continue
        }
        stack[stack.count - 1].next += 1
        if seen.insert(reference.target).inserted {
          stack.append((reference.target, 0))
        }
      }
    }
    return order
  }

  private func reached(from start: Int, avoiding: Set<Int>) -> Set<Int> {
    var seen: Set<Int> = [start]
    var open = [start]
    while let node = open.popLast() {
      for reference in references[node] ?? []
      where !avoiding.contains(reference.target) && seen.insert(reference.target).inserted {
        open.append(reference.target)
      }
    }
    return seen
  }

  // MARK: Cycles

  /// The most cycles that are listed; each costs a search.
  private static let maximumCycles = 10

  /// The most references of a cycle that are listed, half of them from its start and half from its end.
  private static let maximumLength = 16

  /// The component of an object, which no object outside of it references.
  private func cause(from member: Int, below: Set<Int>) -> Cause {
    var holders: [Int: [Int]] = [:]
    for node in below {
      for reference in references[node] ?? [] {
        holders[reference.target, default: []].append(node)
      }
    }
    var component: Set<Int> = [member]
    var open = [member]
    while let node = open.popLast() {
      for holder in holders[node] ?? [] where component.insert(holder).inserted {
        open.append(holder)
      }
    }
    return Cause(node: component.min() ?? member, memberCount: component.count, cycles: cycles(in: component))
  }

  /// One cycle for each reference to an object that was reached before its holder, unless the reference is part of an
  /// earlier cycle: without these references there would be no cycle.
  private func cycles(in component: Set<Int>) -> [String] {
    var found: [[Reference]] = []
    var covered: Set<Reference> = []
    for holder in component.sorted() {
      for reference in references[holder] ?? []
      where reference.target <= holder && component.contains(reference.target) {
        guard !covered.contains(reference) else {
          continue
        }
        let cycle = path(from: reference.target, to: holder, within: component) + [reference]
        covered.formUnion(cycle)
        found.append(cycle)
        if found.count == Self.maximumCycles {
          return found.map(text)
        }
      }
    }
    return found.map(text)
  }

  /// The shortest path from one member of a component to another.
  private func path(from start: Int, to end: Int, within component: Set<Int>) -> [Reference] {
    var arrivals: [Int: Reference] = [:]
    var open = [start]
    var next = 0
    while arrivals[end] == nil, end != start, next < open.count {
      for reference in references[open[next]] ?? []
      where component.contains(reference.target) && arrivals[reference.target] == nil {
        arrivals[reference.target] = reference
        open.append(reference.target)
      }
      next += 1
    }
    var backwards: [Reference] = []
    var node = end
    while node != start, let arrival = arrivals[node] {
      backwards.append(arrival)
      node = arrival.holder
    }
    return backwards.reversed()
  }

  /// A cycle as text: the member that was reached first, the fields, and the same member again.
  private func text(of cycle: [Reference]) -> String {
    let start = cycle.indices.min { cycle[$0].holder < cycle[$1].holder } ?? 0
    let name = cycle.isEmpty ? "" : graph.path(of: cycle[start].holder)
    var labels = (cycle[start...] + cycle[..<start]).map { shortLabel($0.label) }
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
