/// A property of a machine that measuring depends on, for `doctor`.
package struct MachineProperty: Sendable, Equatable {
  package enum Value: Sendable, Equatable {
    /// Why no target can be measured; nil if it can be.
    case measuring(MachineRestriction?)
    case method(MeasurementMethod)
    /// ptrace(2), with the level of the Yama module, nil without it, and whether a seccomp filter is in force.
    case tracing(isPermitted: Bool, yama: Int?, isFiltered: Bool)
    /// The folder for cgroups of targets; nil if none can be created.
    case memoryCgroup(folder: String?)
    /// The lowest memory limit of the runner's own cgroup and its ancestors.
    case memoryLimit(Bytes?, used: Bytes)
    case addresses(areRandom: Bool, canBeFixed: Bool)
    /// The mode of transparent huge pages.
    case hugePages(String)
    /// nil without swap.
    case swap(used: Bytes?)
    case cpus(usable: Int, online: Int)
    /// The limits of this process; nil for none.
    case limits(openFiles: Int, processes: Int?)
    case system(kernel: String, architecture: String, libc: String, pageSize: Int)
    /// What `explain` lacks here; nil without ptrace, which it needs.
    case explaining(ProfilerLimits?)
    case noise(ProbeNoise)
    /// A requirement of a scenario that this machine does not meet.
    case scenario(ScenarioName, Failure.Problem)
  }

  package enum Status: String, Sendable, Codable {
    case good, warning, error
  }

  package var value: Value
  /// What is less than ideal, with its remedy.
  package var note: MachineNote?

  package init(_ value: Value, note: MachineNote? = nil) {
    (self.value, self.note) = (value, note)
  }

  package var status: Status {
    switch value {
    case .measuring(_?), .scenario: .error
    case .noise(let noise) where noise.isHigh: .warning
    case .method(let method) where method != .tracedInCgroup: .warning
    case .explaining(let limits) where limits != ProfilerLimits(): .warning
    default: note == nil ? .good : .warning
    }
  }
}

/// How far equal runs of a small program differ.
package struct ProbeNoise: Sendable, Equatable {
  package var peaks: [Bytes]
  package var durations: [Duration]

  package init(peaks: [Bytes], durations: [Duration]) {
    (self.peaks, self.durations) = (peaks, durations)
  }

  /// The highest peak minus the lowest one.
  package var peakRange: Bytes {
    (peaks.max() ?? .zero) - (peaks.min() ?? .zero)
  }

  package var isPeakNoisy: Bool { peakRange > Self.tolerablePeakRange }

  /// Whether a repetition took more than twice as long as the median one.
  package var isSlowed: Bool {
    let sorted = durations.sorted()
    guard let longest = sorted.last else { return false }
    return longest > sorted[sorted.count / 2] * 2
  }

  package var isHigh: Bool { isPeakNoisy || isSlowed }

  /// Half of the smallest tolerance that `auto` takes for a peak.
  private static let tolerablePeakRange = Bytes.kibibytes(128)
}
