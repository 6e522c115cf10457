import GateCore
import Glibc
import LinuxSystem

extension Repetition {
  /// How long a tool may take that finds a unit or a container.
  private static let toolTimeout = Duration.seconds(30)

  /// Follows a target that runs already, from now on.
  func attach(to running: RunningTarget) throws(StepAborted) -> TargetRun {
    beginStart()
    let search = TargetSearch<StepAborted>(
      run: { command throws(StepAborted) in try self.answer(of: command) },
      fail: { StepAborted.failed(.attach(error: $0)) })
    let processes = try search.processes(of: running)
    let cgroup = processes.memory.map { Cgroup(of: $0) }
    let instruments = Instruments(ofRunning: cgroup)
    let processTree = try follow(processes)
    let sampler = sampler(of: processTree, instruments)
    let list = MarkList {
      sampler.level(reading: $0)
    } firstIteration: {
    }
    return TargetRun(
      of: scenario, processTree: processTree, sampler: sampler,
      output: OutputChannel(copiedTo: settings.outputFile, arrived: nil), marks: list, instruments: instruments,
      method: MeasurementMethod(isTraced: processTree.isTraced, inCgroup: cgroup != nil))
  }

  /// Traces the processes if that is permitted, else only waits for the end of the first one.
  private func follow(_ processes: AttachedProcesses) throws(StepAborted) -> ProcessTree {
    let before = ProcessStat(of: processes.leader)?.startTick
    let isTraced = settings.method.isTraced
    if !isTraced, scenario.isolation.tracer == .auto {
      notes.append(.notTraced(command: ProcessStat(of: processes.leader)?.command ?? "", code: EPERM))
    }
    var request = AttachRequest(processes: processes, isTraced: isTraced, lock: settings.runFolder.lock)
    let tree: ProcessTree
    do throws(ErrorNumber) {
      tree = try ProcessTree(attaching: request)
    } catch {
      guard isTraced, scenario.isolation.tracer != .on, error.code != ESRCH else {
        throw .failed(.attach(error: .failed(pid: processes.leader, code: error.code)))
      }
      notes.append(.notTraced(command: ProcessStat(of: processes.leader)?.command ?? "", code: error.code))
      request.isTraced = false
      tree = try untraced(request)
    }
    // Another process may have got its number.
    guard before != nil, ProcessStat(of: processes.leader)?.startTick == before else {
      throw .failed(.attach(error: .noProcess(pid: processes.leader)))
    }
    return tree
  }

  private func untraced(_ request: AttachRequest) throws(StepAborted) -> ProcessTree {
    do throws(ErrorNumber) {
      return try ProcessTree(attaching: request)
    } catch {
      throw .failed(.attach(error: .failed(pid: request.processes.leader, code: error.code)))
    }
  }

  /// What a tool prints; nil if there is no such program.
  private func answer(of command: Command) throws(StepAborted) -> TargetSearch<StepAborted>.ToolAnswer? {
    do throws(StepAborted) {
      switch try runHelper(command, until: .after(Self.toolTimeout), of: nil, atTargetEnd: .proceed) {
      case .ended(.exited(code: 0), let output): return (true, output)
      case .ended(_, let output), .timedOut(let output): return (false, output)
      }
    } catch .failed(.launch(let error), _) where error.stage == .search {
      return nil
    }
  }
}
