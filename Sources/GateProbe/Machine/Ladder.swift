package import GateCore

/// The methods of measurement that a machine allows, found by trying.
struct Ladder: Sendable {
  let canTrace: Bool
  let site: CgroupSite

  /// Those of this machine, tried once.
  static let here = Ladder(canTrace: LinuxCalls.canTrace, site: .here)

  /// The best method for the scenario.
  func method(for scenario: Scenario) -> MeasurementMethod {
    MeasurementMethod(isTraced: canTrace && scenario.isolation.tracer != .off, inCgroup: (try? site.memory.get()) != nil)
  }

  /// What the scenario demands that cannot be had, and why; nil where all can.
  func diagnostic(about scenario: Scenario) -> Diagnostic? {
    if scenario.isolation.tracer == .on, !canTrace {
      let barrier = TraceBarrier.here
      let problem = "`tracer: on` cannot be had: ptrace is not permitted here (\(barrier.cause))"
      return Diagnostic(problem: problem, hint: "\(barrier.remedy), or write `tracer: auto`")
    }
    if scenario.memoryLimit != nil, case .failure(let refusal) = site.memory {
      let problem = "`memory-limit` needs a memory cgroup, which cannot be made here: \(refusal.cause)"
      return Diagnostic(problem: problem, hint: "\(refusal.remedy), or write `gate: {peak_rss: {limit: …}}` instead")
    }
    return nil
  }

  /// What the scenario's figures lack here, and what a person can do about it; what the scenario chose is no lack.
  func notes(for scenario: Scenario) -> [String] {
    var notes: [String] = []
    if !canTrace, scenario.isolation.tracer == .auto {
      let barrier = TraceBarrier.here
      notes.append(
        "ptrace is not permitted here (\(barrier.cause)): peaks are sampled, and what comes after the last reading is "
          + "missed; \(barrier.remedy)")
    }
    if case .failure(let refusal) = site.memory {
      notes.append(
        "no memory cgroup can be made here (\(refusal.cause)): the tree's figures are put together from those of its "
          + "processes; \(refusal.remedy)")
    }
    return notes
  }
}

extension Machine {
  /// The best method that this machine allows for the scenario.
  package static func method(for scenario: Scenario) -> MeasurementMethod {
    Ladder.here.method(for: scenario)
  }
}

/// What keeps us from tracing what we start.
struct TraceBarrier: Sendable, Equatable {
  let cause: String
  let remedy: String

  /// What is known of this machine.
  static var here: TraceBarrier {
    TraceBarrier(
      scope: SmallFile.text(at: "/proc/sys/kernel/yama/ptrace_scope"),
      status: SmallFile.text(at: "/proc/self/status") ?? ""
    )
  }

  /// Tells the likely cause.
  ///
  /// - Parameters:
  ///   - scope: the text of `kernel.yama.ptrace_scope`, nil without that module; up to 1 it is not in the way of tracing
  ///     one's own children (`Documentation/admin-guide/LSM/Yama.rst`).
  ///   - status: the text of `/proc/self/status`, whose `Seccomp` is 2 under a filter.
  init(scope: String?, status: String) {
    let level = scope.flatMap { Int($0.prefix { $0 != "\n" }) } ?? 0
    let isFiltered = status.split(separator: "\n").contains("Seccomp:\t2")
    switch (level, isFiltered) {
    case (3..., _):
      cause = "kernel.yama.ptrace_scope is \(level)"
      remedy = "set it lower at the machine's start"
    case (2, _):
      cause = "kernel.yama.ptrace_scope is 2"
      remedy = "set it to 1, or grant CAP_SYS_PTRACE"
    case (_, true):
      cause = "a seccomp filter is in force"
      remedy = "grant CAP_SYS_PTRACE (`--cap-add SYS_PTRACE`), or a profile that allows ptrace"
    default:
      cause = "the kernel refuses it"
      remedy = "grant CAP_SYS_PTRACE"
    }
  }
}
