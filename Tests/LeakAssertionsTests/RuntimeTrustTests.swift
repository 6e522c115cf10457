import LeakAssertions
import Testing

@Suite("What the runtime is trusted with")
struct RuntimeTrustTests {
  @Test("This runtime does what is expected of it")
  func tested() {
    #expect(RuntimeTrust.tested == RuntimeTrust(fields: true, closures: true))
    #expect(RuntimeTrust.tested.notes.isEmpty)
  }

  @Test("Where fields are not to be trusted, Mirror finds strong cycles, superclasses included, and a note says so")
  func mirror() {
    class Base { var first: AnyObject? }
    final class Derived: Base { var second: [AnyObject] = [] }
    var options = LeakOptions()
    options.trust = RuntimeTrust(fields: false, closures: false)
    let result = observing {
      expectNoLeak(options) {
        let derived = Derived()
        derived.first = derived
        derived.second = [derived]
        return derived
      }
    }
    #expect(result.leaks.map(\.cycles) == [["self → first? → self", "self → second[0] → self"]])
    #expect(result.notes.map { $0.prefix(32) } == ["this Swift runtime is unknown: f"])
    #expect(result.failure?.contains("note: this Swift runtime is unknown") == true)
  }

  @Test("Where closures are not to be trusted, they are left out, and a note says so")
  func closures() {
    var options = LeakOptions()
    options.trust = RuntimeTrust(fields: true, closures: false)
    let result = expectNoLeak(options) {
      let leaf = Leaf()
      return Holder({ _ = leaf })
    }
    #expect(result.objectCount == 1)
    #expect(result.notes == ["this Swift runtime is unknown: closures were not inspected"])
  }
}
