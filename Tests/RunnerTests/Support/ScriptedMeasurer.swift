import FoundationEssentials
import GateCore
import Synchronization

@testable import GateApplication

/// Returns recordings from a script instead of starting targets.
final class ScriptedMeasurer: Measurer {
  /// The recording of one start of a target; nil ends the run like an interruption.
  ///
  /// Starts are counted from 0, including warm-ups and variants.
  typealias Script = @Sendable (_ scenario: Scenario, _ start: Int) -> Recording?

  private struct State {
    var script: Script
    var fingerprint: Fingerprint
    var measured: [Scenario] = []
    var limiting = MemoryLimiting(batches: .kibibytes(512), largest: .mebibytes(4096))
    var profile: Profile = { _, _ in [] }
    var profiled: [Scenario] = []
  }

  /// What the profiler finds in one profiled start of a target; nil ends the run like an interruption.
  ///
  /// These starts are counted apart.
  typealias Profile = @Sendable (_ scenario: Scenario, _ start: Int) -> [MemoryProfile]?

  private let state: Mutex<State>
  let counters: CounterCheck? = nil
  let profilerLimits = ProfilerLimits()
  let usableCPUs = [0, 1]

  init(_ script: @escaping Script) {
    let fingerprint = Fingerprint(
      architecture: "x86_64", pageSize: 4096, cpus: 2, aslr: "off", thp: "madvise", measurement: "traced",
      kernel: "6.1", libc: "glibc 2.36"
    )
    state = Mutex(State(script: script, fingerprint: fingerprint))
  }

  /// Switches to another script and restarts the count of starts.
  func follow(_ script: @escaping Script) {
    state.withLock { state in
      state.script = script
      state.measured = []
    }
  }

  /// How the machine limits memory.
  var memoryLimiting: MemoryLimiting {
    get { state.withLock { $0.limiting } }
    set { state.withLock { $0.limiting = newValue } }
  }

  /// The machine of the fingerprints; a scenario's isolation and memory limit are added.
  var fingerprint: Fingerprint {
    get { state.withLock { $0.fingerprint } }
    set { state.withLock { $0.fingerprint = newValue } }
  }

  /// Gives profiled targets these profiles.
  func profile(_ profile: @escaping Profile) {
    state.withLock { state in
      state.profile = profile
      state.profiled = []
    }
  }

  /// The profiled measurements, in order.
  var profiled: [Scenario] { state.withLock { $0.profiled } }

  /// The measurements since the script began, in order.
  var measured: [Scenario] { state.withLock { $0.measured } }

  func prepare() -> String { FileManager.default.temporaryDirectory.path }

  func measure(_ scenario: Scenario, output: String?, keepsInterrupted: Bool) -> Recording? {
    if scenario.target.samplingInterval != nil { return profiled(scenario) }
    let (script, start) = state.withLock { state in
      state.measured.append(scenario)
      return (state.script, state.measured.count - 1)
    }
    let recording = script(scenario, start)
    if let output, let text = recording?.outputTail, !text.isEmpty {
      try? SafeFile.write(Array(text.utf8), to: output)
    }
    return recording
  }

  private func profiled(_ scenario: Scenario) -> Recording? {
    let (profile, start) = state.withLock { state in
      state.profiled.append(scenario)
      return (state.profile, state.profiled.count - 1)
    }
    return profile(scenario, start).map { profiles in
      var recording = Recording.holding(8)
      recording.profiles = profiles
      return recording
    }
  }

  func fingerprint(for scenario: Scenario) -> Fingerprint {
    var fingerprint = fingerprint
    if scenario.isolation.randomAddresses { fingerprint.aslr = "on" }
    if scenario.isolation.hugePages == .off { fingerprint.thp = "off" }
    if let cpus = scenario.isolation.cpus { fingerprint.cpus = cpus.count }
    fingerprint.memoryLimit = scenario.memoryLimit
    return fingerprint
  }

  func notes(on scenario: Scenario) -> [MachineNote] { [] }
}

extension ScriptedMeasurer {
  /// Targets that hold these sizes in MiB in turn, one per start, repeatedly.
  convenience init(holding mebibytes: [Double]) {
    self.init(Self.script(holding: mebibytes))
  }

  /// Changes the sizes of the targets.
  func hold(_ mebibytes: Double...) {
    follow(Self.script(holding: mebibytes))
  }

  private static func script(holding mebibytes: [Double]) -> Script {
    { _, start in .holding(mebibytes[start % mebibytes.count]) }
  }
}

extension Recording {
  /// A process with constant memory for a second, so that peak and steady level are exact.
  static func holding(
    _ mebibytes: Double,
    marks: [Mark] = [],
    end: End = End(.exited, code: 0),
    output: String = ""
  ) -> Recording {
    let bytes = Bytes(Int64(mebibytes * 1_048_576))
    let reading = MemoryReading(resident: bytes, peak: bytes, anonymous: bytes, file: .zero, shared: .zero)
    let process = ProcessRecord(
      id: 100, parent: 1, command: "target", isMain: true, peak: bytes, firstSeen: .zero, lastSeen: .seconds(1),
      isExact: true
    )
    return Recording(
      method: .traced,
      samples: (0..<100).map { Sample(time: .milliseconds($0 * 10), main: reading, tree: bytes, processes: 1) },
      marks: marks,
      processes: [process],
      composition: Composition(anonymous: bytes, file: .zero, shared: .zero),
      end: end,
      duration: .seconds(1),
      widestGap: .milliseconds(10),
      outputTail: output
    )
  }
}
