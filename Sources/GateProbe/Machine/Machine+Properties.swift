package import GateCore

extension Machine {
  /// What measuring depends on here, most important first; without the noise.
  package static func properties() -> [MachineProperty] {
    // The scenario with all defaults: notes are on what every scenario meets.
    let target = Target(command: .arguments([]), workingDirectory: "/")
    let scenario = Scenario(name: ScenarioName(Tool.name), target: target)
    let (capabilities, state) = (Capabilities.current, MachineState.now())
    let notes = capabilities.notes(for: scenario) + state.notes(for: scenario)
    let values: [MachineProperty.Value] = [
      .measuring(restriction()),
      .method(capabilities.method(for: scenario)),
      .tracing(
        isPermitted: capabilities.canTrace, yama: TracingBarrier.yamaScope.flatMap(number),
        isFiltered: TracingBarrier.isFiltered(TracingBarrier.ownStatus)),
      .memoryCgroup(folder: (try? capabilities.site.memory.get())?.parent),
      .memoryLimit(state.limit, used: state.workingSet ?? .zero),
      .addresses(areRandom: randomizesAddresses, canBeFixed: state.canFixAddresses),
      .hugePages(state.hugePages),
      .swap(used: swapInUse()),
      .cpus(usable: state.usableCPUs, online: state.onlineCPUs),
      .limits(openFiles: ResourceLimit.descriptors, processes: ResourceLimit.processes),
      system,
      .explaining(capabilities.canTrace ? Profiler.limits : nil),
    ]
    return values.map { value in MachineProperty(value, note: notes.first { $0.isAbout(value) }) }
  }

  /// The requirements that this machine does not meet, by scenario.
  package static func unmetRequirements(of scenarios: [Scenario]) -> [MachineProperty] {
    scenarios.compactMap { scenario in
      Capabilities.current.unmetRequirement(ofChecking: scenario).map { MachineProperty(.scenario(scenario.name, $0)) }
    }
  }

  /// The number in a file of one line.
  static func number(in text: String) -> Int? {
    Int(text.prefix { $0 != "\n" })
  }

  private static var system: MachineProperty.Value {
    let names = systemNames()
    return .system(kernel: names.release, architecture: names.machine, libc: libc(), pageSize: PageSize.bytes)
  }
}

extension MachineNote {
  /// Whether it says what is less than ideal with this property.
  fileprivate func isAbout(_ value: MachineProperty.Value) -> Bool {
    switch (self, value) {
    case (.noTracing, .tracing), (.noMemoryCgroup, .memoryCgroup), (.hugePagesAlways, .hugePages),
      (.swapInUse, .swap), (.smallLimit, .memoryLimit), (.hiddenLimit, .memoryLimit), (.fewerCPUs, .cpus),
      (.addressesNotFixed, .addresses):
      true
    default: false
    }
  }
}
