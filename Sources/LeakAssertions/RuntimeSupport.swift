/// Which features of this process's Swift runtime work as expected.
///
/// The functions and layouts that the walk uses are internal to the runtime and documented in its source only (verified
/// with Swift 6.3.1 on Linux). So they are tested on known objects before the first walk.
package struct RuntimeSupport: Sendable, Equatable {
  /// Whether fields are read from the runtime's metadata, which distinguishes strong references; else with `Mirror`.
  package let fields: Bool

  /// Whether captures of closures are read.
  package let closures: Bool

  /// Whether the elements of collections are read from the class that stores them.
  package let storages: Bool

  package init(fields: Bool, closures: Bool, storages: Bool = true) {
    self.fields = fields
    self.closures = closures
    self.storages = storages
  }

  /// The result of the test at first use.
  package static let tested = RuntimeSupport(
    fields: fieldsAreAsExpected(),
    closures: fieldsAreAsExpected() && closuresAreAsExpected(),
    storages: fieldsAreAsExpected() && storagesAreAsExpected()
  )

  /// The notes for a result.
  package var notes: [String] {
    if !fields {
      return [
        "unknown Swift runtime: fields were read with Mirror, weak and unowned references count as strong, "
          + "closures were not inspected"
      ]
    }
    return (closures ? [] : ["unknown Swift runtime: closures were not inspected"])
      + (storages ? [] : ["unknown Swift runtime: iterators and closures of collections were not inspected"])
  }

  /// Compares names and flags of known types, and then the objects that are found with them.
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
    return paths(from: probe, RuntimeSupport(fields: true, closures: false, storages: false)) == [
      "self", "self.inherited?", "self.choice.one", "self.any", "self.tuple.0", "self.tuple.second",
    ]
  }

  private static func closuresAreAsExpected() -> Bool {
    let support = RuntimeSupport(fields: true, closures: true, storages: false)
    return paths(from: ClosureProbe(first: Leaf(), second: Leaf()), support) == [
      "self", "self.one{}", "self.two{}", "self.two{}capture#0", "self.two{}capture#3",
    ]
  }

  /// Compares the name of each class and the place of its arguments, and then the objects that are found with them.
  private static func storagesAreAsExpected() -> Bool {
    let support = RuntimeSupport(fields: true, closures: true, storages: true)
    return paths(from: StorageProbe(), support) == [
      "self", "self.array", "self.set", "self.dictionary", "self.array[0]", "self.array[1]", "self.set[0]",
      "self.dictionary[0].key", "self.dictionary[0].value",
    ]
  }

  private static func paths(from probe: AnyObject, _ support: RuntimeSupport) -> [String] {
    var walk = GraphWalker.walk([("self", probe)], options: LeakOptions(), support: support)
    let graph = walk.release()
    return graph.nodes.indices.map(graph.path)
  }
}

private final class Leaf: Hashable {
  static func == (left: Leaf, right: Leaf) -> Bool { left === right }
  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// One collection of each kind.
private final class StorageProbe {
  let array = [Leaf(), Leaf()]
  let set: Set = [Leaf()]
  let dictionary = [Leaf(): Leaf()]
}

private class BaseProbe {
  var inherited: Leaf?

  init(inherited: Leaf) {
    self.inherited = inherited
  }
}

/// One field of each kind; references that are not strong refer to the object of `inherited`.
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
