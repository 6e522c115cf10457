import GateCore
import Testing

@Suite("Reports of a target")
struct TargetReportTests {
  private func result(_ events: [Mark.Event]) -> RepetitionResult {
    let marks = events.enumerated().map { Mark(time: .milliseconds(10 * $0), event: $1) }
    return Recording(marks: marks, end: End(.exited, code: 0), duration: .seconds(1)).result()
  }

  private func value(_ name: String, _ number: Double, _ unit: String) -> Mark.Event {
    .value(name: name, number: number, unit: unit)
  }

  @Test("The highest value of a repetition counts, with its unit")
  func highest() {
    let result = result([value("cache", 3, "items"), value("cache", 7, "items"), value("cache", 5, "items")])
    #expect(result.metrics[.value("cache")] == 7)
    #expect(result.units == [.value("cache"): "items"])
    #expect(result.allMetrics[.value("cache")] == 7)
    #expect(result.notes.isEmpty && result.events.isEmpty)
  }

  @Test("A negative value is accepted")
  func negative() {
    #expect(result([value("balance", -7, "items"), value("balance", -9, "items")]).metrics[.value("balance")] == -7)
  }

  @Test(
    "Sizes become bytes and times seconds; other units stay as reported",
    arguments: [
      (1.5, "MiB", 1_572_864, "bytes"), (2, "kB", 2000, "bytes"), (7, "B", 7, "bytes"), (3, "bytes", 3, "bytes"),
      (1, "GiB", 1_073_741_824, "bytes"), (250, "ms", 0.25, "seconds"), (2, "us", 2e-6, "seconds"),
      (4, "ns", 4e-9, "seconds"), (1.5, "s", 1.5, "seconds"), (2, "m", 120, "seconds"), (1, "h", 3600, "seconds"),
      (17, "items", 17, "items"), (0.5, "%", 0.5, "%"), (3, "requests/s", 3, "requests/s"), (1, "mib", 1, "mib"),
    ] as [(Double, String, Double, String)]
  )
  func units(number: Double, word: String, expected: Double, unit: String) throws {
    let result = result([value("x", number, word)])
    let converted = try #require(result.metrics[.value("x")])
    #expect((converted - expected).magnitude <= expected * 1e-12)
    #expect(result.units[.value("x")] == unit)
  }

  @Test("A value may be reported in several sizes, but not in another kind of unit")
  func mixedUnits() {
    let sizes = result([value("x", 1, "MiB"), value("x", 1500, "KiB")])
    #expect(sizes.metrics[.value("x")] == 1_536_000)
    let mixed = result([value("x", 1, "MiB"), value("x", 1e9, "items")])
    #expect(mixed.metrics[.value("x")] == 1_048_576)
    #expect(mixed.units[.value("x")] == "bytes")
    #expect(mixed.notes == [.secondUnits(values: [.init(metric: "value.x", first: "bytes", second: "items")])])
  }

  @Test("Too many names and numbers out of range are left out, with a note")
  func bounds() {
    let many = result((0..<150).map { value("n\($0)", 1, "items") })
    #expect(many.units.count == 100)
    #expect(many.metrics[.value("n99")] == 1 && many.metrics[.value("n100")] == nil)
    #expect(many.notes == [.tooManyValues(most: 100)])
    let huge = result([value("x", 1e300, "items"), value("y", 1e12, "GiB"), value("z", 1, "items")])
    #expect(huge.units.count == 1)
    #expect(huge.notes == [.numbersTooLarge])
  }

  @Test("A loop is one event with its name and largest count, not a value")
  func loops() {
    let result = result([
      value("loop.Model.update", 100, "calls"), value("loop.Other.run", 100, "calls"),
      value("loop.Model.update", 130, "calls"),
    ])
    #expect(
      result.events == [
        TargetEvent(.loop(name: "Model.update", calls: 130, turns: 2), at: .zero),
        TargetEvent(.loop(name: "Other.run", calls: 100, turns: 1), at: .milliseconds(10)),
      ])
    #expect(result.units.isEmpty)
    // A loop fails the scenario, so that no note is needed.
    #expect(result.notes.isEmpty)
  }

  @Test("A `loop` value with another unit is an ordinary value")
  func otherLoopUnits() {
    let result = result([value("loop.latency", 3, "ms"), value("loops", 2, "calls")])
    #expect(result.events.isEmpty)
    #expect(result.units.keys.sorted() == [.value("loop.latency"), .value("loops")])
  }

  @Test(
    "A launch is an event; only a launch after a failure has a note",
    arguments: [
      ("first-launch", false), ("requested", false), ("app-upgrade", false), ("clean-exit", false),
      ("crash", true), ("hang", true), ("out-of-memory.active.cgroup-counter", true), ("killed-unknown.idle", true),
    ]
  )
  func launches(reason: String, isNoted: Bool) {
    let result = result([.mark("launch.\(reason)"), .mark("other")])
    #expect(result.events == [TargetEvent(.launch(reason: reason), at: .zero)])
    #expect(result.notes == (isNoted ? result.events.map { .event(event: $0) } : []))
  }

  @Test(
    "A custom mark that resembles a launch mark is not an event",
    arguments: ["ready", "crashes", "requested.x", ""])
  func customMark(name: String) {
    #expect(result([.mark("launch.\(name)")]).events.isEmpty)
  }

  @Test("Only the last activity is an event, and activities are not marks on the curve")
  func activity() {
    let result = result([.mark("activity.active"), .mark("filled"), .mark("activity.idle"), .mark("activity.resting")])
    #expect(result.events == [TargetEvent(.activity(name: "idle"), at: .milliseconds(20))])
    #expect(result.notes.isEmpty)
  }

  @Test("Previous failed launches have a note")
  func failedLaunches() {
    let result = result([value("launch.failures", 3, "launches")])
    #expect(result.events == [TargetEvent(.launchFailures(count: 3), at: .zero)])
    #expect(result.notes == [.event(event: TargetEvent(.launchFailures(count: 3), at: .zero))])
  }

  @Test("Dropped messages have a note")
  func dropped() {
    let result = result([value("marks.dropped", 12, "messages"), value("marks.dropped", 40, "messages")])
    #expect(result.units.isEmpty)
    #expect(result.notes == [.messagesDropped(count: 40)])
  }

  @Test("The number of events is limited")
  func manyEvents() {
    let result = result((0..<150).map { value("loop.T.n\($0)", 100, "calls") })
    #expect(result.events.count == TargetEvent.most)
    #expect(result.notes == [.tooManyEvents(most: 100)])
  }
}
