import GateCore

extension TestReason {
  /// As in `keeps 20.1 MiB instead of 0 B, also when it runs alone`.
  var displayText: String {
    switch self {
    case .outcome(.unfinished): "did not end"
    case .outcome(let outcome): outcome.rawValue
    case .overLimit(let limit): "needs more than the limit of \(Format.amount(limit))"
    case .risen(let metric, let from, let to, let allowed):
      "\(metric.change(from, to)), also when it runs alone (allowed: +\(Format.amount(allowed)))"
    case .fallen(let metric, let from, let to): metric.change(from, to)
    case .becauseOfOthers(let metric, let from, let to, let cause):
      "\(metric.change(from, to)) because of \(TerminalText.safe(cause)); alone it does not"
    case .showsIn(let test, let metric, let from, let to):
      "makes another test need more: \(TerminalText.safe(test)) \(metric.change(from, to))"
    case .takenOver(let metric, let from, let to):
      "\(metric.change(from, to)) in the suite, but alone no more than at the other commit"
    case .notRepeated(let metric, let from, let to): "\(metric.change(from, to)) in one run only"
    case .varies(let metric, let from, let to, let spread):
      "\(metric.change(from, to)), but equal runs differ by \(Format.amount(spread))"
    case .suspected(let metric, let from, let to):
      "\(metric.change(from, to)); the runs that were left did not decide it"
    case .undecided(let metric, let from, let to):
      "\(metric.change(from, to)), but a test before it needs less and may have left it the work"
    case .notRunAlone(let metric, let from, let to): "\(metric.change(from, to)); it could not be run alone"
    case .ambiguous: "reported more than once, or during another test: its figures are unknown"
    }
  }

  /// What decides; nil if nothing is left to decide.
  var hint: String? {
    switch self {
    case .suspected, .undecided, .notRunAlone: "compare with a commit: `--against-ref REVISION`"
    case .ambiguous: "give each test its own name"
    default: nil
    }
  }
}

extension TestMetric {
  /// As in `needs 52.1 MiB instead of 1.2 MiB`.
  fileprivate func change(_ from: Bytes, _ to: Bytes) -> String {
    let verb =
      switch self {
      case .peak: "needs"
      case .kept: "keeps"
      case .objects: "keeps objects of"
      }
    return "\(verb) \(Format.amount(to)) instead of \(Format.amount(from))"
  }
}

extension SuiteProblem {
  var displayText: String {
    switch self {
    case .noTests: "no test was reported"
    case .noneListed: "the framework listed no test"
    case .failed(let failure):
      failure.end.map { "the suite ended unexpectedly: \($0.displayText)" } ?? failure.displayText
    case .unreadable(let lines):
      "\(Format.count(lines, "line")) in the log of the tests do not fit: a test wrote to it, or an interrupted one"
    case .notRecorded(let processes):
      "\(Format.count(processes, "process", plural: "processes")) could not record the memory of all tests: the temporary folder is "
        + "full, or a test closed the files of Highwater's plugin or ended the process"
    case .tooManyTests(let most): "more than \(most) tests"
    }
  }

  var hint: String? {
    switch self {
    case .noTests: "the command must run a supported framework and pass its environment on; see `highwater help suite`"
    case .noneListed: "look for a misspelled option, or for one that leaves out all tests"
    case .failed, .unreadable, .notRecorded: nil
    case .tooManyTests: "split the suite, giving each part its own `--name`"
    }
  }
}

extension SuiteTest {
  /// As in `tests/test_a.py:12`; empty if unknown.
  var placeText: String { TerminalText.safe(place ?? "") }
}

extension MetricName {
  /// Whether it is a figure of a test of a suite.
  var isOfTest: Bool { text.hasPrefix("test.") }
}

extension SuiteResult {
  /// As in `412 tests, 3 new, 1 removed`; which tests a suite would have run that did not end as expected is unknown.
  var countText: String {
    let new = hasBaseline ? tests.count(where: \.isNew) : 0
    let parts = [
      Format.count(tests.count, "test"), new > 0 ? "\(new) new" : nil,
      missing.isEmpty ? nil : "\(missing.count) \(missingWord)",
    ]
    return parts.compactMap(\.self).joined(separator: ", ")
  }

  private var missingWord: String { hasRemovedMissing ? "removed" : "not run" }

  /// As in `412 tests, the heaviest 212.4 MiB`.
  var sizeText: String {
    countText + (heaviest(1).first.map { ", the heaviest \(Format.amount($0.figures.peak))" } ?? "")
  }

  /// The tests that were not exactly measured: their peaks are upper bounds.
  private var inexactCount: Int { tests.count { $0.run.figures != nil && !$0.run.isExact } }

  /// How exact the peaks are, which tests pass although they need more in the suite, and which are gone.
  func notes(atMost most: Int) -> [String] {
    let inexact =
      inexactCount == 0
      ? [] : ["the peaks of \(Format.count(inexactCount, "test")) are upper bounds: the mark could not be reset"]
    let differences = [commonText, otherCommandText, onceText, variesText].compactMap(\.self)
    let explained = tests.compactMap { test -> String? in
      guard case .becauseOfOthers? = test.reason else { return nil }
      return "\(TerminalText.safe(test.test.name)) \(test.reason?.displayText ?? "")"
    }
    let more = explained.count - most
    let rest = more > 0 ? ["\(Format.count(more, "other test")) need more because of a test before them, too"] : []
    let removed = most == .max ? missing.map { "\(missingWord): \(TerminalText.safe($0))" } : []
    let unused = unusedLimits.map { "the limit of `\(TerminalText.safe($0))` fits no test" }
    return inexact + differences + unused + explained.prefix(most) + rest + removed
  }

  private var otherCommandText: String? {
    guard let approved = approvedCommandText, !missing.isEmpty else { return nil }
    return
      "\(Format.count(missing.count, "test")) of the baseline did not run: it was approved with \(approved), and an "
      + "approval of this result keeps them"
  }

  private var approvedCommandText: String? {
    approvedCommand.map { "`\(TerminalText.safe(ShellWords.line($0)))`" }
  }

  /// Fewer tests that need more may have causes of their own.
  private static let fewestInCommon = 10

  /// That most tests need more, as in another version of the runtime or with a flag of the build.
  private var commonText: String? {
    let judged = tests.count { $0.baseline != nil && $0.run.figures != nil }
    let risen = tests.count { test in
      switch test.reason {
      case .risen, .suspected, .becauseOfOthers: true
      default: false
      }
    }
    guard risen >= Self.fewestInCommon, 2 * risen > judged else { return nil }
    let cause =
      approvedCommandText.map {
        "the baseline was approved with \($0); give each command a baseline of its own with `--name`"
      }
      ?? "something that they share has changed, such as the runtime, a flag of the build or a fixture"
    return "\(risen) of \(Format.count(judged, "test")) need more: \(cause)"
  }

  private var onceText: String? {
    text(of: tests.filter { if case .notRepeated? = $0.reason { true } else { false } }) {
      "\($0) needed more than was approved in one run only"
    }
  }

  private var variesText: String? {
    text(of: tests.filter { if case .varies? = $0.reason { true } else { false } }) {
      "\($0) differed from what was approved by no more than equal runs differ"
    }
  }

  /// What a sentence says of tests, of which the first three are named; nil if there are none.
  private func text(of tests: [TestResult], _ sentence: (_ count: String) -> String) -> String? {
    let names = tests.prefix(3).map { TerminalText.safe($0.test.name) }
    return names.isEmpty
      ? nil : "\(sentence(Format.count(tests.count, "test"))): \(names.joined(separator: ", "))"
  }

  /// What would decide the tests that are undecided.
  var hints: [String] {
    Set(tests(with: .inconclusive).compactMap(\.reason?.hint)).sorted()
  }
}

extension SuiteBaselineChange {
  /// As in `approved 1 new, 2 changed: the baseline has 412 tests`.
  var displayText: String {
    let parts = [(added, "new"), (changed, "changed"), (removed, "removed")].filter { $0.0 > 0 }
    guard !parts.isEmpty else { return "nothing to approve" }
    let changes = parts.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
    return "approved \(changes): the baseline has \(Format.count(total, "test"))"
  }
}
