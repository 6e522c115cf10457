import GateCore
import Glibc
import LinuxSystem

/// One repetition of a scenario, from its setup to its teardown; belongs to the thread that plays it.
final class Repetition {
  let scenario: Scenario
  let settings: Settings
  let interruption: Interruption
  /// Raised when the runner is asked to end.
  let interrupted: Wakeup
  /// Raised when the target printed something that patterns may be looked for in.
  let outputArrived: Wakeup
  let listener: Listener
  /// The part that is being done, for the failure if it fails, and its place in the project file.
  private(set) var underWay = (part: Failure.Part(.start), place: SourcePlace?.none)
  /// Programs that setup and steps started and that left something running.
  var lingering: [ProcessTree] = []
  var notes: [RecordingNote] = []
  /// Made where the first request is sent.
  var client: HTTPClient?
  /// False while what was started is being ended: an interruption then shortens the time for that.
  var isCancellable = true
  /// When the target, and then the teardown, must have ended after an interruption.
  var cancellationDeadline: MonotonicTime?
  private var folder: PrivateFolder?

  /// Whether the runner was asked to end.
  var isInterrupted: Bool { interruption.signal != nil }

  /// What does not follow from the scenario alone.
  struct Settings {
    /// The environment of every program that is started; the target's has the marks FIFO in addition.
    var environment: [String: String]
    var temporaryFolder: String
    /// The file that the target's output is copied to.
    var outputFile: String?
    /// How the target is measured, as far as this machine and the scenario allow.
    var method = MeasurementMethod.sampled
  }

  init(
    of scenario: Scenario,
    settings: Settings,
    interruption: Interruption,
    interrupted: Wakeup
  ) throws(SystemFailure) {
    self.scenario = scenario
    self.settings = settings
    self.interruption = interruption
    self.interrupted = interrupted
    outputArrived = try Wakeup()
    listener = try Listener()
    begin(Failure.Part(.start))
  }

  /// Notes the part that is done next; a step has a place of its own.
  func begin(_ part: Failure.Part, at place: SourcePlace? = nil) {
    underWay = (part, place ?? scenario.place)
  }

  /// Plays the scenario once; whatever happens to the target is part of the recording.
  func play() -> Recording {
    var recording: Recording
    do throws(StepAborted) {
      try refuseWhatCannotBeDone()
      try startListening()
    } catch {
      return notStarted(because: error)
    }
    do throws(StepAborted) {
      try runSetup()
      recording = measure(try startTarget())
    } catch {
      recording = notStarted(because: error)
    }
    tearDown(after: &recording)
    recording.notes += notes
    return recording
  }

  private func startListening() throws(StepAborted) {
    do throws(SystemFailure) { try listener.start() } catch { throw StepAborted(error) }
  }

  private func tearDown(after recording: inout Recording) {
    let failure = runTeardown()
    if recording.failure == nil { recording.failure = failure }
    for processTree in lingering { noteUnkillable(processTree.killAll()) }
    lingering = []
    listener.stop()
    folder?.remove()
  }

  private func notStarted(because reason: StepAborted) -> Recording {
    let failure = failure(for: reason, of: nil)
    var cause = End.Cause.startFailed(failure.problem)
    if case .failed = reason, underWay.part.kind == .setup { cause = .setupFailed }
    return Recording(end: End(deciding: EndEvidence(startFailure: cause)), failure: failure)
  }

  /// Notes processes that no SIGKILL has ended.
  func noteUnkillable(_ pids: [Int32]) {
    if !pids.isEmpty { notes.append(.unkillable(pids)) }
  }
}

// MARK: - Starting the target

extension Repetition {
  private typealias Input = (reader: Descriptor?, writer: Descriptor?)

  private func refuseWhatCannotBeDone() throws(StepAborted) {
    beginStart()
    if let problem = Capabilities.here.refusal(of: scenario) { throw .failed(problem) }
  }

  func beginStart() {
    begin(Failure.Part(.start, doing: "\(scenario.target.command)"))
  }

  private func startTarget() throws(StepAborted) -> TargetRun {
    if isInterrupted { throw .interrupted }
    try checkNotReadyYet()
    beginStart()
    let (folder, output, input) = try openChannels()
    let instruments = Instruments(for: scenario, on: settings.method)
    let processTree = try launch(input: input.reader, output: output.writer, marks: folder, instruments)
    return follow(processTree, output: output.reader, input: input.writer, marks: folder.marks, instruments)
  }

  private func openChannels() throws(StepAborted) -> (folder: PrivateFolder, output: Descriptor.Pair, input: Input) {
    do throws(SystemFailure) {
      let folder = try PrivateFolder(in: settings.temporaryFolder)
      self.folder = folder
      return (folder, try Descriptor.pipe(readerBlocks: false), try openInput())
    } catch {
      throw StepAborted(error)
    }
  }

  /// The target's standard input, and the end that we write to; none of either where it is `/dev/null`.
  private func openInput() throws(SystemFailure) -> Input {
    switch scenario.target.input {
    case .null: return (nil, nil)
    case .file(let path): return (try Descriptor.file(path, O_RDONLY), nil)
    case .pipe, .text:
      let pipe = try Descriptor.pipe(writerBlocks: false)
      return (pipe.reader, pipe.writer)
    }
  }

  private func launch(
    input: Descriptor?,
    output: Descriptor,
    marks folder: PrivateFolder,
    _ instruments: Instruments
  ) throws(StepAborted) -> ProcessTree {
    var environment = settings.environment
    environment["HIGHWATER_MARKS"] = folder.marksPath
    var request = LaunchRequest(
      words: scenario.target.command.words,
      environment: environment,
      workingDirectory: scenario.target.workingDirectory,
      input: input?.number,
      output: output.number,
      isolation: scenario.isolation
    )
    request.scratch = folder
    request.isTraced = settings.method.isTraced
    request.containment = instruments.cgroup?.containment
    request.mappings = instruments.lastMappings?.number
    defer { withExtendedLifetime((input, output)) {} }
    do throws(LaunchError) { return try ProcessTree(starting: request) } catch { throw StepAborted(error) }
  }

  /// Begins to sample and to listen.
  private func follow(
    _ processTree: ProcessTree,
    output: Descriptor,
    input: Descriptor?,
    marks: Descriptor,
    _ instruments: Instruments
  ) -> TargetRun {
    let sampler = Sampler(
      processTree: processTree, interval: scenario.interval, main: scenario.target.main, cgroup: instruments.cgroup
    )
    sampler.start()
    let list = MarkList { beginsPhase in sampler.level(beginningPhase: beginsPhase) }
    let channel = OutputChannel(copiedTo: settings.outputFile, arrived: scenario.looksAtOutput ? outputArrived : nil)
    listener.add(.reading(output) { channel.append($0) })
    listener.add(.reading(marks) { list.read($0) })
    let run = TargetRun(
      of: scenario, processTree: processTree, sampler: sampler, output: channel, marks: list, instruments: instruments
    )
    if case .text(let text) = scenario.target.input, let input {
      listener.add(.writing(input, Array(text.utf8)[...]))
    } else {
      run.input = input
    }
    return run
  }
}

extension Scenario {
  /// Whether any part of the script looks for patterns in the target's output.
  fileprivate var looksAtOutput: Bool {
    if case .log = ready?.condition { return true }
    return steps.contains(where: \.looksAtOutput)
  }
}

extension Step {
  fileprivate var looksAtOutput: Bool {
    switch action {
    case .expectOutput: true
    case .repeat(_, let steps): steps.contains(where: \.looksAtOutput)
    default: false
    }
  }
}
