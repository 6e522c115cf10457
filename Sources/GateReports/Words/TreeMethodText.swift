import GateCore

extension TreeMethod {
  /// What the values of a process tree count.
  var displayText: String {
    switch self {
    case .cgroup: "each page once, without file pages"
    case .proportional: "shared pages divided among processes (Pss)"
    case .upperBound: "upper bound (shared pages count once per process)"
    }
  }

  /// The same for a narrow column.
  var shortText: String {
    switch self {
    case .cgroup: "without file pages"
    case .proportional: "Pss"
    case .upperBound: "upper bound"
    }
  }
}
