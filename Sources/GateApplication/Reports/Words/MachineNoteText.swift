import GateCore
import LinuxSystem

extension MachineNote {
  /// A sentence with the cause and the remedy.
  var displayText: String {
    switch self {
    case .noTracing(let barrier):
      "ptrace is not permitted here (\(barrier.causeText)): peaks are sampled, and memory after the last reading is "
        + "missed; \(barrier.remedyText)"
    case .noMemoryCgroup(let error):
      "cannot create a memory cgroup here (\(error.causeText)): the values of the tree are summed up from its "
        + "processes; \(error.remedyText)"
    case .hugePagesAlways:
      "transparent huge pages are on for every program (`always`): one touched page may make 2 MiB resident; "
        + "write `isolation: {thp: off}`, or `madvise` to /sys/kernel/mm/transparent_hugepage/enabled"
    case .swapInUse(let amount):
      "\(amount) of swap are in use: what is swapped out of a target is missing from its values; switch swap off "
        + "(swapoff -a), or free memory"
    case .noSwap:
      "this machine has no swap: the metrics of swapped memory are always 0 here; check them on a machine with swap"
    case .smallLimit(let limit, let used):
      "the runner's cgroup is limited to \(limit), of which \(used) are in use: a target that comes near that is "
        + "slowed down or killed; raise the limit"
    case .hiddenLimit(let limit, let wanted):
      "`memory-limit` is \(wanted), but the runner's own cgroup is limited to \(limit), and the lower limit counts; "
        + "raise that one, or write a lower `memory-limit`"
    case .fewerCPUs(let usable, let online):
      "\(usable) of \(online) CPUs may be used here: programs with one thread or arena per CPU may use either "
        + "number; name the CPUs (`isolation: {cpus: …}`), or allow all"
    case .addressesNotFixed:
      "addresses cannot be fixed here, mostly because a seccomp filter blocks personality(2): identical runs differ about "
        + "three times as much; allow it in the container's profile, or write `isolation: {aslr: on}`"
    }
  }
}

extension TracingBarrier {
  /// The likely cause, as a clause.
  var causeText: String {
    switch self {
    case .yama(let scope): "kernel.yama.ptrace_scope is \(scope)"
    case .seccomp: "a seccomp filter is in force"
    case .unknown: "the kernel refuses it"
    }
  }

  var remedyText: String {
    switch self {
    case .yama(3...): "set it lower when the machine starts"
    case .yama: "set it to 1, or grant CAP_SYS_PTRACE"
    case .seccomp: "grant CAP_SYS_PTRACE (`--cap-add SYS_PTRACE`), or use a profile that allows ptrace"
    case .unknown: "grant CAP_SYS_PTRACE"
    }
  }
}

extension CgroupError {
  /// The cause, as a clause.
  var causeText: String {
    switch self {
    case .notMounted: "no cgroup hierarchy that holds the runner is mounted"
    case .noMemoryController(let folder): "`\(folder)` has no memory controller"
    case .noFile(let file, let folder): "`\(folder)` has no `\(file)`"
    case .readOnly(let folder): "`\(folder)` is mounted read-only"
    case .notPermitted(let folder), .notDelegated(let folder): "no permission to create a cgroup in `\(folder)`"
    case .internalProcesses(let folder):
      "`\(folder)` has processes, so that it cannot enable the memory controller for cgroups below it"
    case .failed(let folder, let code): "no cgroup can be used in `\(folder)`: \(ErrorNumber(code).text)"
    }
  }

  /// The remedy, as a clause.
  var remedyText: String {
    switch self {
    case .notMounted: "mount /sys/fs/cgroup into the container, writable and with `--cgroupns=host`"
    case .noMemoryController: "enable the memory controller for this cgroup (cgroup.subtree_control of the one above)"
    case .noFile: "use kernel 5.2 or later"
    case .readOnly: "mount it writable, as a privileged container does"
    case .notPermitted: "run as the owner of that folder, usually root, or in a systemd unit with `Delegate=yes`"
    case .notDelegated: "start Highwater with `systemd-run --user --scope -p Delegate=yes`"
    case .internalProcesses: "give its systemd unit `Delegate=yes`, or its container `--cgroupns=private`"
    case .failed: "see cgroups(7)"
    }
  }
}
