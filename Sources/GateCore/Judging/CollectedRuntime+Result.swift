extension CollectedRuntime {
  /// The runtime of the main process, by its name and the files whose code it has mapped, such as `libjvm.so`.
  ///
  /// nil for others, and for Go, whose programs have no name in common: their files contain ``goBuildInformation``.
  package init?(of result: ScenarioResult) {
    let files = result.codeFiles.map { path in path.split(separator: "/").last.map(String.init) ?? path }
    let names = files + [result.program].compactMap(\.self)
    guard let runtime = Self.allCases.first(where: { names.contains(where: $0.isNamed) }) else { return nil }
    self = runtime
  }
}

extension ScenarioResult {
  /// The files whose code the main process had mapped; known only in the process that measured.
  package var codeFiles: [String] { summary.composition?.codeFiles ?? [] }
}
