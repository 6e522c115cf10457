import GateCore

/// The words for a metric of the whole run, besides its name in files.
struct MetricWords {
  let label: String
  /// In the line of a passing scenario; nil if that leaves the metric out.
  let short: String?
  /// What its value is.
  let meaning: String
  /// Why it is missing, as a clause; nil if it needs a steady state instead of readings.
  let unread: String?

  static let unread = "the target ended before \(Recording.fewestReadings) readings of it were made"

  private init(_ label: String, short: String?, _ meaning: String, unread: String?) {
    (self.label, self.short, self.meaning, self.unread) = (label, short, meaning, unread)
  }

  /// `treeMethod` says how the memory of the process tree was counted.
  init(of metric: WholeRunMetric, treeMethod: String) {
    self =
      switch metric {
      case .peakRSS: Self("peak", short: "peak", "high-water mark (VmHWM)", unread: Self.unread)
      case .steadyRSS: Self("steady", short: "steady", "after warm-up", unread: nil)
      case .growth: Self("growth", short: "growth", "in steady state", unread: nil)
      case .spike: Self("spike", short: "spike", "above the steady level", unread: nil)
      case .retained: Self("retained", short: "retained", "left by the load, in steady state", unread: nil)
      case .faultRate:
        Self(
          "fault rate", short: "faults", "made resident by page faults",
          unread: "the target's page faults were read fewer than 2 times")
      case .treePeak: Self("tree peak", short: "tree", treeMethod, unread: Self.unread)
      case .treeSteady: Self("tree steady", short: nil, "after warm-up", unread: nil)
      }
  }
}
