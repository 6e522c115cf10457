/// A graph with its objects, which it keeps alive until it releases them.
struct GraphWalk {
  private var graph: ObjectGraph
  private var held: [AnyObject?]

  init(graph: ObjectGraph, held: [AnyObject?]) {
    self.graph = graph
    self.held = held
  }

  /// Releases the objects one by one, each after those that hold it, and returns the graph.
  ///
  /// In this order no release ends another object, whose end would recurse: the end of a long list would exhaust the
  /// stack.
  mutating func release() -> ObjectGraph {
    graph.reference(held)
    for node in holdersFirst() { held[node] = nil }
    held = []
    return graph
  }

  /// All nodes in topological order (Kahn's algorithm); those that a cycle holds come last.
  private func holdersFirst() -> [Int] {
    var holders = [Int32](repeating: 0, count: held.count)
    let edges = graph.edges
    for edge in edges { holders[edge.target] += 1 }
    var order = held.indices.filter { holders[$0] == 0 }
    order.reserveCapacity(held.count)
    var next = 0
    while next < order.count {
      for position in graph.edgeRange(of: order[next]) {
        let target = edges[position].target
        holders[target] -= 1
        if holders[target] == 0 { order.append(target) }
      }
      next += 1
    }
    return order + held.indices.filter { holders[$0] > 0 }
  }
}
