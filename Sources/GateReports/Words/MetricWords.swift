import GateCore

/// The words for a metric of the whole run, besides its name in files.
struct MetricWords {
  let label: String
  /// In the line of a passing scenario; nil if that leaves the metric out.
  let short: String?
  /// What its value is.
  let meaning: String

  private init(_ label: String, short: String?, _ meaning: String) {
    (self.label, self.short, self.meaning) = (label, short, meaning)
  }

  /// `treeMethod` says how the memory of the process tree was counted.
  init(of metric: WholeRunMetric, treeMethod: String) {
    self =
      switch metric {
      case .peakRSS: Self("peak", short: "peak", "high-water mark (VmHWM)")
      case .steadyRSS: Self("steady", short: "steady", "after warm-up")
      case .growth: Self("growth", short: "growth", "in steady state")
      case .spike: Self("spike", short: "spike", "above the steady level")
      case .faultRate: Self("fault rate", short: "faults", "made resident by page faults")
      case .treePeak: Self("tree peak", short: "tree", treeMethod)
      case .treeSteady: Self("tree steady", short: nil, "after warm-up")
      }
  }
}
