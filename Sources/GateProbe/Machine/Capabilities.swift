package import GateCore
import Glibc

/// The measurement methods that a machine permits, found by trying.
struct Capabilities: Sendable {
  let canTrace: Bool
  let site: CgroupSite

  /// The capabilities of this machine, determined once.
  static let current = Capabilities(canTrace: LinuxCalls.canTrace, site: .current)

  /// The best available method for the scenario.
  func method(for scenario: Scenario) -> MeasurementMethod {
    let wantsTracer = scenario.isolation.tracer != .off
    guard let running = scenario.target.running else {
      return MeasurementMethod(isTraced: canTrace && wantsTracer, inCgroup: (try? site.memory.get()) != nil)
    }
    return MeasurementMethod(isTraced: canAttach && wantsTracer, inCgroup: running.hasCgroup)
  }

  /// Whether the runner may trace processes that it has not started: `kernel.yama.ptrace_scope` 1 allows that to root only
  /// (`Documentation/admin-guide/LSM/Yama.rst`).
  private var canAttach: Bool {
    canTrace && (geteuid() == 0 || (TracingBarrier.yamaScope.flatMap(Machine.number) ?? 0) == 0)
  }

  /// Why this machine cannot meet a requirement of the scenario; nil if it can meet all.
  func unmetRequirement(of scenario: Scenario) -> Failure.Problem? {
    if scenario.isolation.tracer == .on, !method(for: scenario).isTraced {
      return .tracerUnavailable(barrier: .current)
    }
    if scenario.memoryLimit != nil, case .failure(let error) = site.memory {
      return .memoryLimitUnavailable(error: error)
    }
    let kinds = scenario.gate.kinds
    let own = kinds.isEmpty ? nil : KindTotals(inFolder: "/proc/self")
    return kinds.first { !$0.isOfSamples && own?.has($0) != true }.map { .kindUnavailable(metric: $0.name) }
  }

  /// Why this machine cannot meet a requirement of a check of the scenario; nil if it can meet all.
  func unmetRequirement(ofChecking scenario: Scenario) -> Failure.Problem? {
    if let problem = unmetRequirement(of: scenario) { return problem }
    guard scenario.limit != nil, case .failure(let error) = site.memory else { return nil }
    return .limitUnavailable(error: error)
  }

  /// Notes on methods that this machine lacks, except those that the scenario has disabled.
  func notes(for scenario: Scenario) -> [MachineNote] {
    var notes: [MachineNote] = []
    if !canTrace, scenario.isolation.tracer == .auto {
      notes.append(.noTracing(barrier: .current))
    }
    if scenario.target.running == nil, case .failure(let error) = site.memory {
      notes.append(.noMemoryCgroup(error: error))
    }
    if scenario.gate.kinds.contains(where: { $0.kind == .swap }), Machine.swapInUse() == nil { notes.append(.noSwap) }
    return notes
  }
}

extension Machine {
  /// The best method that this machine permits for the scenario.
  package static func method(for scenario: Scenario) -> MeasurementMethod {
    Capabilities.current.method(for: scenario)
  }
}

extension TracingBarrier {
  /// The likely cause on this machine.
  static var current: TracingBarrier {
    TracingBarrier(scope: yamaScope, status: ownStatus)
  }

  static var yamaScope: String? { SmallFile.text(at: "/proc/sys/kernel/yama/ptrace_scope") }
  static var ownStatus: String { SmallFile.text(at: "/proc/self/status") ?? "" }

  /// Finds the likely cause.
  ///
  /// - Parameters:
  ///   - scope: the text of `kernel.yama.ptrace_scope`, nil without that module; values up to 1 permit tracing one's
  ///     own children (`Documentation/admin-guide/LSM/Yama.rst`).
  ///   - status: the text of `/proc/self/status`; its `Seccomp` is 2 under a filter.
  init(scope: String?, status: String) {
    let level = scope.flatMap(Machine.number) ?? 0
    self = level >= 2 ? .yama(scope: level) : Self.isFiltered(status) ? .seccomp : .unknown
  }

  /// Whether the process with this status runs under a seccomp filter.
  static func isFiltered(_ status: String) -> Bool {
    status.split(separator: "\n").contains("Seccomp:\t2")
  }
}
