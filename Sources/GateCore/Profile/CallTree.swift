/// A prefix tree of call stacks, outermost function first, with the memory that each stack holds.
package struct CallTree: Sendable, Equatable {
  /// A function as the measured build names it.
  package struct Function: Sendable, Hashable {
    /// The name of the file that holds its code, such as `libc.so.6`, of an installed package with its folders; empty for
    /// code that no file holds: scripts and code that a runtime generated.
    package let module: String
    /// Demangled; empty if it is unknown.
    package let name: String
    package let file: String?
    package let line: Int?
    /// Whether the compiler has inlined it into its caller, which only debug information tells.
    package let isInlined: Bool

    package init(module: String, name: String, file: String? = nil, line: Int? = nil, isInlined: Bool = false) {
      (self.module, self.name, self.file, self.line, self.isInlined) = (module, name, file, line, isInlined)
    }
  }

  /// The stacks that end in one function, called in one way; amounts without those of its callees.
  package struct Node: Sendable, Equatable {
    /// The index of the caller's node, which precedes this one; nil for an outermost function.
    package let parent: Int?
    /// The index of its function.
    package let function: Int
    package var weight: Weight

    package init(parent: Int?, function: Int, weight: Weight = .zero) {
      (self.parent, self.function, self.weight) = (parent, function, weight)
    }
  }

  /// What a stack holds, in bytes.
  package struct Weight: Sendable, Hashable {
    /// Blocks that it allocated on the heap and that are not freed, an estimate.
    package var live: Int64
    /// Pages outside the heap that it touched first.
    package var touched: Int64
    /// The part of ``live`` that sampling estimates: times the sampling interval it is the variance of ``live``.
    package var sampled: Int64

    /// All of `live` is estimated, as of small blocks, if `sampled` is nil.
    package init(live: Int64 = 0, touched: Int64 = 0, sampled: Int64? = nil) {
      (self.live, self.touched, self.sampled) = (live, touched, sampled ?? live)
    }

    package static let zero = Weight()

    package static func + (left: Weight, right: Weight) -> Weight {
      Weight(
        live: left.live + right.live, touched: left.touched + right.touched, sampled: left.sampled + right.sampled)
    }

    package static func += (left: inout Weight, right: Weight) {
      left = left + right
    }
  }

  package private(set) var functions: [Function] = []
  package private(set) var nodes: [Node] = []

  package init() {}

  /// The tree with another name of a module, such as that of another build of the program.
  package func renamingModule(_ old: String, to new: String) -> CallTree {
    var renamed = self
    renamed.functions = functions.map { function in
      guard function.module == old else { return function }
      return Function(
        module: new, name: function.name, file: function.file, line: function.line, isInlined: function.isInlined)
    }
    return renamed
  }

  /// What all stacks hold.
  package var total: Weight { nodes.reduce(.zero) { $0 + $1.weight } }
}

extension CallTree {
  /// Collects stacks in a tree.
  package struct Builder {
    private struct Place: Hashable {
      let parent: Int?
      let function: Int
    }

    package private(set) var tree = CallTree()
    private var functions: [Function: Int] = [:]
    private var places: [Place: Int] = [:]

    package init() {}

    /// The node of a function below a caller's node, a new one if needed.
    package mutating func node(of function: Function, below parent: Int?) -> Int {
      node(ofFunction: index(of: function), below: parent)
    }

    /// The same of a function by its index.
    package mutating func node(ofFunction function: Int, below parent: Int?) -> Int {
      let place = Place(parent: parent, function: function)
      if let node = places[place] { return node }
      tree.nodes.append(Node(parent: parent, function: place.function))
      places[place] = tree.nodes.count - 1
      return tree.nodes.count - 1
    }

    package mutating func add(_ weight: Weight, to node: Int) {
      tree.nodes[node].weight += weight
    }

    /// Adds what a stack holds, which is not empty, outermost function first.
    package mutating func add(_ weight: Weight, stack: some Sequence<Function>) {
      var last: Int?
      for function in stack { last = node(of: function, below: last) }
      if let last { add(weight, to: last) }
    }

    /// The index of a function in the tree, a new one if needed.
    package mutating func index(of function: Function) -> Int {
      if let index = functions[function] { return index }
      tree.functions.append(function)
      functions[function] = tree.functions.count - 1
      return tree.functions.count - 1
    }
  }
}
