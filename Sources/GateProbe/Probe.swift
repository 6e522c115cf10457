package import GateCore
import Glibc
package import LinuxSystem
import Synchronization

/// Runs scenarios on this machine and measures the memory of their targets.
package struct Probe: Sendable {
  private let interruption: Interruption
  private let environment: [String: String]
  private let temporaryFolder: TemporaryFolder

  /// Creates a probe.
  ///
  /// - Parameters:
  ///   - interruption: what ends a repetition early.
  ///   - environment: the runner's own: the source of `PATH`, `HOME`, `TMPDIR` and of variables that targets inherit.
  package init(interruption: Interruption, environment: [String: String]) {
    self.interruption = interruption
    self.environment = environment
    temporaryFolder = TemporaryFolder(in: environment["TMPDIR"].flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp")
  }

  /// Checks that targets can be measured here, cleans up after killed runs, and creates the run's temporary folder.
  ///
  /// Call it once, before the first measurement and before any thread is started.
  ///
  /// - Returns: The path of the folder, which lasts as long as the probe.
  package func prepare() throws(MachineRestriction) -> String {
    if let restriction = Machine.restriction() { throw restriction }
    do throws(SystemFailure) {
      let path = try temporaryFolder.make(startingCleaner: true).path
      _ = KillWatch.shared
      return path
    } catch {
      // fork(2) and pthread_create(3) fail with these at a limit.
      let isLimit = error.call != .mkdtemp && [EAGAIN, ENOMEM].contains(error.code)
      throw isLimit ? .tooFew(resource: .processes, needed: 1) : .temporaryFolder(failure: error)
    }
  }

  /// The accuracy of the machine's counters; nil if it cannot be determined.
  package var counters: CounterCheck? { Machine.counters }

  /// The CPUs that targets may use, in ascending order.
  package var usableCPUs: [Int] { LinuxCalls.usableCPUs() }

  /// Notes on a less exact method, if this machine imposes one, and on conditions that may distort a scenario's values.
  package func notes(on scenario: Scenario) -> [MachineNote] {
    Capabilities.current.notes(for: scenario) + MachineState.now().notes(for: scenario)
  }

  /// What limits the profiler on this machine.
  package var profilerLimits: ProfilerLimits { Profiler.limits }

  /// The properties of this machine that a scenario's values depend on.
  package func fingerprint(for scenario: Scenario) -> Fingerprint {
    Machine.fingerprint(for: scenario, environment: environment)
  }

  /// How the memory of targets can be limited here.
  package var memoryLimiting: MemoryLimiting { Machine.memoryLimiting }

  /// Runs a scenario once, on the caller's thread; a failing target also yields a recording.
  ///
  /// At most 16 MiB of the target's output are copied to `outputFile`, whose folder must exist. After an interruption
  /// all processes are stopped, the teardown has run, and the result is nil, unless it `keepsInterrupted`.
  package func measure(
    _ scenario: Scenario,
    output outputFile: String?,
    keepsInterrupted: Bool = false
  ) -> Recording? {
    var recording: Recording
    do throws(SystemFailure) {
      let interrupted = try Wakeup()
      let port = scenario.needsPort ? try Connection.freePort() : nil
      let scenario = port.map(scenario.filled) ?? scenario
      let repetition = try Repetition(
        of: scenario,
        settings: settings(for: scenario, output: outputFile),
        interruption: interruption,
        interrupted: interrupted
      )
      recording = interruption.whileWatching(with: { interrupted.raise() }, body: { repetition.run() })
      if let port { recording.listeners = recording.listeners.map { $0.withoutPort(port) } }
    } catch {
      let failure = Failure(part: Failure.Part(.start), problem: .system(failure: error), place: scenario.place)
      recording = Recording(
        end: End(.startFailed, cause: .startFailed(problem: .system(failure: error))), failure: failure)
    }
    return keepsInterrupted || interruption.signal == nil ? recording : nil
  }

  private func settings(for scenario: Scenario, output: String?) throws(SystemFailure) -> Repetition.Settings {
    Repetition.Settings(
      environment: TargetEnvironment(for: scenario.target, runner: environment).variables.merging(
        scenario.target.running == nil ? [:] : environment.filter { RunningTarget.variablesOfTools.contains($0.key) }
      ) { own, _ in own },
      runFolder: try temporaryFolder.make(),
      outputFile: output,
      method: Machine.method(for: scenario)
    )
  }
}

/// The run's temporary folder, made when it is first needed.
private final class TemporaryFolder: Sendable {
  private let parent: String
  private let made = Mutex<RunFolder?>(nil)

  init(in parent: String) {
    self.parent = parent
  }

  func make(startingCleaner: Bool = false) throws(SystemFailure) -> RunFolder {
    try made.withLock { made throws(SystemFailure) in
      if let made { return made }
      if startingCleaner { RunFolder.removeAbandoned(in: parent) }
      let folder = try RunFolder(in: parent, startingCleaner: startingCleaner)
      made = folder
      return folder
    }
  }
}
