import LeakAssertions
import Testing

@Suite("Causes and consequences")
struct CycleTests {
  @Test("A cycle of three is listed once, from the object that was reached first")
  func three() {
    let result = observing {
      expectNoLeak {
        let screens = [Screen("a"), Screen("b"), Screen("c")]
        for index in 0..<3 {
          screens[index].parent = screens[(index + 1) % 3]
        }
        // Reached at its third member first.
        return Holder(screens[2])
      }
    }
    #expect(result.paths == ["self.content"])
    #expect(result.leaks.map(\.cycles) == [["self.content → parent? → parent? → parent? → self.content"]])
  }

  @Test("Two cycles through one object are listed separately")
  func twoThroughOne() {
    let result = observing {
      expectNoLeak {
        let screen = Screen()
        screen.parts = [Screen(), Screen()]
        screen.parts.forEach { $0.parent = screen }
        return screen
      }
    }
    #expect(result.paths == ["self"])
    #expect(
      result.leaks.map(\.cycles) == [["self → parts[0] → parent? → self", "self → parts[1] → parent? → self"]]
    )
    #expect(result.failure?.contains("held by them") == false)
  }

  @Test("Overlapping cycles are each listed from the object that was reached first")
  func overlapping() {
    let result = observing {
      expectNoLeak {
        let (screen, near, far) = (Screen(), Screen(), Screen())
        screen.parts = [near, far]
        near.parent = screen
        far.parent = near
        return screen
      }
    }
    #expect(result.paths == ["self"])
    #expect(
      result.leaks.first?.cycles == ["self → parts[0] → parent? → self", "self → parts[1] → parent? → parent? → self"]
    )
  }

  @Test("Two closures of one object that capture it are two cycles")
  func twoClosures() {
    let result = observing {
      expectNoLeak {
        let screen = Screen()
        screen.onDone = { _ = screen.name }
        screen.onCancel = { _ = (screen.name, screen.parts) }
        return screen
      }
    }
    #expect(result.leaks.map(\.cycles) == [["self → onDone?{} → self", "self → onCancel?{} → self"]])
  }

  @Test("A diamond is not a cycle")
  func diamond() {
    let result = expectNoLeak {
      let bottom = Leaf()
      return Holder((Holder(bottom), Holder(bottom)))
    }
    #expect(result.paths.isEmpty)
    #expect(result.objectCount == 4)
  }

  @Test("An object that occurs twice in an array is one leak")
  func twice() {
    let leaf = Leaf()
    let result = observing { expectNoLeak { Holder([leaf, leaf]) } }
    #expect(result.paths == ["self.content[0]"])
    withExtendedLifetime(leaf) {}
  }

  @Test("Both captures of a closure that is held elsewhere are leaks")
  func twoCaptures() {
    var kept: [() -> Void] = []
    let result = observing {
      expectNoLeak {
        let (first, second) = (Leaf(), Screen())
        let closure = { _ = (first, second) }
        kept.append(closure)
        return Holder(closure)
      }
    }
    #expect(result.paths == ["self.content{}capture#0", "self.content{}capture#1"])
    #expect(result.leaks.map(\.typeName) == ["Leaf", "Screen"])
    withExtendedLifetime(kept) {}
  }

  @Test("Objects that a leak holds are consequences, listed only on request")
  func consequences() {
    let build = {
      let screen = Screen()
      screen.parent = screen
      screen.parts = [Screen(), Screen()]
      return screen
    }
    let topmost = observing { expectNoLeak { build() } }
    #expect(topmost.paths == ["self"])
    let failure = """
      1 object leaked:
      - self: Screen
          self → parent? → self
      2 more objects are held by them (`list: .all` lists all)
      """
    #expect(topmost.failure == failure)
    let all = observing { expectNoLeak(LeakOptions(list: .all)) { build() } }
    #expect(all.paths == ["self", "self.parts[0]", "self.parts[1]"])
  }

  @Test("A leak that was reached after its consequences is still the cause")
  func causeReachedLater() {
    let result = observing {
      expectNoLeak {
        let (consequence, cause) = (Leaf(), Screen())
        cause.parent = cause
        cause.onDone = { _ = consequence }
        return Holder((consequence, [cause]))
      }
    }
    #expect(result.paths == ["self.content.1[0]"])
  }

  @Test("Two separate cycles are two leaks")
  func separate() {
    let result = observing {
      expectNoLeak {
        let screens = [Screen(), Screen()]
        screens.forEach { $0.parent = $0 }
        return Holder(screens)
      }
    }
    #expect(result.paths == ["self.content[0]", "self.content[1]"])
  }

  @Test("A doubly linked list of 2 000 is one leak, with ten of its cycles")
  func linkedList() {
    let result = observing {
      expectNoLeak(LeakOptions(maxDepth: 3_000)) {
        let list = (0..<2_000).map { _ in Holder<(before: AnyObject?, after: AnyObject?)>((nil, nil)) }
        for index in 1..<2_000 {
          list[index].content.before = list[index - 1]
          list[index - 1].content.after = list[index]
        }
        return list[0]
      }
    }
    #expect(result.paths == ["self"])
    #expect(result.objectCount == 2_000)
    #expect(result.leaks.first?.cycles.count == 10)
    #expect(result.leaks.first?.cycles.first == "self → content.after? → content.before? → self")
  }

  @Test("A ring of 10 000 is one leak with one cycle, which is abbreviated")
  func ring() {
    let result = observing {
      expectNoLeak(LeakOptions(maxDepth: 20_000)) {
        let ring = (0..<10_000).map { _ in Leaf() }
        for index in ring.indices {
          ring[index].back = ring[(index + 9_999) % 10_000]
        }
        return Holder((ring[5_000], ring))
      }
    }
    #expect(result.paths == ["self.content.0"])
    #expect(result.leaks.first?.cycles.count == 1)
    #expect(result.leaks.first?.cycles.first?.contains(" → … 9984 more … → ") == true)
  }
}
