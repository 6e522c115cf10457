import GateCore

/// What became of a helper: a program of setup, steps, readiness or teardown.
enum HelperEnd: Equatable {
  case ended(EndEvidence.Status, output: String)
  /// It was killed when its time was over.
  case late(output: String)
}

extension Repetition {
  /// What bounds each command of the teardown, unless the scenario's own timeout is shorter.
  private static let teardownTime = Duration.seconds(60)

  func runSetup() throws(Halt) {
    for command in scenario.setup {
      underWay = Part(.setup, "\(command)", place: scenario.place)
      try require(command, exits: [0], within: scenario.timeout)
    }
  }

  /// Runs all commands, also after one of them failed.
  ///
  /// - Returns: the first failure.
  func runTeardown() -> Failure? {
    heedsInterruption = false
    hurryDeadline = nil
    var first: Failure?
    for command in scenario.teardown {
      underWay = Part(.teardown, "\(command)", place: scenario.place)
      do throws(Halt) {
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
    atTargetEnd: AtTargetEnd = .halt
  ) throws(Halt) {
    switch try runHelper(command, until: .after(time), of: run, atTargetEnd: atTargetEnd) {
    case .ended(.exited(let code), _) where exits.contains(code): return
    case .ended(let status, let output):
      let expected = exits.map(String.init).joined(separator: " or ")
      throw .failed("\(status.displayText) (expected \(expected))", output: output)
    case .late(let output):
      throw .failed("did not end within \(time.displayText) and was killed", output: output)
    }
  }

  /// Runs a helper in the scenario's root; what it leaves running lives on until the repetition's end.
  func runHelper(
    _ command: Command,
    until deadline: MonotonicTime,
    of run: TargetRun?,
    atTargetEnd: AtTargetEnd
  ) throws(Halt) -> HelperEnd {
    let channel = OutputChannel()
    let family = try startHelper(command, output: channel)
    do throws(Halt) {
      let status = try watch(
        until: deadline,
        on: [family.reportDescriptor],
        of: run,
        atTargetEnd: atTargetEnd
      ) { () throws(Halt) -> WaitStatus? in
        family.collect()
        return family.ending(of: family.leader)
      }
      return close(family, status: status, channel)
    } catch {
      noteImmortals(family.disperse())
      throw error
    }
  }

  private func close(_ family: Family, status: WaitStatus?, _ channel: OutputChannel) -> HelperEnd {
    if status == nil { noteImmortals(family.disperse()) }
    listener.catchUp()
    guard let status else { return .late(output: channel.tail.text) }
    if !family.isDispersed { lingering.append(family) }
    return .ended(EndEvidence.Status(status), output: channel.tail.text)
  }

  private func startHelper(_ command: Command, output channel: OutputChannel) throws(Halt) -> Family {
    var isolation = Isolation()
    isolation.randomAddresses = true
    let output: Descriptor.Pair
    do throws(SystemError) { output = try Descriptor.pipe(readerBlocks: false) } catch { throw Halt(error) }
    defer { withExtendedLifetime(output.writer) {} }
    let request = LaunchRequest(
      words: command.words,
      environment: settings.environment,
      workingDirectory: scenario.root,
      output: output.writer.number,
      isolation: isolation
    )
    do throws(LaunchError) {
      let family = try Family(starting: request)
      listener.add(.reading(output.reader) { channel.append($0) })
      return family
    } catch {
      throw Halt(error)
    }
  }
}
