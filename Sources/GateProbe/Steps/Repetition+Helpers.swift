import GateCore
import LinuxSystem

/// How a helper ended: a program of the setup, a step, the readiness check or the teardown.
enum HelperEnd: Equatable {
  case ended(EndEvidence.Status, output: String)
  /// It was killed after its timeout.
  case timedOut(output: String)
}

extension Repetition {
  /// The timeout of each teardown command, unless the scenario's own is shorter.
  private static let teardownTimeout = Duration.seconds(60)

  func runSetup() throws(StepAborted) {
    for command in scenario.setup {
      begin(Failure.Part(.setup, doing: "\(command)"))
      try timed(\.commands) { () throws(StepAborted) in
        try require(command, exits: [0], within: scenario.timeout)
      }
    }
  }

  /// Runs all commands, even if one of them fails.
  ///
  /// - Returns: The first failure.
  func runTeardown() -> Failure? {
    isCancellable = false
    cancellationDeadline = nil
    var first: Failure?
    for command in scenario.teardown {
      begin(Failure.Part(.teardown, doing: "\(command)"))
      do throws(StepAborted) {
        try timed(\.commands) { () throws(StepAborted) in
          try require(command, exits: [0], within: min(Self.teardownTimeout, scenario.timeout))
        }
      } catch {
        first = first ?? failure(for: error, of: nil)
      }
    }
    return first
  }

  /// Runs a helper; throws unless it ends with one of the exit codes.
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
      throw .failed(.commandEnded(status: status, expected: exits), output: output)
    case .timedOut(let output):
      throw .failed(.commandTimeout(after: time), output: output)
    }
  }

  /// Runs a helper in the scenario's root; processes that it leaves running are killed at the end of the repetition.
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
        return processTree.leaderEnding
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
    guard let status else { return .timedOut(output: channel.tail.text) }
    if !processTree.isEmpty { backgroundTrees.append(processTree) }
    return .ended(EndEvidence.Status(status), output: channel.tail.text)
  }

  func startHelper(_ command: Command, output channel: OutputChannel) throws(StepAborted) -> ProcessTree {
    var isolation = Isolation()
    isolation.randomAddresses = true
    let output: Descriptor.Pair
    do throws(SystemFailure) { output = try Descriptor.pipe(readerBlocks: false) } catch { throw StepAborted(error) }
    defer { withExtendedLifetime(output.writer) {} }
    var request = LaunchRequest(
      words: command.words,
      environment: settings.environment.merging([Orphans.runVariable: settings.runFolder.path]) { $1 },
      workingDirectory: scenario.root,
      output: output.writer.number,
      isolation: isolation
    )
    request.lock = settings.runFolder.lock
    request.joined = settings.runFolder.cgroupOfCommands()
    do throws(LaunchError) {
      let processTree = try ProcessTree(starting: request)
      listener.add(.reading(output.reader) { channel.append($0) })
      return processTree
    } catch {
      throw StepAborted(error)
    }
  }
}
