import LeakAssertions
import Synchronization
import Testing

@Suite("References that are not followed")
struct NotFollowedTests {
  @Test(
    "References that are not strong are not followed, although the object is alive",
    arguments: [
      HeldLeaf("a weak property", "") { WeakOwner($0) },
      HeldLeaf("an unowned property", "") { UnownedOwner($0) },
      HeldLeaf("an unowned(unsafe) property", "") { UnsafeOwner($0) },
      HeldLeaf("an unmanaged reference", "") { Holder(Unmanaged.passUnretained($0)) },
      HeldLeaf("a struct with a weak field", "") { Holder(WeakField(leaf: $0)) },
      HeldLeaf("structs with weak fields in an array", "") { Holder([WeakField(leaf: $0), WeakField(leaf: $0)]) },
      HeldLeaf("a struct with an unowned field in an enum", "") { Holder<UnownedField?>(UnownedField(leaf: $0)) },
      HeldLeaf("a closure that captures it weakly", "") { leaf in Holder({ [weak leaf] in _ = leaf }) },
      HeldLeaf("a closure that captures it unowned", "") { leaf in Holder({ [unowned leaf] in _ = leaf }) },
      HeldLeaf("a closure that captures a class's weak reference beside others", "") { leaf in
        let number = leaf.hashValue
        return Holder({ [weak leaf, unowned other = leaf] in _ = (number, leaf, other) })
      },
    ]
  )
  func notHeld(example: HeldLeaf) {
    let leaf = Leaf()
    let result = expectNoLeak { example.build(leaf) }
    #expect(result.paths.isEmpty)
    #expect(result.objectCount == 1)
    #expect(result.notes.isEmpty)
    withExtendedLifetime(leaf) {}
  }

  @Test(
    "A dangling unowned reference is not read",
    arguments: [
      HeldLeaf("a property", "") { UnownedOwner($0) },
      HeldLeaf("an unowned(unsafe) property", "") { UnsafeOwner($0) },
      HeldLeaf("a struct's field", "") { Holder(UnownedField(leaf: $0)) },
      HeldLeaf("a struct's field in an enum", "") { Holder<UnownedField?>(UnownedField(leaf: $0)) },
      HeldLeaf("a struct's field in Any", "") { Holder<Any>(UnownedField(leaf: $0)) },
      HeldLeaf("a closure's capture", "") { leaf in Holder({ [unowned leaf] in _ = leaf }) },
      HeldLeaf("a captured struct", "") { leaf in
        let (field, number) = (UnownedField(leaf: leaf), leaf.hashValue)
        return Holder({ _ = (field, number) })
      },
    ]
  )
  func dangling(example: HeldLeaf) {
    let result = expectNoLeak { example.build(Leaf()) }
    #expect(result.paths.isEmpty)
    #expect(result.objectCount == 1)
  }

  @Test("A strong reference in a struct is found beside a weak one")
  func nestedStructs() {
    struct Fields {
      var weakly: WeakField
      var strongly: Leaf
    }
    let (weakly, strongly) = (Leaf(), Leaf())
    let result = observing {
      expectNoLeak { Holder([Fields(weakly: WeakField(leaf: weakly), strongly: strongly)]) }
    }
    #expect(result.paths == ["self.content[0].strongly"])
    withExtendedLifetime((weakly, strongly)) {}
  }

  @Test("A field of a noncopyable type gives a note, because the runtime hides it")
  func noncopyable() {
    final class Locked {
      let state = Mutex(0)
    }
    #expect(expectNoLeak { Locked() }.notes == ["not inspected: Locked.state (noncopyable type)"])
  }

  @Test("A closure with captures of generic type gives a note, unless the optimizer has specialized it")
  func genericClosure() {
    func closure<First, Second>(_ first: First, _ second: Second) -> () -> Void {
      { _ = (first, second) }
    }
    let result = expectNoLeak { Holder(closure(Leaf(), Leaf())) }
    #expect(result.paths.isEmpty)
    let noted = result.notes == ["closure not fully inspected: self.content{}"]
    #expect(noted || (result.notes.isEmpty && result.objectCount == 3))
  }

  @Test("Captures of a generic closure are not read if its context begins with types")
  func genericClosureOfKnownClass() {
    func closure<Other>(_ leaf: Leaf, _ other: Other) -> () -> Void {
      { _ = (leaf, other) }
    }
    let result = expectNoLeak { Holder(closure(Leaf(), [1])) }
    #expect(result.paths.isEmpty)
    #expect(result.objectCount == (result.notes.isEmpty ? 2 : 1))
  }

  @Test("A type can list references outside its properties")
  func extraChildren() {
    final class Raw: LeakTraversable {
      let storage = Unmanaged.passRetained(Leaf())
      var leakExtraChildren: [(String, Any)] { [("storage", storage.takeUnretainedValue())] }
    }
    let result = observing { expectNoLeak { Raw() } }
    #expect(result.paths == ["self.storage"])
  }

  @Test("A closure of a generic class that captures its object is followed")
  func closureOfGenericClass() {
    final class Generic<Content> {
      var content: Content
      var show: (() -> Void)?
      init(_ content: Content) { self.content = content }
      func arm() { show = { _ = self.content } }
    }
    let result = observing {
      expectNoLeak {
        let generic = Generic(1)
        generic.arm()
        return generic
      }
    }
    #expect(result.leaks.map(\.cycles) == [["self → show?{} → self"]])
  }

  @Test("Closures are not followed if the options say so")
  func closuresNotFollowed() {
    let leaf = Leaf()
    #expect(expectNoLeak(LeakOptions(followClosures: false)) { Holder({ _ = leaf }) }.objectCount == 1)
    #expect(observing { expectNoLeak { Holder({ _ = leaf }) } }.paths == ["self.content{}"])
    withExtendedLifetime(leaf) {}
  }

  @Test("Objects beyond the maximum depth or number fail the test, which says what was not inspected")
  func limits() {
    func list(_ length: Int) -> Leaf {
      (0..<length).reduce(Leaf()) { next, _ in
        let leaf = Leaf()
        leaf.back = next
        return leaf
      }
    }
    let deep = observing { expectNoLeak(LeakOptions(maxDepth: 5)) { list(10) } }
    #expect(deep.objectCount == 6)
    #expect(deep.notes == ["not inspected: objects more than 5 references deep (maxDepth)"])
    #expect(deep.failure == "\(deep.notes[0]); leaks in them would be missed")
    let many = observing { expectNoLeak(LeakOptions(maxObjects: 5)) { list(10) } }
    #expect(many.objectCount == 5)
    #expect(many.notes == ["not inspected: objects after the first 5 (maxObjects)"])
  }

  @Test("Deeply nested values do not exhaust the stack")
  func nestedValues() {
    let chain = (0..<1_000).reduce(Chain.end(Leaf())) { chain, _ in .link(chain) }
    let result = observing { expectNoLeak { chain } }
    #expect(result.notes == ["not inspected: values nested more than 200 deep, such as an indirect enum"])
    #expect(result.failure?.hasPrefix("nothing was checked") == true)
  }

  @Test("Only objects and types in the options are ignored")
  func ignored() {
    let (leaf, screen) = (Leaf(), Screen())
    let build = { Holder<(AnyObject, AnyObject)>((leaf, screen)) }
    #expect(observing { expectNoLeak { build() } }.paths == ["self.content.0", "self.content.1"])
    let byType = LeakOptions(ignore: [.type(Leaf.self)])
    #expect(observing { expectNoLeak(byType) { build() } }.paths == ["self.content.1"])
    let byPredicate = LeakOptions(ignore: [.matching { $0 is Screen }])
    #expect(observing { expectNoLeak(byPredicate) { build() } }.paths == ["self.content.0"])
    let byInstance = LeakOptions(ignoreInstances: [leaf])
    #expect(observing { expectNoLeak(byInstance) { build() } }.paths == ["self.content.1"])
    #expect(expectNoLeak(LeakOptions(ignore: [.type(Leaf.self)], ignoreInstances: [screen])) { build() }.paths == [])
  }

  @Test("An ignored type includes its subclasses")
  func ignoredSubclass() {
    class Base {}
    final class Derived: Base {}
    let derived = Derived()
    #expect(expectNoLeak(LeakOptions(ignore: [.type(Base.self)])) { Holder(derived) }.paths.isEmpty)
    withExtendedLifetime(derived) {}
  }

  @Test("Objects of toolchain classes are ignored by default, but not the objects that they hold")
  func toolchain() {
    let leaf = Leaf()
    let build = { Holder<(AnyKeyPath, Any)>((\String.count, leaf)) }
    #expect(observing { expectNoLeak { build() } }.paths == ["self.content.1"])
    let all = observing { expectNoLeak(LeakOptions(reportsToolchainObjects: true)) { build() } }
    #expect(all.paths == ["self.content.0", "self.content.1"])
    withExtendedLifetime(leaf) {}
  }

  @Test("Objects that a shared subtree held before are ignored, but not those that the builder adds")
  func sharedSubtree() {
    final class Hub {
      let privateChild = Holder(Leaf())
      var observers: [AnyObject] = []
    }
    let hub = Hub()
    let options = LeakOptions(ignoreSharedSubtrees: [hub])
    #expect(expectNoLeak(options) { Holder(hub) }.paths.isEmpty)
    let result = observing {
      expectNoLeak(options) {
        let holder = Holder(hub)
        hub.observers.append(holder)
        return holder
      }
    }
    #expect(result.paths == ["self"])
    let reused = observing {
      expectNoLeak(options) {
        // New objects may have the addresses of the shared ones.
        hub.privateChild.content = Leaf()
        hub.observers = (0..<50).map { _ in Leaf() }
        return Holder(hub)
      }
    }
    #expect(reused.leaks.count == 51)
    let notIgnored = observing { expectNoLeak { Holder(hub) } }
    #expect(notIgnored.paths == ["self.content"])
  }
}

private final class WeakOwner {
  weak var leaf: Leaf?
  init(_ leaf: Leaf) { self.leaf = leaf }
}

private final class UnownedOwner {
  unowned let leaf: Leaf
  init(_ leaf: Leaf) { self.leaf = leaf }
}

private final class UnsafeOwner {
  unowned(unsafe) let leaf: Leaf
  init(_ leaf: Leaf) { self.leaf = leaf }
}

private struct WeakField {
  weak var leaf: Leaf?
}

private struct UnownedField {
  unowned let leaf: Leaf
}

private indirect enum Chain {
  case end(Leaf)
  case link(Chain)
}
