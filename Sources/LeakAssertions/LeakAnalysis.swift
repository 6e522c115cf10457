/// Tells, among objects that have leaked, causes from consequences.
///
/// A pure function of a graph and of which of its objects live.
struct LeakAnalysis {
  /// Objects that hold one another, or one alone, and that no other leaked object holds.
  struct Cause {
    /// The one that was reached first.
    let node: Int

    let memberCount: Int

    let cycles: [String]
  }

  private struct Step: Hashable {
    let holder: Int
    let label: String
    let target: Int
  }

  private let graph: ObjectGraph
  private let leaked: [Int]

  /// What each leaked object holds of the others, directly or by closures and captured variables that live.
  private let steps: [Int: [Step]]

  init(of graph: ObjectGraph, leaked: [Int]) {
    self.graph = graph
    self.leaked = leaked
    let members = Set(leaked)
    steps = Dictionary(
      uniqueKeysWithValues: leaked.map { ($0, Self.steps(from: $0, in: graph, among: members)) }
    )
  }

  private static func steps(from start: Int, in graph: ObjectGraph, among members: Set<Int>) -> [Step] {
    var found: [Step] = []
    var seen: Set<Int> = []
    var open = [Step(holder: start, label: "", target: start)]
    var next = 0
    while next < open.count {
      let here = open[next]
      next += 1
      for edge in graph.nodes[here.target].edges {
        let step = Step(holder: start, label: here.label + edge.label, target: edge.target)
        if members.contains(edge.target) {
          found.append(step)
        } else if !graph.nodes[edge.target].isInstance, graph.nodes[edge.target].object != nil,
          seen.insert(edge.target).inserted
        {
          open.append(step)
        }
      }
    }
    return found
  }

  /// The causes, in the order of the walk.
  ///
  /// A component that no other reaches is the first to be met when nodes are taken from the last that a depth-first
  /// search has finished (the first half of Kosaraju's and Sharir's algorithm).
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

  /// The leaked objects in the order in which a depth-first search is done with them.
  private func finished() -> [Int] {
    var order: [Int] = []
    var seen: Set<Int> = []
    for start in leaked where seen.insert(start).inserted {
      var stack = [(node: start, next: 0)]
      while let (node, next) = stack.last {
        guard let step = steps[node]?.dropFirst(next).first else {
          order.append(node)
          stack.removeLast()
          continue
        }
        stack[stack.count - 1].next += 1
        if seen.insert(step.target).inserted {
          stack.append((step.target, 0))
        }
      }
    }
    return order
  }

  private func reached(from start: Int, avoiding: Set<Int>) -> Set<Int> {
    var seen: Set<Int> = [start]
    var open = [start]
    while let node = open.popLast() {
      for step in steps[node] ?? [] where !avoiding.contains(step.target) && seen.insert(step.target).inserted {
        open.append(step.target)
      }
    }
    return seen
  }

  // MARK: Circles

  /// More than these nobody reads; each costs a search.
  private static let mostCycles = 10

  /// So many steps of a circle are told, half of them from its start and half from its end.
  private static let mostSteps = 16

  /// The component of an object that nothing outside of it reaches.
  private func cause(from member: Int, below: Set<Int>) -> Cause {
    var holders: [Int: [Int]] = [:]
    for node in below {
      for step in steps[node] ?? [] {
        holders[step.target, default: []].append(node)
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

  /// One circle for each reference that leads back to an object that was reached before its holder, unless it is part
  /// of a circle that was told already: without these references there would be no circle.
  private func cycles(in component: Set<Int>) -> [String] {
    var found: [[Step]] = []
    var told: Set<Step> = []
    for holder in component.sorted() {
      for step in steps[holder] ?? [] where step.target <= holder && component.contains(step.target) {
        guard !told.contains(step) else {
          continue
        }
        let circle = path(from: step.target, to: holder, within: component) + [step]
        told.formUnion(circle)
        found.append(circle)
        if found.count == Self.mostCycles {
          return found.map(text)
        }
      }
    }
    return found.map(text)
  }

  /// The shortest way from one member of a component to another.
  private func path(from start: Int, to end: Int, within component: Set<Int>) -> [Step] {
    var arrivals: [Int: Step] = [:]
    var open = [start]
    var next = 0
    while arrivals[end] == nil, end != start, next < open.count {
      for step in steps[open[next]] ?? [] where component.contains(step.target) && arrivals[step.target] == nil {
        arrivals[step.target] = step
        open.append(step.target)
      }
      next += 1
    }
    var backwards: [Step] = []
    var node = end
    while node != start, let arrival = arrivals[node] {
      backwards.append(arrival)
      node = arrival.holder
    }
    return backwards.reversed()
  }

  /// A circle in words: from the member that was reached first, by the fields that lead on, back to it.
  private func text(of circle: [Step]) -> String {
    let start = circle.indices.min { circle[$0].holder < circle[$1].holder } ?? 0
    let name = circle.isEmpty ? "" : graph.path(of: circle[start].holder)
    var labels = (circle[start...] + circle[..<start]).map { shortLabel($0.label) }
    if labels.count > Self.mostSteps {
      let half = Self.mostSteps / 2
      labels.replaceSubrange(half..<(labels.count - half), with: ["… \(labels.count - Self.mostSteps) more …"])
    }
    return ([name] + labels + [name]).joined(separator: " → ")
  }

  /// The field without its dot, and a closure without the number of its capture.
  private func shortLabel(_ label: String) -> String {
    let field = label.firstRange(of: "{}").map { label[..<$0.upperBound] } ?? label[...]
    return String(field.hasPrefix(".") ? field.dropFirst() : field)
  }
}
