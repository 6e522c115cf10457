import GateCore
import RegularExpressions

@testable import GateProbe

extension FuzzTarget {
  /// A regular expression of the project file in the first line, and the output that is searched for it.
  static let regularExpression = FuzzTarget("regular-expression") { input in
    let end = input.firstIndex(of: 0x0a) ?? input.endIndex
    guard end <= 1000, let source = String(validating: input[..<end], as: UTF8.self) else { return }
    let pattern: Pattern
    do {
      pattern = try Pattern(parsing: source)
    } catch {
      return try PrintedText.expectNoControl("\(error)")
    }
    let output = Array(input[end...].dropFirst())
    try expectCancellable(source, in: output)
    let steps = StepLimit()
    var search = OutputSearch(for: pattern, from: .init(), isCancelled: steps.isReached)
    var log = OutputLog()
    log.append(output)
    let match = search.find(in: log.rest(from: search.position))
    try promise((match?.offset ?? 0) <= output.count, "a match ends after the output")
  }

  /// Checks that a search ends as soon as it is cancelled.
  private static func expectCancellable(_ source: String, in output: [UInt8]) throws {
    let regex = try RegularExpression(source)
    let text = Array(String(decoding: output, as: UTF8.self).utf8)
    let steps = StepLimit()
    let outcome = regex.firstMatch(in: text[...], isCancelled: steps.isReached)
    if case .match(let end) = outcome { try promise(end <= text.count, "a match ends after the text") }
    try promise(steps.count <= StepLimit.most, "a search went on after its end")
  }
}

/// Cancels a search after as many questions.
private final class StepLimit {
  static let most = 50
  private(set) var count = 0

  func isReached() -> Bool {
    count += 1
    return count >= Self.most
  }
}
