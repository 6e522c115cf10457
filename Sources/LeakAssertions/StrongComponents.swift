/// The strongly connected components of the living nodes of a graph (Tarjan's algorithm, without recursion).
struct StrongComponents {
  /// The component of each node; -1 for a node that is not alive.
  private(set) var number: [Int]

  /// The nodes of each component; a component comes after those that it reaches.
  private(set) var members: [[Int]] = []

  private let graph: ObjectGraph
  private let isAlive: [Bool]
  private var order: [Int]
  private var lowest: [Int]
  private var visited = 0

  /// The nodes without a component, in the order of their visits.
  private var open: [Int] = []

  /// The nodes on the way to the current one, each with its next reference.
  private var way: [(node: Int, next: Int)] = []

  init(of graph: ObjectGraph, _ isAlive: [Bool]) {
    self.graph = graph
    self.isAlive = isAlive
    number = [Int](repeating: -1, count: isAlive.count)
    order = number
    lowest = number
    for start in isAlive.indices where isAlive[start] && order[start] < 0 { search(from: start) }
  }

  private mutating func search(from start: Int) {
    enter(start)
    while let (node, next) = way.last {
      guard next < graph.edgeRange(of: node).upperBound else {
        leave(node)
        continue
      }
      way[way.count - 1].next += 1
      let target = graph.edges[next].target
      if !isAlive[target] { continue }
      if order[target] < 0 {
        enter(target)
      } else if number[target] < 0 {
        lowest[node] = min(lowest[node], order[target])
      }
    }
  }

  private mutating func enter(_ node: Int) {
    order[node] = visited
    lowest[node] = visited
    visited += 1
    open.append(node)
    way.append((node, graph.edgeRange(of: node).lowerBound))
  }

  private mutating func leave(_ node: Int) {
    way.removeLast()
    if let holder = way.last?.node { lowest[holder] = min(lowest[holder], lowest[node]) }
    guard lowest[node] == order[node] else { return }
    var found: [Int] = []
    repeat {
      found.append(open.removeLast())
      number[found[found.count - 1]] = members.count
    } while found.last != node
    members.append(found)
  }
}

/// Finds cycles within a component.
struct CycleSearch {
  /// A reference by its position in the graph.
  struct Step {
    let holder: Int
    let edge: Int
  }

  let graph: ObjectGraph
  let numbers: [Int]
  let component: Int

  /// The most cycles that are listed, and that are searched.
  private static let (maximumCycles, maximumSearches) = (10, 50)

  /// One cycle for each reference to a node that was reached before its holder, unless the reference is part of an earlier
  /// cycle: without these references there would be no cycle.
  func cycles(among members: [Int]) -> [[Step]] {
    var found: [[Step]] = []
    var covered: Set<Int> = []
    var searches = 0
    for holder in members {
      for edge in graph.edgeRange(of: holder) {
        let target = graph.edges[edge].target
        guard target <= holder, numbers[target] == component, !covered.contains(edge) else { continue }
        let cycle = way(from: target, to: holder) + [Step(holder: holder, edge: edge)]
        covered.formUnion(cycle.map(\.edge))
        if cycle.contains(where: { graph.mustEnd($0.holder) }) { found.append(cycle) }
        searches += 1
        if found.count == Self.maximumCycles || searches == Self.maximumSearches { return found }
      }
    }
    return found
  }

  /// The shortest way from one member to another.
  private func way(from start: Int, to end: Int) -> [Step] {
    var arrivals: [Int: Step] = [:]
    var open = [start]
    var next = 0
    while arrivals[end] == nil, end != start, next < open.count {
      for edge in graph.edgeRange(of: open[next]) {
        let target = graph.edges[edge].target
        guard numbers[target] == component, arrivals[target] == nil else { continue }
        arrivals[target] = Step(holder: open[next], edge: edge)
        open.append(target)
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
}
