/// A language runtime with a garbage collector: its resident memory depends on when the collector runs and when it
/// returns pages, besides what the program holds.
package enum CollectedRuntime: String, Sendable, Codable, CaseIterable {
  case java, node, python, go

  /// The runtime that a program of this name belongs to.
  package init?(program name: String) {
    guard let runtime = Self.allCases.first(where: { $0.isNamed(name) }) else { return nil }
    self = runtime
  }

  /// The runtime of a process that has mapped the code of these files, such as `libjvm.so`.
  ///
  /// - Parameters:
  ///   - codeFiles: Their paths.
  ///   - isGo: Whether a program, which has no name in common with others of Go, contains ``goBuildInformation``.
  package init?(codeFiles: [String], isGo: (String) -> Bool) {
    let names = codeFiles.map { String($0.split(separator: "/").last ?? "") }
    let named = Self.allCases.first { runtime in names.contains(where: runtime.isNamed) }
    let programs = zip(codeFiles, names).filter { !$0.1.contains(".so") }.map(\.0)
    guard let runtime = named ?? (programs.contains(where: isGo) ? .go : nil) else { return nil }
    self = runtime
  }

  /// The start of the build information that the Go linker writes into each program.
  package static let goBuildInformation = Array("\u{ff} Go buildinf:".unicodeScalars.map { UInt8($0.value) })

  /// Variables that make the collector run often, so that resident memory shows what a service holds; none for Python,
  /// which frees most objects at once.
  ///
  /// Measured with 2,000 requests to small services, each with and without a leak of 2 KiB per request (2026-11): with
  /// these settings the rise was about what was leaked, and Java's memory was level without a leak; by default Java took
  /// 100 MiB of garbage, more than any leak, and Go's leak showed only after its heap had grown to 4 MiB.
  package var frequentCollection: [String: String] {
    switch self {
    case .go: ["GOGC": "20"]
    // Without `-Xms` the old generation begins with a 64th of the machine's memory (`InitialRAMPercentage`), and hides
    // garbage until that is full.
    case .java: ["JAVA_TOOL_OPTIONS": "-XX:+UseSerialGC -Xms8m -Xmn4m -XX:TieredStopAtLevel=1"]
    case .node: ["NODE_OPTIONS": "--max-semi-space-size=1"]
    case .python: [:]
    }
  }

  /// Whether the file of this name is the runtime's.
  func isNamed(_ name: String) -> Bool {
    switch self {
    case .java: name == "java" || name.hasPrefix("libjvm.so")  // text from outside: OpenJDK
    case .node: name == "node" || name.hasPrefix("libnode.so")  // text from outside: Node.js
    case .python: name.hasPrefix("python3") || name.hasPrefix("libpython3")  // text from outside: CPython
    case .go: false
    }
  }
}
