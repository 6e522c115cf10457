/// How far this process's Swift runtime does what is expected of it.
///
/// The functions and layouts by which objects are walked are the runtime's own and documented nowhere but in its source
/// (read and tried: Swift 6.3.1 on Linux). So they are tried before the first walk, on objects that are known.
package struct RuntimeTrust: Sendable, Equatable {
  /// Whether fields are read by the runtime's lists, which tell strong references from others; else by `Mirror`.
  package let fields: Bool

  /// Whether closures are looked into.
  package let closures: Bool

  package init(fields: Bool, closures: Bool) {
    self.fields = fields
    self.closures = closures
  }

  /// What was found out at first use.
  package static let tested = RuntimeTrust(
    fields: fieldsAreAsExpected(),
    closures: fieldsAreAsExpected() && closuresAreAsExpected()
  )

  /// What a result says about it.
  package var notes: [String] {
    if !fields {
      return [
        "this Swift runtime is unknown: fields were read by Mirror, weak and unowned references count as strong, "
          + "closures were not inspected"
      ]
    }
    return closures ? [] : ["this Swift runtime is unknown: closures were not inspected"]
  }

  /// Compares names and flags with those of known types, and only then what is found by way of them.
  private static func fieldsAreAsExpected() -> Bool {
    let probe = FieldProbe(leaf: Leaf())
    let fields = RuntimeFields.all(of: FieldProbe.self)
    guard
      fields.map(\.field.label) == [".inherited", ".weakly", ".unowned", ".unmanaged", ".choice", ".any", ".tuple"],
      fields.map(\.isStrong) == [true, false, false, true, true, true, true],
      fields.first?.field.offset == 2 * MemoryLayout<UInt>.size,
      fields.first?.field.type == Leaf?.self
    else {
      return false
    }
    return paths(from: probe, closures: false) == [
      "self", "self.inherited?", "self.choice.one", "self.any", "self.tuple.0", "self.tuple.second",
    ]
  }

  private static func closuresAreAsExpected() -> Bool {
    paths(from: ClosureProbe(first: Leaf(), second: Leaf()), closures: true) == [
      "self", "self.one{}", "self.two{}", "self.two{}capture#0", "self.two{}capture#3",
    ]
  }

  private static func paths(from probe: AnyObject, closures: Bool) -> [String] {
    let graph = GraphWalker.graph(
      of: [("self", probe)],
      options: LeakOptions(),
      trust: RuntimeTrust(fields: true, closures: closures)
    )
    return graph.nodes.indices.map(graph.path)
  }
}

private final class Leaf {}

private class BaseProbe {
  var inherited: Leaf?

  init(inherited: Leaf) {
    self.inherited = inherited
  }
}

/// One field of each kind; what is not held strongly refers to the object of `inherited`.
private final class FieldProbe: BaseProbe {
  enum Choice {
    case none
    case one(Leaf)
  }

  weak var weakly: Leaf?
  unowned var unowned: Leaf
  var unmanaged: Unmanaged<Leaf>
  var choice = Choice.one(Leaf())
  var any: Any = Leaf()
  var tuple = (Leaf(), second: Leaf())

  init(leaf: Leaf) {
    weakly = leaf
    unowned = leaf
    unmanaged = Unmanaged.passUnretained(leaf)
    super.init(inherited: leaf)
  }
}

/// A closure whose context is what it captures, and one with captures of several sizes.
private final class ClosureProbe {
  let one: () -> Leaf
  let two: () -> (Leaf?, Leaf, Bool, Leaf)

  init(first: Leaf, second: Leaf) {
    let flag = first === second
    one = { first }
    let third = Leaf()
    two = { [weak first, unowned second] in (first, second, flag, third) }
  }
}
