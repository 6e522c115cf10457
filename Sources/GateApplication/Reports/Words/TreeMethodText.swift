import GateCore

extension TreeMethod {
  /// How the memory of a process tree was counted.
  var displayText: String {
    switch self {
    case .cgroup: "each page once"
    case .proportional: "shared pages divided among processes (Pss)"
    case .upperBound: "upper bound (shared pages count once per process)"
    }
  }

  /// The same for a narrow column.
  var shortText: String {
    switch self {
    case .cgroup: "each page once"
    case .proportional: "Pss"
    case .upperBound: "upper bound"
    }
  }
}
