import GateCore
import Glibc
import LinuxSystem

/// One repetition of a scenario, from setup to teardown; confined to the thread that runs it.
final class Repetition {
  let scenario: Scenario
  let settings: Settings
  let interruption: Interruption
  /// Raised when the runner is interrupted.
  let interrupted: Wakeup
  /// Raised when there is new output to search.
  let outputArrived: Wakeup
  let listener: Listener
  /// The current part, for the failure if it fails, and its place in the project file.
  private(set) var current = (part: Failure.Part(.start), place: SourcePlace?.none)
  /// Helpers that left processes running.
  var backgroundTrees: [ProcessTree] = []
  var notes: [RecordingNote] = []
  private var times = TimeUse()
  /// The answer to the last attempt to find the target ready.
  var readinessAnswer: End.ReadinessAnswer?
  /// Created for the first request.
  var client: HTTPClient?
  /// False while processes are being stopped and in the teardown: an interruption then shortens their time.
  var isCancellable = true
  /// The deadline for stopping the target and for the teardown after an interruption.
  var cancellationDeadline: MonotonicTime?
  private(set) var folder: PrivateFolder?

  /// Whether the runner was interrupted.
  var isInterrupted: Bool { interruption.signal != nil }

  /// The inputs besides the scenario.
  struct Settings {
    /// The environment of all programs; the target's also has the marks FIFO.
    var environment: [String: String]
    /// The temporary folder of the run.
    var runFolder: RunFolder
    /// The file for a copy of the target's output.
    var outputFile: String?
    /// The measurement method that this machine and the scenario permit.
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

  /// Sets the current part; a step has its own place in the project file.
  func begin(_ part: Failure.Part, at place: SourcePlace? = nil) {
    current = (part, place ?? scenario.place)
  }

  /// Runs the scenario once; failures become part of the recording.
  func run() -> Recording {
    var recording: Recording
    do throws(StepAborted) {
      try checkRequirements()
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
    times.setTarget(from: recording.duration)
    recording.times = times
    recording.notes += notes
    return recording
  }

  /// Adds the time of the body to a part of the repetition's time.
  func timed<Value, Failure: Error>(
    _ part: WritableKeyPath<TimeUse, Duration>, _ body: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    let begin = MonotonicTime.now()
    defer { times[keyPath: part] += .now() - begin }
    return try body()
  }

  private func startListening() throws(StepAborted) {
    do throws(SystemFailure) { try listener.start() } catch { throw StepAborted(error) }
  }

  private func tearDown(after recording: inout Recording) {
    isCancellable = false
    removeContainer()
    let failure = runTeardown()
    if recording.failure == nil { recording.failure = failure }
    for processTree in backgroundTrees { noteUnkillable(processTree.killAll()) }
    backgroundTrees = []
    listener.stop()
    folder?.remove()
  }

  private func notStarted(because reason: StepAborted) -> Recording {
    let failure = failure(for: reason, of: nil)
    var cause = End.Cause.startFailed(problem: failure.problem)
    if case .failed = reason, current.part.kind == .setup { cause = .setupFailed }
    return Recording(end: End(deciding: EndEvidence(startFailure: cause)), failure: failure)
  }

  /// Notes processes that could not be killed.
  func noteUnkillable(_ pids: [Int32]) {
    if !pids.isEmpty { notes.append(.unkillable(pids: pids)) }
  }
}

// MARK: - Starting the target

extension Repetition {
  private typealias Input = (reader: Descriptor?, writer: Descriptor?)

  private func checkRequirements() throws(StepAborted) {
    beginStart()
    if let problem = Capabilities.current.unmetRequirement(of: scenario) { throw .failed(problem) }
  }

  func beginStart() {
    begin(Failure.Part(.start, doing: scenario.target.displayText))
  }

  private func startTarget() throws(StepAborted) -> TargetRun {
    if isInterrupted { throw .interrupted }
    if let running = scenario.target.running { return try attach(to: running) }
    try checkNotReadyYet()
    beginStart()
    let (folder, output, input) = try openChannels()
    let instruments = try instruments(in: folder)
    let processTree = try launch(input: input.reader, output: output.writer, marks: folder, instruments)
    return follow(processTree, output: output.reader, input: input.writer, marks: folder, instruments)
  }

  private func instruments(in folder: PrivateFolder) throws(StepAborted) -> Instruments {
    var instruments = Instruments(for: scenario, on: settings.method)
    do throws(SystemFailure) {
      if scenario.target.countsInstances { instruments.instances = try InstanceCounter(in: folder.path) }
      if let injection = scenario.target.injection {
        instruments.mutation = try MutationLibrary(injection, in: folder.path)
      }
      if scenario.target.countsAllocations { instruments.allocations = try AllocationCounter(in: folder.path) }
      guard let interval = scenario.target.samplingInterval, settings.method.isTraced else { return instruments }
      instruments.profiler = try Profiler(interval: interval, in: folder.path)
      return instruments
    } catch {
      throw StepAborted(error)
    }
  }

  private func openChannels() throws(StepAborted) -> (folder: PrivateFolder, output: Descriptor.Pair, input: Input) {
    let input = try openInput()
    let folder = try makeFolder()
    do throws(SystemFailure) {
      return (folder, try Descriptor.pipe(readerBlocks: false), input)
    } catch {
      throw StepAborted(error)
    }
  }

  /// Makes the folder of the repetition.
  func makeFolder() throws(StepAborted) -> PrivateFolder {
    do throws(SystemFailure) {
      let made = try PrivateFolder(in: settings.runFolder.path)
      folder = made
      return made
    } catch {
      throw StepAborted(error)
    }
  }

  /// Receives the target's output.
  func outputChannel() -> OutputChannel {
    OutputChannel(copiedTo: settings.outputFile, arrived: scenario.searchesOutput ? outputArrived : nil)
  }

  /// The target's standard input, and the write end of its pipe; both nil for `/dev/null`.
  private func openInput() throws(StepAborted) -> Input {
    if case .file(let path) = scenario.target.input, FIFOOpening.isFIFO(path) { return (try openFIFO(path), nil) }
    do throws(SystemFailure) {
      switch scenario.target.input {
      case .null: return (nil, nil)
      case .file(let path): return (try Descriptor.file(path, O_RDONLY), nil)
      case .pipe, .text:
        let pipe = try Descriptor.pipe(writerBlocks: false)
        return (pipe.reader, pipe.writer)
      }
    } catch {
      throw StepAborted(error)
    }
  }

  /// Waits for a writer as long as the scenario may take.
  private func openFIFO(_ path: String) throws(StepAborted) -> Descriptor {
    begin(Failure.Part(.start, doing: "stdin: {file: \(path)}"))
    let opening: FIFOOpening
    do throws(SystemFailure) { opening = try FIFOOpening(path) } catch { throw StepAborted(error) }
    defer { opening.cancel() }
    let opened = try watch(until: .after(scenario.timeout), on: [opening.descriptor], of: nil) { opening.result }
    guard let opened else { throw .failed(.noInputWriter(within: scenario.timeout)) }
    do throws(SystemFailure) { return try opened.get() } catch { throw StepAborted(error) }
  }

  private func launch(
    input: Descriptor?,
    output: Descriptor,
    marks folder: PrivateFolder,
    _ instruments: Instruments
  ) throws(StepAborted) -> ProcessTree {
    var environment = settings.environment
    environment["HIGHWATER_MARKS"] = folder.marksPath
    instruments.profiler?.add(to: &environment)
    instruments.instances?.add(to: &environment)
    instruments.allocations?.add(to: &environment)
    instruments.mutation?.add(to: &environment)
    var request = LaunchRequest(
      words: scenario.target.command.words,
      environment: environment,
      workingDirectory: scenario.target.workingDirectory,
      input: input?.number,
      output: output.number,
      isolation: scenario.isolation
    )
    request.marksPath = folder.marksPath
    request.lock = settings.runFolder.lock
    request.isTraced = settings.method.isTraced
    request.ballast = scenario.target.ballast
    request.containment = instruments.cgroup?.containment
    request.mappings = instruments.lastMappings?.number
    request.profiler = instruments.profiler
    defer { withExtendedLifetime((input, output)) {} }
    do throws(LaunchError) { return try ProcessTree(starting: request) } catch { throw StepAborted(error) }
  }

  /// Starts sampling.
  func sampler(of processTree: ProcessTree, _ instruments: Instruments) -> Sampler {
    let sampler = Sampler(
      processTree: processTree, interval: scenario.interval, main: scenario.target.main,
      behind: scenario.target.buildTool, cgroup: instruments.cgroup, readsKinds: !scenario.gate.kinds.isEmpty)
    sampler.start()
    return sampler
  }

  /// Starts sampling, and reading output and marks.
  private func follow(
    _ processTree: ProcessTree,
    output: Descriptor,
    input: Descriptor?,
    marks folder: PrivateFolder,
    _ instruments: Instruments
  ) -> TargetRun {
    let sampler = sampler(of: processTree, instruments)
    let isProfiled = instruments.profiler != nil
    let list = MarkList { [instances = instruments.instances] reading in
      if reading != .tree { instances?.read() }
      return sampler.level(reading: reading)
    } firstIteration: {
      if isProfiled { processTree.profileSteps() }
    }
    let channel = outputChannel()
    listener.add(.reading(output) { channel.append($0) })
    listener.add(.acknowledging(folder.marks, copy: folder.marksCopy) { list.read($0) })
    let run = TargetRun(
      of: scenario, processTree: processTree, sampler: sampler, output: channel, marks: list, instruments: instruments,
      method: settings.method
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
  /// Whether the scenario searches for patterns in the target's output.
  fileprivate var searchesOutput: Bool {
    ready?.condition.entry.stream == .output || allSteps.contains { $0.action.entry.stream == .output }
  }
}
