/// One line of the log that a plugin writes: the begin or the end of a test, with the memory of its process.
package struct TestEvent: Sendable, Equatable {
  package enum Kind: Sendable, Equatable {
    case begin(isReset: Bool)
    case end(TestRun.Outcome, after: Duration)
  }

  package var kind: Kind
  package var test: SuiteTest
  package var resident: Bytes
  /// The high-water mark of resident memory.
  package var peak: Bytes
  /// Of an end: what the new objects take (``TestFigures/objects``).
  package var objects: Bytes?

  package init(_ kind: Kind, of test: SuiteTest, resident: Bytes, peak: Bytes, objects: Bytes? = nil) {
    (self.kind, self.test, self.resident, self.peak, self.objects) = (kind, test, resident, peak, objects)
  }
}

/// The runs of tests that the logs of a suite's processes add up to.
///
/// A test can write to the log as well. So a name that begins twice, or a begin within another test, makes the figures of
/// these tests ambiguous, and an end without its begin counts as a fault.
package struct TestLog: Sendable, Equatable {
  /// In the order of their begin in each process.
  package private(set) var runs: [TestRun] = []
  /// The names that were reported in an order that no single run has.
  package private(set) var ambiguous: Set<String> = []
  /// Lines that are not events, or not of a test that had begun.
  package private(set) var faults = 0
  private var places: [String: Int] = [:]

  package init() {}

  /// The runs of tests that have a process each.
  package init(of runs: [TestRun]) {
    self.runs = runs
    let names = Dictionary(grouping: runs, by: \.test.name)
    ambiguous = Set(names.filter { $0.value.count > 1 }.keys)
  }

  /// Adds the events of one process, in order; `unreadable` lines were not events.
  package mutating func add(_ events: [TestEvent], unreadable: Int = 0, process: Int32) {
    faults += unreadable
    var open: TestEvent?
    for event in events {
      switch event.kind {
      case .begin:
        if let open { markOverlap(of: open, with: event) }
        begin(event, process)
        open = event
      case .end(let outcome, let time):
        guard let begun = open, begun.test.name == event.test.name else {
          faults += 1
          ambiguous.insert(event.test.name)
          continue
        }
        end(begun, by: event, outcome, after: time)
        open = nil
      }
    }
  }

  private mutating func markOverlap(of open: TestEvent, with event: TestEvent) {
    ambiguous.formUnion([open.test.name, event.test.name])
  }

  private mutating func begin(_ event: TestEvent, _ process: Int32) {
    let run = TestRun(
      event.test, outcome: .unfinished, before: event.resident, figures: nil, isExact: false, process: process)
    if let place = places[event.test.name] {
      ambiguous.insert(event.test.name)
      runs[place] = run
      return
    }
    places[event.test.name] = runs.count
    runs.append(run)
  }

  private mutating func end(_ begun: TestEvent, by end: TestEvent, _ outcome: TestRun.Outcome, after time: Duration) {
    guard let place = places[end.test.name], case .begin(let isReset) = begun.kind else { return }
    let peak = max(end.peak, end.resident, begun.resident)
    runs[place].outcome = outcome
    runs[place].figures = TestFigures(
      peak: peak - begun.resident, kept: max(.zero, end.resident - begun.resident), objects: end.objects)
    runs[place].isExact = isReset || end.peak > begun.peak
    runs[place].duration = time
  }
}

extension TestLog {
  /// What another run of the suite is compared with: the figures of the tests that passed.
  package var entries: [String: SuiteBaseline.Entry] {
    runs.reduce(into: [:]) { entries, run in
      guard run.outcome == .passed, !ambiguous.contains(run.test.name) else { return }
      entries[run.test.name] = run.figures.map { SuiteBaseline.Entry($0) }
    }
  }
}
