/// What a walk has found: every object once, how it was reached, and what it holds; all by weak references.
///
/// `@unchecked Sendable`: the objects are referred to by `weak` references only, which the runtime reads atomically, and
/// are compared with `nil` and with one another, never used.
struct ObjectGraph: @unchecked Sendable {
  /// An object, or the heap object of a closure or of a captured variable.
  struct Node {
    weak var object: AnyObject?

    /// The node that it was reached from first; `nil` for a root.
    let holder: Int?

    /// The fields that lead there from its holder, or the name of a root.
    let label: String

    let typeName: String

    /// How many objects lie between it and the root.
    let depth: Int

    /// Whether it is an instance of a class, and not the context of a closure.
    let isInstance: Bool

    /// Whether it may live on; what hangs on it may not.
    let isIgnored: Bool

    /// How long it may live on after it has been let go.
    let grace: Duration

    var edges: [Edge] = []
  }

  /// A reference from one node to another, by the fields that lead there.
  struct Edge {
    let label: String
    let target: Int
  }

  /// In the order in which they were reached, those nearer to the root first.
  var nodes: [Node] = []

  /// What was not inspected, and why.
  var notes: [String] = []

  private var indices: [ObjectIdentifier: Int] = [:]

  /// Where an object stands in `nodes`; another one that has come to lie at its address is another object.
  func index(of object: AnyObject) -> Int? {
    indices[ObjectIdentifier(object)].flatMap { nodes[$0].object === object ? $0 : nil }
  }

  /// How a node was reached first, such as `self.children[0]`.
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

  /// Adds a note, each once.
  mutating func note(_ text: String) {
    if !notes.contains(text) {
      notes.append(text)
    }
  }

  /// How many instances of classes were found.
  var instanceCount: Int {
    nodes.count(where: \.isInstance)
  }

  /// The objects that live and should not.
  var leaked: [Int] {
    nodes.indices.filter { nodes[$0].isInstance && !nodes[$0].isIgnored && nodes[$0].object != nil }
  }

  /// Whether an object still lives that may do so for a while longer.
  func mustWait(after elapsed: Duration, grace: Duration) -> Bool {
    leaked.contains { max(grace, nodes[$0].grace) > elapsed }
  }
}
