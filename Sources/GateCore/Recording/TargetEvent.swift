/// An event that a target reported, other than its phases, marks and values.
package struct TargetEvent: Sendable, Hashable, Codable {
  package enum Kind: Sendable, Hashable, Codable {
    /// A method was called this often within one turn of the target's work, in this many turns; `name` is `TYPE.NAME`.
    case loop(name: String, calls: Int, turns: Int)
    /// Why the target was started, as reported by `MemoryMarkers`: for example `out-of-memory.active.cgroup-counter`.
    case launch(reason: String)
    /// The number of previous launches that failed while starting.
    case launchFailures(count: Int)
    /// The target's activity when it ended: `starting`, `active`, `idle` or `stopping`.
    case activity(name: String)
  }

  package var kind: Kind
  /// Since the target's exec; for a loop, the first turn.
  package var time: Duration

  package init(_ kind: Kind, at time: Duration) {
    (self.kind, self.time) = (kind, time)
  }

  /// The maximum that the result of a repetition stores.
  package static let most = 100
}

extension TargetEvent {
  package var isLoop: Bool {
    if case .loop = kind { true } else { false }
  }

  /// Whether it deserves a note even if the scenario passes: a regular launch needs none.
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

  /// The first part of reasons that are failures; more may follow, as in `out-of-memory.active.cgroup-counter`.
  private static let failures: Set = ["crash", "hang", "out-of-memory", "killed-unknown", "unknown"]

  /// Whether `MemoryMarkers` has this reason (its `StartupReason`); any other text is a custom mark.
  static func isReason(_ text: String) -> Bool {
    usualReasons.contains(text) || failures.contains(String(text.prefix { $0 != "." }))
  }
}

extension Mark.Event {
  /// The loop that the target reports, as in `Model.update`; nil if it reports none.
  var loopName: String? {
    guard case .value(let name, _, "calls") = self, name.hasPrefix("loop."), name.utf8.count > 5 else { return nil }
    return String(name.dropFirst(5))
  }

  /// The activity that the target starts, as reported by `MemoryMarkers`; nil for other marks.
  package var activity: String? {
    guard case .mark(let name) = self, name.hasPrefix("activity.") else { return nil }
    let word = String(name.dropFirst(9))
    return ["starting", "active", "idle", "stopping"].contains(word) ? word : nil
  }
}

extension [Mark] {
  /// The target's activity when it ended, and since when; nil if it did not report one.
  package var lastActivity: (word: String, time: Duration)? {
    reversed().lazy.compactMap { mark in mark.event.activity.map { ($0, mark.time) } }.first
  }
}
