import LeakAssertions
import Testing

@Suite("Leaks of a builder's result")
struct ExpectNoLeakTests {
  @Test("An object that nothing holds is not a leak")
  func noLeak() {
    let result = expectNoLeak { Screen() }
    #expect(result.paths.isEmpty)
    #expect(result.objectCount == 1)
    #expect(result.failure == nil)
    #expect(result.notes.isEmpty)
  }

  @Test("An object that holds itself is `self`")
  func strongSelf() {
    let result = observing {
      expectNoLeak {
        let screen = Screen()
        screen.parent = screen
        return screen
      }
    }
    #expect(result.paths == ["self"])
    #expect(result.leaks.map(\.typeName) == ["Screen"])
    #expect(result.leaks.map(\.cycles) == [["self → parent? → self"]])
    #expect(result.failure == "1 object leaked:\n- self: Screen\n    self → parent? → self")
  }

  @Test("A weak delegate is not a leak, although it is alive")
  func weakDelegate() {
    final class Child {
      weak var parent: Screen?
      init(parent: Screen) { self.parent = parent }
    }
    let parent = Screen()
    let result = expectNoLeak { Child(parent: parent) }
    #expect(result.paths.isEmpty)
    #expect(result.objectCount == 1)
    withExtendedLifetime(parent) {}
  }

  @Test("A strong delegate that is held elsewhere is `self.parent`")
  func strongDelegate() {
    final class Child {
      let parent: Screen
      init(parent: Screen) { self.parent = parent }
    }
    let parent = Screen()
    let result = observing { expectNoLeak { Child(parent: parent) } }
    #expect(result.paths == ["self.parent"])
    #expect(result.failure == "1 object leaked:\n- self.parent: Screen")
    withExtendedLifetime(parent) {}
  }

  @Test("An Optional in the path is a question mark")
  func optional() {
    let parent = Screen()
    let result = observing {
      expectNoLeak {
        let child = Screen()
        child.parent = parent
        return child
      }
    }
    #expect(result.paths == ["self.parent?"])
    withExtendedLifetime(parent) {}
  }

  @Test("A lazy child that references its parent is a leak once it was created")
  func lazyChild() {
    final class Parent {
      lazy var child: Holder<AnyObject> = Holder(self)
    }
    #expect(expectNoLeak { Parent() }.paths.isEmpty)
    let result = observing {
      expectNoLeak {
        let parent = Parent()
        _ = parent.child
        return parent
      }
    }
    #expect(result.paths == ["self"])
    #expect(result.leaks.first?.cycles == ["self → child? → content → self"])
  }

  @Test("A singleton is a leak unless it ignores itself")
  func singleton() {
    final class Store: LeakTraversable {
      nonisolated(unsafe) static let shared = Store()
      var leakIgnoresSelf: Bool { true }
    }
    final class NotIgnored {
      nonisolated(unsafe) static let shared = NotIgnored()
    }
    #expect(expectNoLeak { Holder(Store.shared) }.paths.isEmpty)
    #expect(observing { expectNoLeak { Holder(NotIgnored.shared) } }.paths == ["self.content"])
  }

  @Test("Objects that an ignored object holds are still leaks")
  func ignoredObjectsChildren() {
    final class Store: LeakTraversable {
      nonisolated(unsafe) static let shared = Store()
      var observers: [AnyObject] = []
      var leakIgnoresSelf: Bool { true }
    }
    let result = observing {
      expectNoLeak {
        Store.shared.observers = [Screen()]
        return Holder(Store.shared)
      }
    }
    #expect(result.paths == ["self.content.observers[0]"])
  }

  @Test("An array element that references its holder makes it leak")
  func arrayElement() {
    let result = observing {
      expectNoLeak {
        let screen = Screen()
        screen.parts = [Screen(), Screen()]
        screen.parts[1].parent = screen
        return screen
      }
    }
    #expect(result.paths == ["self"])
    #expect(result.leaks.first?.cycles == ["self → parts[1] → parent? → self"])
  }

  @Test(
    "Values without objects are a failure",
    arguments: [1, "a string that is long enough to be on the heap", [1, 2], (1, 2), nil as Leaf?, ()] as [any Sendable]
  )
  func values(value: any Sendable) {
    let result = observing { expectNoLeak { value } }
    #expect(result.objectCount == 0)
    #expect(result.failure == "nothing was checked: the builder's result contains no object")
  }

  @Test("An object in an Optional is one object")
  func optionalObject() {
    #expect(expectNoLeak { Leaf() }.objectCount == 1)
    #expect(expectNoLeak { Optional(Leaf()) }.objectCount == 1)
  }

  @Test("If an object ignores its children, only the object itself is checked")
  func ignoresChildren() {
    final class Closed: LeakTraversable {
      var part: AnyObject?
      var leakIgnoresChildren: Bool { true }
    }
    let part = Leaf()
    let result = expectNoLeak {
      let closed = Closed()
      closed.part = part
      return closed
    }
    #expect(result.paths.isEmpty)
    #expect(result.objectCount == 1)
    let leaky = observing {
      expectNoLeak {
        let closed = Closed()
        closed.part = closed
        return closed
      }
    }
    #expect(leaky.paths == ["self"])
    withExtendedLifetime(part) {}
  }

  @Test("An object held by a local variable is reported with a hint")
  func localVariable() {
    let screen = Screen()
    let result = observing { expectNoLeak { screen } }
    #expect(result.paths == ["self"])
    let failure = """
      1 object leaked:
      - self: Screen
      hint: is `self` still held by a local variable? pass a builder that makes it
      """
    #expect(result.failure == failure)
    withExtendedLifetime(screen) {}
  }

  @Test("Fields of superclasses are visited before those of the class")
  func superclass() {
    class Base { var first: AnyObject? }
    class Middle: Base { var second: AnyObject? }
    final class Derived: Middle { var third: AnyObject? }
    let leaves = [Leaf(), Leaf(), Leaf()]
    let result = observing {
      expectNoLeak {
        let derived = Derived()
        (derived.first, derived.second, derived.third) = (leaves[0], leaves[1], leaves[2])
        return derived
      }
    }
    #expect(result.paths == ["self.first?", "self.second?", "self.third?"])
    withExtendedLifetime(leaves) {}
  }

  @Test("An error of the builder is rethrown")
  func throwing() {
    struct BuilderError: Error {}
    #expect(throws: BuilderError.self) { try expectNoLeak { () throws -> Leaf in throw BuilderError() } }
  }

  @Test("A custom mirror is not used")
  func customMirror() {
    final class Hiding: CustomReflectable {
      var back: AnyObject?
      var customMirror: Mirror {
        Issue.record("the custom mirror was used")
        return Mirror(self, children: [])
      }
    }
    let result = observing {
      expectNoLeak {
        let hiding = Hiding()
        hiding.back = hiding
        return hiding
      }
    }
    #expect(result.paths == ["self"])
  }

  @Test("A collection that another thread changes during the walk neither fails nor makes the walk endless")
  func changedByAnotherThread() {
    final class Growing: LeakTraversable {
      nonisolated(unsafe) weak var list: Holder<[AnyObject]>?
      init(_ list: Holder<[AnyObject]>) { self.list = list }

      /// Appends another object on another thread each time it is visited, and waits for that thread.
      var leakExtraChildren: [(String, Any)] {
        onAnotherThread { [self] in list.map { $0.content.append(Growing($0)) } }
        return []
      }
    }
    let result = expectNoLeak {
      let list = Holder<[AnyObject]>([])
      list.content = [Growing(list), Growing(list)]
      return list
    }
    #expect(result.paths.isEmpty)
    #expect(result.objectCount == 3)
  }
}
