/// What the values of a metric are, from which its unit and its arithmetic follow.
package enum MetricKind: Sendable, CaseIterable {
  /// The most memory that was held at once.
  case peak
  /// The level of memory after warm-up.
  case steadyLevel
  /// A rise above the steady level.
  case height
  /// What is left of a rise; a program may hold less than before.
  case remainder
  /// How fast memory grows in steady state, per iteration or per second.
  case slope
  /// Bytes per second, over the whole run.
  case rate
  /// A value that the target reports, in its own unit.
  case reported
  /// The number of living instances of a class.
  case instances
  /// Bytes per item of a scenario's ``Scale``.
  case perItem
  /// A number of calls.
  case count
  /// An amount of memory that a program asked for, to the byte.
  case countedBytes

  /// Whether it is per iteration or second: it may be zero, and a percentage of it makes no sense.
  package var isRate: Bool {
    switch self {
    case .slope, .rate: true
    case .peak, .steadyLevel, .height, .remainder, .reported, .instances, .perItem, .count, .countedBytes: false
    }
  }

  /// Whether it is an amount of memory that is held, which an injected block raises.
  package var isLevel: Bool {
    switch self {
    case .peak, .steadyLevel: true
    case .height, .remainder, .slope, .rate, .reported, .instances, .perItem, .count, .countedBytes: false
    }
  }

  /// Whether its values are whole bytes of memory; others may have fractions.
  package var isWholeBytes: Bool {
    switch self {
    case .peak, .steadyLevel, .height, .remainder, .countedBytes: true
    case .slope, .rate, .reported, .instances, .perItem, .count: false
    }
  }

  package var canBeNegative: Bool {
    switch self {
    case .remainder, .slope, .reported, .perItem: true
    case .peak, .steadyLevel, .height, .rate, .instances, .count, .countedBytes: false
    }
  }

  /// Whether the metric's name does not determine its unit, so that files store it and other units are not compared.
  package var hasStoredUnit: Bool {
    switch self {
    case .slope, .reported, .instances: true
    case .peak, .steadyLevel, .height, .remainder, .rate, .perItem, .count, .countedBytes: false
    }
  }

  /// Whether its values come from marks or other messages of the target, which may be lost.
  package var isFromMessages: Bool {
    switch self {
    case .remainder, .slope, .reported, .instances: true
    case .peak, .steadyLevel, .height, .rate, .perItem, .count, .countedBytes: false
    }
  }

  /// The unit as in the result file; for a reported value, the `reported` unit if any.
  package func unit(perIteration: Bool, reported: String? = nil) -> String {
    switch self {
    case .peak, .steadyLevel, .height, .remainder, .countedBytes: "bytes"
    case .slope: perIteration ? "bytes/iteration" : "bytes/second"
    case .rate: "bytes/second"
    case .reported: reported ?? ""
    case .instances: "instances"
    case .count: "allocations"
    case .perItem: "bytes/item"
    }
  }
}
