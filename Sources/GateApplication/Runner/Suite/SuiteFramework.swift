import FoundationEssentials
import GateCore

/// What is known of a test framework: how its tests are told apart and chosen.
///
/// Each framework is a file with its row; a new one is also a case of ``SuiteRule/Framework``.
struct SuiteFramework: Sendable {
  enum Method: Sendable {
    case reported(ReportedTests)
    case listed(ListedTests)
  }

  let name: SuiteRule.Framework
  /// Whether a command runs it, judging by its words.
  let isRun: @Sendable (_ words: [String]) -> Bool
  let method: Method

  /// In the order of use.
  static let all = SuiteRule.Framework.allCases.map(SuiteFramework.init)

  init(_ name: SuiteRule.Framework) {
    self =
      switch name {
      case .pytest: .pytest
      case .go: .go
      case .cargo: .cargo
      case .swift: .swift
      case .node: .node
      case .junit: .junit
      case .ctest: .ctest
      case .googletest: .googleTest
      case .catch2: .catch2
      }
  }

  init(
    name: SuiteRule.Framework, isRun: @escaping @Sendable (_ words: [String]) -> Bool, method: Method
  ) {
    (self.name, self.isRun, self.method) = (name, isRun, method)
  }

  /// The frameworks that a command may run: the one that its words name, or else any whose plugin nobody notices, as behind
  /// `make test`.
  static func candidates(for words: [String]) -> [SuiteFramework] {
    all.first { $0.isRun(words) }.map { [$0] } ?? all.filter { $0.reported?.isQuiet == true }
  }

  /// The value of a variable that lists words, with one more; what is empty is left out.
  static func list(_ words: String?..., by separator: String) -> String {
    words.compactMap(\.self).filter { !$0.isEmpty }.joined(separator: separator)
  }

  var reported: ReportedTests? { if case .reported(let tests) = method { tests } else { nil } }
}

/// A framework that runs many tests in one process, in which a plugin reports each of them.
struct ReportedTests: Sendable {
  /// The file of the plugin, which the runner writes into a folder of its own.
  let plugin: String
  /// The library that is the plugin, in Base64; nil if the plugin is a text that the build embeds.
  var library: String?
  /// Whether it changes nothing in programs that do not run the framework.
  var isQuiet = true
  /// The variables that load the plugin from that folder, beside those that are set.
  let variables: @Sendable (_ folder: String, _ set: [String: String]) -> [String: String]
  /// The command for some tests only, as far as the plugin does not choose them.
  let selection: @Sendable (_ words: [String], _ tests: [String]) -> [String]

  /// What the file of the plugin contains.
  var contents: [UInt8] {
    if let library { return Array(Data(base64Encoded: library) ?? Data()) }
    guard let text = EmbeddedText.named(plugin) else { preconditionFailure("the build embeds the plugins") }
    return Array(text.utf8)
  }
}

extension Collection<String> {
  /// Whether one of the words is a program of this name, with or without its folder.
  func hasProgram(_ names: String...) -> Bool {
    contains { word in names.contains { word == $0 || word.hasSuffix("/\($0)") } }
  }
}
