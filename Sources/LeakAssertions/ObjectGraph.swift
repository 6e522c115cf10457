/// The result of a walk: each object once, with its path and its references; all objects are referenced weakly.
///
/// `@unchecked Sendable`: objects are only referenced by `weak` references, which the runtime reads atomically, and are
/// only compared, never used.
struct ObjectGraph: @unchecked Sendable {
  /// An object, or the heap object of a closure or of a captured variable.
  struct Node {
    weak var object: AnyObject?

    /// The node from which it was reached first; `nil` for a root.
    let holder: Int?

    /// The fields in the holder that reference it, or the name of a root.
    let label: String

    let typeName: String

    /// The number of references from the root.
    let depth: Int

    /// Whether it is an instance of a class, not the context of a closure.
    let isInstance: Bool

    /// Whether it may stay alive.
    let isIgnored: Bool

    /// How long it may stay alive after its release.
    let grace: Duration

    var edges: [Edge] = []
  }

  /// A reference from one node to another through the labelled fields.
  struct Edge {
    let label: String
    let target: Int
  }

  /// In breadth-first order.
  var nodes: [Node] = []

  /// What was not inspected, and why.
  var notes: [String] = []

  private var indices: [ObjectIdentifier: Int] = [:]

  /// The index of an object in `nodes`; a different object at the same address is not found.
  func index(of object: AnyObject) -> Int? {
    indices[ObjectIdentifier(object)].flatMap { nodes[$0].object === object ? $0 : nil }
  }

  /// The path by which a node was reached first, such as `self.children[0]`.
  func path(of index: Int) -> String {
    var labels: [String] = []
    var next: Int? = index
    while let here = next {
      labels.append(nodes[here].label)
      next = nodes[here].holder
    }
    return labels.reversed().joined()
  }

  mutating func append(_ node: Node, for object: AnyObject) {
    indices[ObjectIdentifier(object)] = nodes.count
    nodes.append(node)
  }

  /// Adds a note unless it exists.
  mutating func note(_ text: String) {
    if !notes.contains(text) {
      notes.append(text)
    }
  }

  /// The number of class instances.
  var instanceCount: Int {
    nodes.count(where: \.isInstance)
  }

  /// The indices of the objects that should have been deallocated.
  var leaked: [Int] {
    nodes.indices.filter { nodes[$0].isInstance && !nodes[$0].isIgnored && nodes[$0].object != nil }
  }

  /// Whether a leaked object may still be deallocated within a grace period.
  func mustWait(after elapsed: Duration, grace: Duration) -> Bool {
    leaked.contains { max(grace, nodes[$0].grace) > elapsed }
  }
}
