/// Something that a target reported of itself, beside its phases, marks and values.
package struct TargetEvent: Sendable, Hashable, Codable {
  package enum Kind: Sendable, Hashable, Codable {
    /// A function of an object was called this often within one turn of the target's work, in so many turns; `name` is
    /// `TYPE.NAME`.
    case loop(name: String, calls: Int, turns: Int)
    /// Why the target was started, as `MemoryMarkers` reports it, for example `out-of-memory.active.cgroup-counter`.
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

  /// The most that the result of a repetition stores.
  package static let most = 100
}

extension TargetEvent {
  package var isLoop: Bool {
    if case .loop = kind { true } else { false }
  }

  /// Whether a note should report it where all else is well: a usual start needs none.
  package var isWarning: Bool {
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
  private static let failures: Set = ["crash", "hang", "out-of-memory", "killed-unknown", "unknown"]

  /// Whether `MemoryMarkers` has this reason (its `StartupReason`); another one is a mark of the target's own.
  static func isReason(_ text: String) -> Bool {
    usualReasons.contains(text) || failures.contains(String(text.prefix { $0 != "." }))
  }
}

extension Mark.Event {
  /// The loop that the target reports, as in `Model.update`; nil where it reports none.
  var loopName: String? {
    guard case .value(let name, _, "calls") = self, name.hasPrefix("loop."), name.utf8.count > 5 else { return nil }
    return String(name.dropFirst(5))
  }

  /// What the target does from now on, as `MemoryMarkers` reports it; nil for other marks.
  package var activity: String? {
    guard case .mark(let name) = self, name.hasPrefix("activity.") else { return nil }
    let word = String(name.dropFirst(9))
    return ["starting", "active", "idle", "stopping"].contains(word) ? word : nil
  }
}

extension [Mark] {
  /// What the target was doing when it ended, and since when; nil where it did not report that.
  package var lastActivity: (word: String, time: Duration)? {
    reversed().lazy.compactMap { mark in mark.event.activity.map { ($0, mark.time) } }.first
  }
}
