import LeakAssertions
import Testing

/// A way to hold a leaf: creates the holder, and gives the path from it to the leaf.
struct HeldLeaf: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let label: String
  let build: @Sendable (Leaf) -> AnyObject

  init(_ testDescription: String, _ label: String, _ build: @escaping @Sendable (Leaf) -> AnyObject) {
    self.testDescription = testDescription
    self.label = label
    self.build = build
  }
}

@Suite("Reference paths")
struct ReferencePathTests {
  class Base<Content> {
    let inherited: Content
    init(_ content: Content) { inherited = content }
  }
  final class Derived: Base<Leaf> {}
  struct Box<Content> { let value: Content }
  struct Large { let numbers = (1, 2, 3); let value: Leaf }
  enum Choice {
    case plain
    case leaf(Leaf)
    case pair(Int, second: Leaf)
    indirect case nested(Choice)
  }
  protocol Bound: AnyObject {}
  protocol Open {}
  protocol Typed<Content> { associatedtype Content }
  final class Member: Bound, Open, Typed {
    typealias Content = Int
    let leaf: Leaf
    init(_ leaf: Leaf) { self.leaf = leaf }
  }
  struct OpenStruct: Open { let leaf: Leaf }
  struct LargeStruct: Open, Typed { typealias Content = Int; let large: Large }
  struct Failure: Error { let leaf: Leaf }
  actor Worker {
    let leaf: Leaf
    init(_ leaf: Leaf) { self.leaf = leaf }
  }
  @propertyWrapper struct Wrapped { var wrappedValue: Leaf }
  final class Wrapping {
    @Wrapped var leaf: Leaf
    init(_ leaf: Leaf) { self.leaf = leaf }
  }

  static let examples = [
    HeldLeaf("a stored property", "content") { Holder($0) },
    HeldLeaf("a superclass's property", "inherited") { Derived($0) },
    HeldLeaf("an Optional", "content?") { Holder<Leaf?>($0) },
    HeldLeaf("an Optional in an Optional", "content??") { Holder<Leaf??>($0) },
    HeldLeaf("a struct", "content.value") { Holder(Box(value: $0)) },
    HeldLeaf("a struct in a struct", "content.value.value") { Holder(Box(value: Box(value: $0))) },
    HeldLeaf("an array", "content[1]") { Holder([Leaf(), $0]) },
    HeldLeaf("an array of arrays", "content[0][1]") { Holder([[Leaf(), $0]]) },
    HeldLeaf("a contiguous array", "content[0]") { Holder(ContiguousArray([$0])) },
    HeldLeaf("a slice", "content[0]") { Holder([Leaf(), $0][1...]) },
    HeldLeaf("a set", "content[0]") { Holder(Set([$0])) },
    HeldLeaf("a dictionary's value", "content[0].value") { Holder(["a": $0]) },
    HeldLeaf("a dictionary's key", "content[0].key") { Holder([$0: 1]) },
    HeldLeaf("a type-erased hashable", "content[0].key._box._baseHashable") { Holder([AnyHashable($0): 1]) },
    HeldLeaf("a tuple", "content.1") { Holder((1, $0)) },
    HeldLeaf("a labelled tuple", "content.leaf") { Holder((number: 1, leaf: $0)) },
    HeldLeaf("an enum's payload", "content.leaf") { Holder(Choice.leaf($0)) },
    HeldLeaf("an enum's labelled payload", "content.pair.second") { Holder(Choice.pair(1, second: $0)) },
    HeldLeaf("an indirect enum's payload", "content.nested.leaf") { Holder(Choice.nested(.leaf($0))) },
    HeldLeaf("a result", "content.success") { Holder(Result<Leaf, any Error>.success($0)) },
    HeldLeaf("Any", "content") { Holder<Any>($0) },
    HeldLeaf("Any in Any", "content?.value") { Holder<Any?>(Box<Any>(value: $0)) },
    HeldLeaf("AnyObject", "content") { Holder<AnyObject>($0) },
    HeldLeaf("a protocol of classes", "content.leaf") { Holder<any Bound>(Member($0)) },
    HeldLeaf("a protocol, by a class", "content.leaf") { Holder<any Open>(Member($0)) },
    HeldLeaf("a protocol, by a small struct", "content.leaf") { Holder<any Open>(OpenStruct(leaf: $0)) },
    HeldLeaf("a protocol, by a large struct", "content.large.value") {
      Holder<any Open>(LargeStruct(large: Large(value: $0)))
    },
    HeldLeaf("a protocol with its type, by a class", "content.leaf") { Holder<any Typed<Int>>(Member($0)) },
    HeldLeaf("a protocol with its type, by a large struct", "content.large.value") {
      Holder<any Typed<Int>>(LargeStruct(large: Large(value: $0)))
    },
    HeldLeaf("an error", "content.leaf") { Holder<any Error>(Failure(leaf: $0)) },
    HeldLeaf("a property wrapper", "_leaf.wrappedValue") { Wrapping($0) },
    HeldLeaf("an actor", "leaf") { Worker($0) },
    HeldLeaf("a closure that captures it alone", "content{}") { leaf in Holder({ _ = leaf }) },
    HeldLeaf("a closure that captures more", "content{}") { leaf in
      let (flag, number) = (leaf.back == nil, leaf.hashValue)
      return Holder({ _ = (flag, leaf, number) })
    },
    HeldLeaf("a closure in an Optional", "content?{}") { leaf in Holder<(() -> Void)?>({ _ = leaf }) },
    HeldLeaf("a closure in an array", "content[0]{}") { leaf in Holder<[() -> Void]>([{ _ = leaf }]) },
    HeldLeaf("a closure in Any", "content{}") { leaf in Holder<Any>({ _ = leaf }) },
    HeldLeaf("a closure in a closure", "content{}") { leaf in
      let inner = { (number: Int) -> Leaf? in number == 0 ? leaf : nil }
      return Holder({ (flag: Bool) -> Leaf? in flag ? inner(1) : inner(0) })
    },
    HeldLeaf("a closure in a closure in a closure", "content{}") { leaf in
      let inner = { (number: Int) -> Leaf? in number == 0 ? leaf : nil }
      let middle: (() -> Leaf?)? = { inner(0) }
      return Holder({ (flag: Bool) -> Leaf? in flag ? middle?() : inner(0) })
    },
    HeldLeaf("a captured variable", "content{}") { leaf in
      var variable = [leaf]
      return Holder({ variable.append(Leaf()) })
    },
    HeldLeaf("a captured variable beside others", "content{}") { leaf in
      var (variable, count) = (leaf as Leaf?, 0)
      return Holder({
        variable = count > 0 ? variable : nil
        count += 1
      })
    },
    HeldLeaf("a captured existential", "content{}") { leaf in
      let open: any Open = OpenStruct(leaf: leaf)
      let any: any Any.Type = type(of: leaf)
      return Holder({ print(any, open) })
    },
    HeldLeaf("a closure that captures only an array", "content{}") { leaf in
      let array = [leaf]
      return Holder({ _ = array })
    },
    HeldLeaf("a closure that captures only a struct of an array", "content{}") { leaf in
      let box = Box(value: [leaf])
      return Holder({ _ = box })
    },
    HeldLeaf("a closure that captures only a dictionary", "content{}") { leaf in
      let dictionary = [1: leaf]
      return Holder({ _ = dictionary })
    },
    HeldLeaf("a closure that captures only a set", "content{}") { leaf in
      let set: Set = [leaf]
      return Holder({ _ = set })
    },
    HeldLeaf("a dictionary's values", "content._variant.object.rawValue[0].value") { Holder(["a": $0].values) },
    HeldLeaf("a dictionary's keys", "content._variant.object.rawValue[0].key") { Holder([$0: 1].keys) },
    HeldLeaf("an array's iterator", "content._elements[0]") { Holder([$0].makeIterator()) },
    HeldLeaf("a set's iterator", "content._variant.native.base._storage[0]") { Holder(Set([$0]).makeIterator()) },
    HeldLeaf("a dictionary's iterator", "content._variant.native.base._storage[0].value") {
      Holder(["a": $0].makeIterator())
    },
    HeldLeaf("a reversed array", "content._base[0]") { Holder([$0].reversed() as ReversedCollection) },
    HeldLeaf("a lazy map", "content._base[0]") { Holder([$0].lazy.map(\.back)) },
    HeldLeaf("an inline array", "content._storage[1]") { Holder<InlineArray<2, Leaf>>([Leaf(), $0]) },
    HeldLeaf("an inline array of arrays", "content._storage[0][1]") {
      Holder<InlineArray<2, [Leaf]>>([[Leaf(), $0], []])
    },
    HeldLeaf("an erased sequence", "content._box._base[0]") { Holder(AnySequence([$0])) },
    HeldLeaf("an erased iterator", "content._box._base._elements[0]") { Holder(AnyIterator([$0].makeIterator())) },
    HeldLeaf("an erased collection", "content._box._base[0]") { Holder(AnyCollection([$0])) },
    HeldLeaf("an async closure", "content{}") { leaf in
      let closure: @Sendable () async -> Bool = { leaf.back == nil }
      return Holder(closure)
    },
  ]

  @Test("Without a reference back to the holder nothing leaks, and all objects are visited", arguments: examples)
  func clean(example: HeldLeaf) {
    let result = expectNoLeak { example.build(Leaf()) }
    #expect(result.paths.isEmpty)
    #expect(result.objectCount >= 2)
    #expect(result.notes.isEmpty)
  }

  @Test("With a reference back to the holder it leaks, and the cycle is listed", arguments: examples)
  func leaky(example: HeldLeaf) {
    let result = observing {
      expectNoLeak {
        let leaf = Leaf()
        let root = example.build(leaf)
        leaf.back = root
        return root
      }
    }
    #expect(result.paths == ["self"])
    let steps = result.leaks.first?.cycles.first?.split(separator: " → ").dropFirst().dropLast(2)
    #expect(steps?.joined(separator: ".") == example.label)
  }
}
