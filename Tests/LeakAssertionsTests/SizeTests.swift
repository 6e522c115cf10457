import Glibc
import LeakAssertions
import Testing

@Suite("Many objects")
struct SizeTests {
  // With HIGHWATER_NODES=1000000, more than a test should take.
  static let count = getenv("HIGHWATER_NODES").flatMap { Int(String(cString: $0)) } ?? 20_000

  private static func list(_ count: Int) -> Leaf {
    (0..<count).reduce(Leaf()) { next, _ in
      let leaf = Leaf()
      leaf.back = next
      return leaf
    }
  }

  private func measured(_ name: String, _ check: () -> LeakResult) -> LeakResult {
    let start = ContinuousClock.now
    let result = check()
    print("\(name), \(Self.count) objects: \(start.duration(to: .now))")
    return result
  }

  @Test("A list of any length is walked and released without recursion, in either order of its objects")
  func deep() {
    let list = measured("list") { expectNoLeak { Self.list(Self.count) } }
    #expect(list.objectCount == Self.count + 1)
    // The walk meets the last object first.
    let reversed = measured("reversed list") {
      expectNoLeak {
        var leaves = (0..<Self.count).map { _ in Leaf() }
        for index in 1..<Self.count { leaves[index].back = leaves[index - 1] }
        leaves.append(Leaf())
        return Holder(leaves)
      }
    }
    #expect(reversed.objectCount == Self.count + 2)
    #expect(list.paths.isEmpty && reversed.paths.isEmpty)
  }

  @Test("Many objects in one array, and many that share an array, take linear time")
  func wide() {
    let wide = measured("array") { expectNoLeak { Holder((0..<Self.count).map { _ in Leaf() }) } }
    #expect(wide.objectCount == Self.count + 1)
    let shared = measured("shared array") {
      expectNoLeak {
        let leaves = (0..<Self.count / 2).map { _ in Leaf() }
        return Holder((0..<Self.count / 2).map { _ in Holder(leaves) })
      }
    }
    #expect(shared.paths.isEmpty)
  }

  @Test("All objects of a long list that leaks can be listed, with abbreviated paths")
  func all() {
    let result = measured("list: .all") {
      observing {
        expectNoLeak(LeakOptions(list: .all)) {
          let list = Self.list(Self.count)
          var last = list
          while let next = last.back as? Leaf { last = next }
          last.back = list
          return list
        }
      }
    }
    #expect(result.leaks.count == Self.count + 1)
    #expect(result.leaks.last?.path.contains(" … \(Self.count - 31) more … ") == true)
    #expect(result.leaks.first?.cycles.count == 1)
  }

  @Test("A cycle of any length is found")
  func longCycle() {
    let result = observing {
      expectNoLeak {
        let list = Self.list(299)
        var last = list
        while let next = last.back as? Leaf { last = next }
        last.back = list
        return list
      }
    }
    #expect(result.paths == ["self"])
  }

  @Test("An expected leak does not fail the test, but its absence does")
  func expected() {
    func looped() -> Screen {
      let screen = Screen()
      screen.parent = screen
      return screen
    }
    let known = expectNoLeak(LeakOptions(expectedLeaks: ["self"])) { looped() }
    #expect(known.leaks.map(\.isExpected) == [true])
    #expect(expectNoLeak(LeakOptions(expectedLeaks: ["Screen"])) { looped() }.failure == nil)
    let fixed = observing { expectNoLeak(LeakOptions(expectedLeaks: ["self.parts[0]"])) { Screen() } }
    #expect(fixed.failure == "`self.parts[0]` did not leak: remove it from `expectedLeaks`")
    let other = observing { expectNoLeak(LeakOptions(expectedLeaks: ["Leaf"])) { looped() } }
    #expect(other.failure?.hasPrefix("1 object leaked:\n- self: Screen") == true)
  }
}
