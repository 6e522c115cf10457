/// Why a suite has failed as a whole.
package enum SuiteProblem: Sendable, Hashable, Codable {
  /// No test was reported: the framework is unknown, or did not load the plugin.
  case noTests
  /// The framework listed none.
  case noneListed
  /// The command failed, and no failed test explains it.
  case failed(failure: Failure)
  /// Processes that did not record all of their tests.
  case notRecorded(processes: Int)
  /// Lines of the log that are not events of tests.
  case unreadable(lines: Int)
  /// More tests than the log may have; the others are not judged.
  case tooManyTests(most: Int)
}
