import GateCore
import GateProbe

/// Reports what this machine permits, and how far equal runs differ on it.
struct Doctor {
  var options = SharedOptions()

  /// Tries everything that measuring needs.
  ///
  /// - Returns: `pass`, or `usage` if nothing can be measured here.
  func run(in invocation: Invocation) throws -> ExitCode {
    try options.prepareReports(in: invocation)
    var properties = Machine.properties()
    let canMeasure = properties.allSatisfy { $0.status != .error }
    if canMeasure {
      try invocation.prepareMeasuring()
      guard let noise = noise(of: invocation.measurer) else { return invocation.interruptedExit() }
      properties.append(MachineProperty(.noise(noise)))
    }
    // Scenarios are a bonus: a project file that is missing or wrong is for `validate`.
    if let project = try? options.loadProject(in: invocation, webhooksNeeded: false) {
      properties += Machine.unmetRequirements(of: project.scenarios)
    }
    invocation.console.report(besides: options) { DoctorReport.text(properties, style: $0) }
    let document = DoctorFile.encode(properties, canMeasure: canMeasure) { DoctorReport.words(of: $0) }
    for file in options.reportFiles { try file.write(document, in: invocation) }
    return canMeasure ? .pass : .usage
  }

  /// A program that every machine has, with fixed work; a warm-up runs first.
  ///
  /// - Returns: nil after an interruption.
  private func noise(of measurer: any Measurer) -> ProbeNoise? {
    let line = "i=0; text=; while [ $i -lt 4000 ]; do i=$((i + 1)); text=$text$i; done"
    var scenario = Scenario(
      name: ScenarioName(Tool.name), target: Target(command: .shell(line), workingDirectory: "/"))
    scenario.interval = .milliseconds(1)
    var noise = ProbeNoise(peaks: [], durations: [])
    for number in 0...Self.repetitions {
      guard let recording = measurer.measure(scenario, output: nil, keepsInterrupted: false) else { return nil }
      guard number > 0, let peak = recording.result().metrics[.peakRSS] else { continue }
      noise.peaks.append(Bytes(clampedFrom: peak))
      noise.durations.append(recording.duration)
    }
    return noise
  }

  /// As many as a first baseline has.
  private static let repetitions = 10
}
