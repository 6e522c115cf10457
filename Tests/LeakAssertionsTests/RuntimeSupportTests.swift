import LeakAssertions
import Testing

@Suite("Support of the Swift runtime")
struct RuntimeSupportTests {
  @Test("This runtime works as expected")
  func tested() {
    #expect(RuntimeSupport.tested == RuntimeSupport(fields: true, closures: true))
    #expect(RuntimeSupport.tested.notes.isEmpty)
  }

  @Test("Without support for fields, Mirror finds strong cycles, and there is a note")
  func mirror() {
    class Base { var first: AnyObject? }
    final class Derived: Base { var second: [AnyObject] = [] }
    var options = LeakOptions()
    options.support = RuntimeSupport(fields: false, closures: false)
    let result = observing {
      expectNoLeak(options) {
        let derived = Derived()
        derived.first = derived
        derived.second = [derived]
        return derived
      }
    }
    #expect(result.leaks.map(\.cycles) == [["self → first? → self", "self → second[0] → self"]])
    #expect(result.notes.count == 1)
    #expect(result.notes.first?.hasPrefix("unknown Swift runtime: fields were read with Mirror") == true)
    #expect(result.failure?.contains("note: unknown Swift runtime") == true)
  }

  @Test("Without support for closures they are skipped, and there is a note")
  func closures() {
    var options = LeakOptions()
    options.support = RuntimeSupport(fields: true, closures: false)
    let result = expectNoLeak(options) {
      let leaf = Leaf()
      return Holder({ _ = leaf })
    }
    #expect(result.objectCount == 1)
    #expect(result.notes == ["unknown Swift runtime: closures were not inspected"])
  }
}
