package import GateCore

/// The ways of measurement that a machine allows, found by trying.
struct Capabilities: Sendable {
  let canTrace: Bool
  let site: CgroupSite

  /// Those of this machine, tried once.
  static let here = Capabilities(canTrace: LinuxCalls.canTrace, site: .here)

  /// The best method for the scenario.
  func method(for scenario: Scenario) -> MeasurementMethod {
    MeasurementMethod(
      isTraced: canTrace && scenario.isolation.tracer != .off, inCgroup: (try? site.memory.get()) != nil)
  }

  /// What the scenario demands and this machine does not allow; nil where all is allowed.
  func refusal(of scenario: Scenario) -> Failure.Problem? {
    if scenario.isolation.tracer == .on, !canTrace { return .tracerUnavailable(.here) }
    if scenario.memoryLimit != nil, case .failure(let error) = site.memory { return .memoryLimitUnavailable(error) }
    return nil
  }

  /// What the scenario's values lack here; what the scenario chose is not noted.
  func notes(for scenario: Scenario) -> [MachineNote] {
    var notes: [MachineNote] = []
    if !canTrace, scenario.isolation.tracer == .auto { notes.append(.noTracing(.here)) }
    if case .failure(let error) = site.memory { notes.append(.noMemoryCgroup(error)) }
    return notes
  }
}

extension Machine {
  /// The best method that this machine allows for the scenario.
  package static func method(for scenario: Scenario) -> MeasurementMethod {
    Capabilities.here.method(for: scenario)
  }
}

extension TracingBarrier {
  /// The likely cause on this machine.
  static var here: TracingBarrier {
    TracingBarrier(
      scope: SmallFile.text(at: "/proc/sys/kernel/yama/ptrace_scope"),
      status: SmallFile.text(at: "/proc/self/status") ?? ""
    )
  }

  /// Finds the likely cause.
  ///
  /// - Parameters:
  ///   - scope: the text of `kernel.yama.ptrace_scope`, nil without that module; up to 1 it does not prevent tracing
  ///     one's own children (`Documentation/admin-guide/LSM/Yama.rst`).
  ///   - status: the text of `/proc/self/status`, whose `Seccomp` is 2 under a filter.
  init(scope: String?, status: String) {
    let level = scope.flatMap { Int($0.prefix { $0 != "\n" }) } ?? 0
    let isFiltered = status.split(separator: "\n").contains("Seccomp:\t2")
    self = level >= 2 ? .yama(scope: level) : isFiltered ? .seccomp : .unknown
  }
}
