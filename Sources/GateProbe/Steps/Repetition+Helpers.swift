import GateCore
import LinuxSystem

/// How a helper ended: a program of setup, steps, readiness or teardown.
enum HelperEnd: Equatable {
  case ended(EndEvidence.Status, output: String)
  /// It was killed when its time was over.
  case late(output: String)
}

extension Repetition {
  /// What bounds each command of the teardown, unless the scenario's own timeout is shorter.
  private static let teardownTime = Duration.seconds(60)

  func runSetup() throws(StepAborted) {
    for command in scenario.setup {
      begin(Failure.Part(.setup, doing: "\(command)"))
      try require(command, exits: [0], within: scenario.timeout)
    }
  }

  /// Runs all commands, also after one of them failed.
  ///
  /// - Returns: the first failure.
  func runTeardown() -> Failure? {
    isCancellable = false
    cancellationDeadline = nil
    var first: Failure?
    for command in scenario.teardown {
      begin(Failure.Part(.teardown, doing: "\(command)"))
      do throws(StepAborted) {
        try require(command, exits: [0], within: min(Self.teardownTime, scenario.timeout))
      } catch {
        first = first ?? failure(for: error, of: nil)
      }
    }
    return first
  }

  /// Runs a helper that has to end with one of the exit codes.
  func require(
    _ command: Command,
    exits: [Int],
    within time: Duration,
    of run: TargetRun? = nil,
    atTargetEnd: AtTargetEnd = .abort
  ) throws(StepAborted) {
    switch try runHelper(command, until: .after(time), of: run, atTargetEnd: atTargetEnd) {
    case .ended(.exited(let code), _) where exits.contains(code): return
    case .ended(let status, let output):
      throw .failed(.commandEnded(status, expected: exits), output: output)
    case .late(let output):
      throw .failed(.commandTimeout(after: time), output: output)
    }
  }

  /// Runs a helper in the scenario's root; what it leaves running lives on until the repetition's end.
  func runHelper(
    _ command: Command,
    until deadline: MonotonicTime,
    of run: TargetRun?,
    atTargetEnd: AtTargetEnd
  ) throws(StepAborted) -> HelperEnd {
    let channel = OutputChannel()
    let processTree = try startHelper(command, output: channel)
    do throws(StepAborted) {
      let status = try watch(
        until: deadline,
        on: [processTree.reportDescriptor],
        of: run,
        atTargetEnd: atTargetEnd
      ) { () throws(StepAborted) -> WaitStatus? in
        processTree.collect()
        return processTree.ending(of: processTree.leader)
      }
      return close(processTree, status: status, channel)
    } catch {
      noteUnkillable(processTree.killAll())
      throw error
    }
  }

  private func close(_ processTree: ProcessTree, status: WaitStatus?, _ channel: OutputChannel) -> HelperEnd {
    if status == nil { noteUnkillable(processTree.killAll()) }
    listener.catchUp()
    guard let status else { return .late(output: channel.tail.text) }
    if !processTree.isEmpty { lingering.append(processTree) }
    return .ended(EndEvidence.Status(status), output: channel.tail.text)
  }

  private func startHelper(_ command: Command, output channel: OutputChannel) throws(StepAborted) -> ProcessTree {
    var isolation = Isolation()
    isolation.randomAddresses = true
    let output: Descriptor.Pair
    do throws(SystemFailure) { output = try Descriptor.pipe(readerBlocks: false) } catch { throw StepAborted(error) }
    defer { withExtendedLifetime(output.writer) {} }
    let request = LaunchRequest(
      words: command.words,
      environment: settings.environment,
      workingDirectory: scenario.root,
      output: output.writer.number,
      isolation: isolation
    )
    do throws(LaunchError) {
      let processTree = try ProcessTree(starting: request)
      listener.add(.reading(output.reader) { channel.append($0) })
      return processTree
    } catch {
      throw StepAborted(error)
    }
  }
}
