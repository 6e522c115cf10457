import GateCore
import LinuxSystem

/// Processes that run already, to be followed by a supervisor.
struct AttachRequest {
  var processes: AttachedProcesses
  var isTraced: Bool
  /// The lock of the run's folder, which the supervisor holds as well.
  var lock: Descriptor?

  /// The plan of a supervisor that starts nothing.
  var plan: SupervisorPlan {
    var plan = SupervisorPlan(
      program: "", arguments: [], environment: [], directory: "/", input: nil, output: -1, fixesAddresses: false,
      preventsHugePages: false, cpuMask: [], lock: lock?.number, isTraced: isTraced, ballast: 0, cgroupFolders: [],
      joinedFolders: [], cgroupSettings: [], beforeKilling: [], samplingInterval: 0)
    (plan.attached, plan.ownsAttached) = (processes.all().map(\.pid), processes.isOwn)
    return plan
  }
}
