/// The result of a walk: each object once, with its path and its references; all objects are referenced weakly.
///
/// `@unchecked Sendable`: objects are only referenced by `weak` references, which the runtime reads atomically, and are
/// only compared, never used.
struct ObjectGraph: @unchecked Sendable {
  /// An object, or the heap object of a closure, of a captured variable or of a collection.
  struct Node {
    /// The node from which it was reached first; `nil` for a root.
    let holder: Int?

    /// The fields in the holder that reference it, or the name of a root.
    let label: String

    let typeName: String

    /// The number of references from the root.
    let depth: Int

    /// Whether it is an instance of a class, not the context of a closure or the storage of a collection.
    let isInstance: Bool

    /// Whether it may stay alive.
    let isIgnored: Bool

    /// How long it may stay alive after its release.
    let grace: Duration
  }

  /// A reference to a node through the labelled fields.
  struct Edge {
    let label: String
    let target: Int
  }

  /// A value whose references cannot be read, such as a task.
  struct Opaque {
    let holder: Int?
    let label: String
    let kind: OpaqueKind
  }

  private struct Reference {
    weak var object: AnyObject?
  }

  /// In breadth-first order.
  private(set) var nodes: [Node] = []

  /// The references of all nodes, in the order of the nodes.
  private(set) var edges: [Edge] = []

  /// The number of references before those of each node that was expanded.
  private var firstEdges: [Int] = []

  private var references: [Reference] = []

  private var indices: [ObjectIdentifier: Int] = [:]

  /// The values whose references cannot be read.
  private(set) var opaque: [Opaque] = []

  /// What was not inspected, and why.
  private(set) var notes: [String] = []

  /// What was not inspected because of a limit: the result would miss leaks.
  private(set) var exceeded: [String] = []

  // MARK: Building

  /// The index of an object in `nodes`; a different object at the same address is not found.
  func index(of object: AnyObject) -> Int? {
    guard let index = indices[ObjectIdentifier(object)] else { return nil }
    return references.isEmpty || references[index].object === object ? index : nil
  }

  mutating func append(_ node: Node, for object: AnyObject) {
    indices[ObjectIdentifier(object)] = nodes.count
    nodes.append(node)
  }

  /// Starts the references of the next node.
  mutating func beginNode() { firstEdges.append(edges.count) }

  mutating func append(_ edge: Edge) { edges.append(edge) }

  mutating func append(_ value: Opaque) { opaque.append(value) }

  /// References the objects of all nodes, which are then released.
  mutating func reference(_ objects: [AnyObject?]) {
    references = objects.map { Reference(object: $0) }
  }

  /// Adds a note unless it exists.
  mutating func note(_ text: String) {
    if !notes.contains(text) { notes.append(text) }
  }

  /// Adds a limit unless it exists.
  mutating func exceed(_ text: String) {
    if !exceeded.contains(text) { exceeded.append(text) }
  }

  // MARK: Reading

  /// The positions of a node's references in `edges`.
  func edgeRange(of node: Int) -> Range<Int> {
    guard node < firstEdges.count else { return 0..<0 }
    return firstEdges[node]..<(node + 1 < firstEdges.count ? firstEdges[node + 1] : edges.count)
  }

  func isAlive(_ node: Int) -> Bool { references[node].object != nil }

  /// The number of class instances.
  var instanceCount: Int { nodes.count(where: \.isInstance) }

  /// Whether an object must not stay alive.
  func mustEnd(_ node: Int) -> Bool { nodes[node].isInstance && !nodes[node].isIgnored }

  /// Whether a leaked object may still be deallocated within a grace period.
  func mustWait(after elapsed: Duration, grace: Duration) -> Bool {
    for (index, node) in nodes.enumerated() where node.isInstance && !node.isIgnored {
      if max(grace, node.grace) > elapsed && isAlive(index) { return true }
    }
    return false
  }

  /// The most fields of a path that are listed, half of them from its start and half from its end.
  private static let maximumLength = 32

  /// The path by which a node was reached first, such as `self.children[0]`; a long one is abbreviated.
  func path(of index: Int) -> String {
    guard nodes[index].depth >= Self.maximumLength else { return labels(from: index, count: .max).joined() }
    let half = Self.maximumLength / 2
    var start = index
    while nodes[start].depth >= half, let holder = nodes[start].holder { start = holder }
    return abbreviated(from: start, to: index)
  }

  /// The paths of many nodes, in time that does not depend on their depth.
  func paths(of indices: [Int]) -> [String] {
    let half = Self.maximumLength / 2
    var starts: [Int] = []
    starts.reserveCapacity(nodes.count)
    // A holder comes before what it holds.
    for (index, node) in nodes.enumerated() {
      starts.append(node.depth < half ? index : node.holder.map { starts[$0] } ?? index)
    }
    return indices.map { index in
      nodes[index].depth < Self.maximumLength ? path(of: index) : abbreviated(from: starts[index], to: index)
    }
  }

  private func abbreviated(from start: Int, to end: Int) -> String {
    let half = Self.maximumLength / 2
    let left = nodes[end].depth + 1 - Self.maximumLength
    return labels(from: start, count: half).joined() + " … \(left) more … " + labels(from: end, count: half).joined()
  }

  private func labels(from index: Int, count: Int) -> [String] {
    var labels: [String] = []
    var next: Int? = index
    while let here = next, labels.count < count {
      labels.append(nodes[here].label)
      next = nodes[here].holder
    }
    return labels.reversed()
  }
}
