/// Something that a target told of itself, beside its phases, marks and figures.
package struct TargetEvent: Sendable, Equatable, Codable {
  package enum Kind: Sendable, Hashable, Codable {
    /// A place of an object was come by this often within one turn of the target's work, in so many turns; `name` is
    /// `TYPE.NAME`.
    case loop(name: String, calls: Int, turns: Int)
    /// Why the target was started, as `MemoryMarkers` says it, for example `out-of-memory.active.cgroup-counter`.
    case launch(reason: String)
    /// How many launches before this one failed while they were starting.
    case launchFailures(Int)
    /// What the target was doing when it ended: `starting`, `active`, `idle` or `stopping`.
    case activity(String)
  }

  package var kind: Kind
  /// Since the target's exec; of several turns of a loop the first.
  package var time: Duration

  package init(_ kind: Kind, at time: Duration) {
    (self.kind, self.time) = (kind, time)
  }

  /// More than these a repetition's result does not keep.
  package static let most = 100
}

extension TargetEvent {
  private static let loopWords = "the target was caught in a loop"

  /// Whether a text is what ``displayText`` says of a loop: histories keep no more of it.
  package static func tellsOfLoop(_ text: String) -> Bool { text.hasPrefix(loopWords) }

  /// The event in words that stand by themselves.
  package var displayText: String {
    switch kind {
    case .loop(let name, let calls, let turns):
      "\(Self.loopWords): `\(name)` was called \(calls) times in one turn of its work"
        + (turns > 1 ? ", and in \(turns - 1) more" : "")
    case .launch(let reason): "by its own account the target was started because: \(reason)"
    case .launchFailures(let count):
      "by its own account the \(count == 1 ? "launch" : "\(count) launches") before failed while starting"
    case .activity(let word): "by its own account the target was \(word) when it ended"
    }
  }

  package var isLoop: Bool {
    if case .loop = kind { true } else { false }
  }

  /// Whether a person should hear of it where all else is well: a usual start is no news.
  package var isTrouble: Bool {
    switch kind {
    case .launch(let reason): !Self.usualReasons.contains(reason)
    case .activity: false
    case .loop, .launchFailures: true
    }
  }

  private static let usualReasons: Set = [
    "first-launch", "concurrent-instance", "debug", "os-upgrade", "app-upgrade", "requested", "clean-exit",
    "restart-of-machine", "not-monitored",
  ]

  /// The first words of what ends a run badly; more may follow, as in `out-of-memory.active.cgroup-counter`.
  private static let troubles: Set = ["crash", "hang", "out-of-memory", "killed-unknown", "unknown"]

  /// Whether `MemoryMarkers` has this reason (its `StartupReason`); another one is a word of the target's own.
  fileprivate static func isReason(_ text: String) -> Bool {
    usualReasons.contains(text) || troubles.contains(String(text.prefix { $0 != "." }))
  }
}

extension Mark.Event {
  /// Which loop the target tells of, as in `Model.update`; nil where it tells of none.
  var loopName: String? {
    guard case .value(let name, _, "calls") = self, name.hasPrefix("loop."), name.utf8.count > 5 else { return nil }
    return String(name.dropFirst(5))
  }

  /// What the target says that it does from now on, in the words of `MemoryMarkers`; nil where it says nothing of that.
  package var activity: String? {
    guard case .mark(let name) = self, name.hasPrefix("activity.") else { return nil }
    let word = String(name.dropFirst(9))
    return ["starting", "active", "idle", "stopping"].contains(word) ? word : nil
  }
}

extension [Mark] {
  /// What the target was doing when it ended, and since when; nil where it has not said.
  package var lastActivity: (word: String, time: Duration)? {
    reversed().lazy.compactMap { mark in mark.event.activity.map { ($0, mark.time) } }.first
  }
}

/// What a target reported in one repetition, out of its marks.
struct TargetReport {
  /// The highest number under each name, in the unit's terms.
  private(set) var values: [MetricName: Double] = [:]
  private(set) var units: [MetricName: String] = [:]
  /// In the order of time.
  private(set) var events: [TargetEvent] = []
  /// What was left out of it, each a sentence.
  private(set) var notes: [String] = []

  /// More names than these are data and no figures of a program; each is one in every result, baseline and history.
  static let mostValues = 100

  /// One start has one reason.
  private static let mostTroubles = 4

  private var left: (names: Set<String>, numbers: Int, events: Int, units: Set<String>) = ([], 0, 0, [])
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
    if let last = marks.lastActivity { add(.activity(last.word), at: last.time) }
    notes = remarks
  }

  /// Words of the libraries are events, all else is a figure.
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
    case ("launch.failures", "launches"): add(.launchFailures(count), at: time)
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
        left.units.insert("\(metric) (\(known) at first, then \(unit))")
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

  /// A loop fails the scenario, so that it takes the place of another event where there is no more room.
  private mutating func add(_ kind: TargetEvent.Kind, at time: Duration) {
    let event = TargetEvent(kind, at: time)
    if events.count == TargetEvent.most {
      left.events += 1
      guard event.isLoop, let other = events.lastIndex(where: { !$0.isLoop }) else { return }
      events.remove(at: other)
    }
    events.append(event)
  }

  private var remarks: [String] {
    var notes: [String] = []
    if !left.names.isEmpty {
      notes.append("the target reported more than \(Self.mostValues) values; the names that came later are left out")
    }
    if left.numbers > 0 { notes.append("numbers that the target reported are beyond 2^60, and left out") }
    if !left.units.isEmpty {
      let names = left.units.sorted().prefix(3).joined(separator: ", ")
      notes.append("values that the target reported in a second unit are left out: \(names)")
    }
    if left.events > 0 { notes.append("the target told more than \(TargetEvent.most) events; the others are left out") }
    if dropped > 0 {
      notes.append("the target dropped \(dropped) messages to HIGHWATER_MARKS that it wrote faster than they were read")
    }
    return notes + events.filter { $0.isTrouble && !$0.isLoop }.prefix(Self.mostTroubles).map(\.displayText)
  }
}
