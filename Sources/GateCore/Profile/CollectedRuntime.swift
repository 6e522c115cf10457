/// A language runtime with a garbage collector: its resident memory depends on when the collector runs and when it
/// returns pages, besides what the program holds.
package enum CollectedRuntime: String, Sendable, Codable, CaseIterable {
  case java, node, python, go

  /// The runtime that a program of this name belongs to.
  package init?(program name: String) {
    guard let runtime = Self.allCases.first(where: { $0.isNamed(name) }) else { return nil }
    self = runtime
  }

  /// The start of the build information that the Go linker writes into each program.
  package static let goBuildInformation = Array("\u{ff} Go buildinf:".unicodeScalars.map { UInt8($0.value) })

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
