/// Where the time of repetitions goes.
package struct TimeUse: Sendable, Hashable, Codable {
  /// In setup and teardown commands.
  package var commands = Duration.zero
  /// From the start of the target until it was ready.
  package var readiness = Duration.zero
  /// In `settle` steps.
  package var settling = Duration.zero
  /// In `wait` steps.
  package var waiting = Duration.zero
  /// The rest of the target's life: its own work, and that of the steps.
  package var target = Duration.zero
  /// In the repetitions under the profiler.
  package var explaining = Duration.zero
  /// Everything else: starting, reading, recording and judging.
  package var overhead = Duration.zero

  private enum CodingKeys: String, CodingKey {
    case commands = "commandsSeconds"
    case readiness = "readinessSeconds"
    case settling = "settlingSeconds"
    case waiting = "waitingSeconds"
    case target = "targetSeconds"
    case explaining = "explainingSeconds"
    case overhead = "overheadSeconds"
  }

  package init() {}

  package var total: Duration { Self.parts.reduce(.zero) { $0 + self[keyPath: $1] } }

  package static func += (sum: inout Self, other: Self) {
    for part in parts { sum[keyPath: part] += other[keyPath: part] }
  }

  /// Splits the life of a target, of which other parts are known.
  package mutating func setTarget(from life: Duration) {
    target = max(.zero, life - readiness - settling - waiting)
  }

  private static var parts: [WritableKeyPath<Self, Duration>] {
    [\.commands, \.readiness, \.settling, \.waiting, \.target, \.explaining, \.overhead]
  }
}
