/// The values and events that a target reported in one repetition, derived from its marks.
struct TargetReport {
  /// The highest number for each name, converted to the stored unit.
  private(set) var values: [MetricName: Double] = [:]
  private(set) var units: [MetricName: String] = [:]
  /// In order of time.
  private(set) var events: [TargetEvent] = []
  /// Notes on what was left out, and events that need attention.
  private(set) var notes: [RecordingNote] = []

  /// A program with more names reports data rather than values; each is stored in every result, baseline and history.
  static let mostValues = 100

  /// A launch has one reason.
  private static let mostEventNotes = 4

  private var left: (names: Set<String>, numbers: Int, events: Int, units: Set<RecordingNote.SecondUnit>) =
    ([], 0, 0, [])
  private var dropped = 0

  init(_ marks: [Mark]) {
    for mark in marks {
      switch mark.event {
      case .mark(let name) where name.hasPrefix("launch."):
        let reason = String(name.dropFirst(7))
        if TargetEvent.isReason(reason) { add(.launch(reason: reason), at: mark.time) }
      case .value(let name, let number, let unit):
        take(name, number, unit, ofLoop: mark.event.loopName, at: mark.time)
      default: break
      }
    }
    if let last = marks.lastActivity { add(.activity(name: last.word), at: last.time) }
    notes = remarks
  }

  /// Names that the libraries use are events; any other name is a value.
  private mutating func take(
    _ name: String,
    _ number: Double,
    _ unit: String,
    ofLoop loop: String?,
    at time: Duration
  ) {
    let count = max(0, Int(clamping: Bytes(clampedFrom: number).count))
    if let loop { return addLoop(loop, calls: count, at: time) }
    switch (name, unit) {
    case ("launch.failures", "launches"): add(.launchFailures(count: count), at: time)
    case ("marks.dropped", "messages"): dropped = max(dropped, count)
    default: addValue(.value(name), number, unit)
    }
  }

  private mutating func addValue(_ metric: MetricName, _ number: Double, _ word: String) {
    let (unit, scale) = MetricUnit.reported(word)
    let value = number * scale
    guard value.magnitude <= Double(Bytes.largest.count) else { return left.numbers += 1 }
    if let known = units[metric] {
      guard known == unit else {
        left.units.insert(.init(metric: metric.text, first: known, second: unit))
        return
      }
      values[metric] = max(values[metric] ?? value, value)
    } else if units.count < Self.mostValues {
      (units[metric], values[metric]) = (unit, value)
    } else {
      left.names.insert(metric.text)
    }
  }

  private mutating func addLoop(_ name: String, calls: Int, at time: Duration) {
    let known = events.firstIndex { if case .loop(name, _, _) = $0.kind { true } else { false } }
    guard let known, case .loop(_, let most, let turns) = events[known].kind else {
      return add(.loop(name: name, calls: calls, turns: 1), at: time)
    }
    events[known].kind = .loop(name: name, calls: max(most, calls), turns: turns + 1)
  }

  /// A loop fails the scenario, so it replaces another event if the list is full.
  private mutating func add(_ kind: TargetEvent.Kind, at time: Duration) {
    let event = TargetEvent(kind, at: time)
    if events.count == TargetEvent.most {
      left.events += 1
      guard event.isLoop, let other = events.lastIndex(where: { !$0.isLoop }) else { return }
      events.remove(at: other)
    }
    events.append(event)
  }

  private var remarks: [RecordingNote] {
    var notes: [RecordingNote] = []
    if !left.names.isEmpty { notes.append(.tooManyValues(most: Self.mostValues)) }
    if left.numbers > 0 { notes.append(.numbersTooLarge) }
    if !left.units.isEmpty {
      notes.append(
        .secondUnits(values: Array(left.units.sorted { ($0.metric, $0.second) < ($1.metric, $1.second) }.prefix(3))))
    }
    if left.events > 0 { notes.append(.tooManyEvents(most: TargetEvent.most)) }
    if dropped > 0 { notes.append(.messagesDropped(count: dropped)) }
    return notes + events.filter { $0.isWarning && !$0.isLoop }.prefix(Self.mostEventNotes).map { .event(event: $0) }
  }
}
