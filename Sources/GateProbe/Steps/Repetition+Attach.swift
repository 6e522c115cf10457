import GateCore
import Glibc
import LinuxSystem

extension Repetition {
  /// How long a tool may take that finds a unit, or finds, starts or removes a container.
  static let toolTimeout = Duration.seconds(30)

  /// Follows a target that runs already, from now on, or a container from its start on.
  func attach(to running: RunningTarget) throws(StepAborted) -> TargetRun {
    let output = outputChannel()
    var container: Container?
    if case .image(let image) = running { container = try prepareContainer(of: image, output) }
    beginStart()
    var processes = try processes(of: running, in: container, output)
    processes.isOwn = running.isOwn
    processes.awaitsProgram = container?.isHeld == true
    let cgroup = processes.memory.map { Cgroup(of: $0) }
    let instruments = Instruments(ofRunning: cgroup)
    let processTree = try follow(processes)
    if let container, container.isHeld { try startProgram(of: container, in: processTree, output) }
    let sampler = sampler(of: processTree, instruments)
    let list = MarkList {
      sampler.level(reading: $0)
    } firstIteration: {
    }
    return TargetRun(
      of: scenario, processTree: processTree, sampler: sampler, output: output, marks: list, instruments: instruments,
      method: MeasurementMethod(isTraced: processTree.isTraced, inCgroup: cgroup != nil))
  }

  /// Traces the processes if that is permitted, else only waits for the end of the first one.
  private func follow(_ processes: AttachedProcesses) throws(StepAborted) -> ProcessTree {
    let before = ProcessStat(of: processes.leader)?.startTick
    var request = AttachRequest(processes: processes, isTraced: settings.method.isTraced, lock: settings.runFolder.lock)
    // Only a tracer can tell what a held container has before its program begins.
    let mayGoUntraced = scenario.isolation.tracer == .auto && !processes.awaitsProgram
    if !request.isTraced, mayGoUntraced { noteUntraced(processes, code: EPERM) }
    var result = Self.tree(attaching: request)
    if case .failure(let error) = result, request.isTraced, mayGoUntraced, error.code != ESRCH {
      noteUntraced(processes, code: error.code)
      request.isTraced = false
      result = Self.tree(attaching: request)
    }
    switch result {
    case .failure(let error): throw .failed(.attach(error: .failed(pid: processes.leader, code: error.code)))
    case .success(let tree):
      // Another process may have got its number.
      guard before != nil, ProcessStat(of: processes.leader)?.startTick == before else {
        throw .failed(.attach(error: .noProcess(pid: processes.leader)))
      }
      return tree
    }
  }

  private static func tree(attaching request: AttachRequest) -> Result<ProcessTree, ErrorNumber> {
    Result { () throws(ErrorNumber) in try ProcessTree(attaching: request) }
  }

  private func noteUntraced(_ processes: AttachedProcesses, code: Int32) {
    notes.append(.notTraced(command: ProcessStat(of: processes.leader)?.command ?? "", code: code))
  }

  /// The processes of the target; waits for those of a container that is being started.
  private func processes(
    of running: RunningTarget, in container: Container?, _ output: OutputChannel
  ) throws(StepAborted) -> AttachedProcesses {
    let search = TargetSearch<StepAborted>(
      run: { command throws(StepAborted) in try self.answer(of: command, within: Self.toolTimeout) },
      fail: { StepAborted.failed(.attach(error: $0)) }, created: container?.id)
    guard let client = container?.client else { return try search.processes(of: running) }
    let found = try watch(
      until: .after(Self.toolTimeout), pause: Self.pollInterval, on: [client.reportDescriptor], of: nil
    ) { () throws(StepAborted) -> AttachedProcesses? in
      do throws(StepAborted) {
        return try search.processes(of: running)
      } catch .failed(.attach(.containerNotRunning), _) {
        try checkStarting(client, output)
        return nil
      }
    }
    guard let found else { throw .failed(.attach(error: .containerNotRunning(name: running.name))) }
    return found
  }

  /// What a tool prints; nil if there is no such program.
  func answer(
    of command: Command, within time: Duration
  ) throws(StepAborted) -> TargetSearch<StepAborted>.ToolAnswer? {
    do throws(StepAborted) {
      switch try runHelper(command, until: .after(time), of: nil, atTargetEnd: .proceed) {
      case .ended(.exited(code: 0), let output): return (true, output)
      case .ended(_, let output), .timedOut(let output): return (false, output)
      }
    } catch .failed(.launch(let error), _) where error.stage == .search {
      return nil
    }
  }
}
