import Testing

@testable import GateProbe

@Suite("The schedule of readings")
struct SamplerClockTests {
  private static let millisecond: Int64 = 1_000_000

  @Test(
    "The delay is 1 % of the age, from 1 ms to the interval, and 0.1 ms in the first 10 ms, ± 10 %",
    arguments: [0, 5, 20, 50, 500, 5000, 50_000] as [Int64])
  func delay(age: Int64) {
    var clock = SamplerClock(interval: .milliseconds(10), seed: 7)
    _ = clock.nextSweep(after: age * Self.millisecond, cost: 0)
    let start = clock.nextSweep(after: age * Self.millisecond, cost: 0)
    let next = clock.nextSweep(after: start, cost: 0)
    let shortest = start < 10 * Self.millisecond ? Self.millisecond / 10 : Self.millisecond
    let wanted = min(max(start / 100, shortest), 10 * Self.millisecond)
    #expect(abs((next - start) - wanted) <= wanted / 10 + 1)
  }

  @Test(
    "An expensive sweep is followed by a pause of 200 times its cost, or 20 times for shorter intervals",
    arguments: [(10, 5000, 200), (10, 500, 20), (1, 5000, 20)] as [(interval: Int64, age: Int64, times: Int64)])
  func cost(interval: Int64, age: Int64, times: Int64) {
    var clock = SamplerClock(interval: .milliseconds(interval), seed: 7)
    let start = clock.nextSweep(after: age * Self.millisecond, cost: 0)
    let next = clock.nextSweep(after: start, cost: 2 * Self.millisecond)
    let wanted = 2 * times * Self.millisecond
    #expect(abs((next - start) - wanted) <= wanted / 10 + 1)
  }

  @Test("Missed sweeps are not made up for")
  func late() {
    var clock = SamplerClock(interval: .milliseconds(10), seed: 7)
    let first = clock.nextSweep(after: 5000 * Self.millisecond, cost: 0)
    let late = clock.nextSweep(after: first + 500 * Self.millisecond, cost: 0)
    #expect(late == first + 500 * Self.millisecond)
    #expect(clock.nextSweep(after: late, cost: 0) >= late + 9 * Self.millisecond)
  }

  @Test("A search is due after a second while a tracer reports new processes, and at once when it no longer does")
  func searches() {
    var clock = SamplerClock(interval: .milliseconds(10), seed: 7)
    func isDue(after milliseconds: Int64, isReported: Bool) -> Bool {
      clock.isSearchDue(at: (5000 + milliseconds) * Self.millisecond, isSearching: false, isReported: isReported)
    }
    #expect(isDue(after: 0, isReported: true))
    clock.didSearch(at: 5000 * Self.millisecond, cost: 0)
    #expect(!isDue(after: 999, isReported: true) && isDue(after: 1000, isReported: true))
    #expect(!isDue(after: 99, isReported: false) && isDue(after: 100, isReported: false))
    clock.didSearch(at: 5000 * Self.millisecond, cost: 2 * Self.millisecond)
    #expect(!isDue(after: 399, isReported: false) && isDue(after: 400, isReported: false))
  }

  @Test("Readings of the mappings take at most 1 % of the time, and happen at most once per second")
  func compositions() {
    var clock = SamplerClock(interval: .milliseconds(10), seed: 7)
    #expect(clock.nextComposition == 200 * Self.millisecond)
    clock.didReadComposition(at: 0, took: Self.millisecond)
    #expect(clock.nextComposition == 1000 * Self.millisecond)
    clock.didReadComposition(at: 0, took: 50 * Self.millisecond)
    #expect(clock.nextComposition == 5000 * Self.millisecond)
  }
}
