/// The text of a file before a change and after it.
package struct ChangedFile: Sendable, Equatable {
  /// Consecutive lines that were replaced, removed or added; numbers count from 1.
  package struct Part: Sendable, Equatable {
    /// Empty if lines were only added, before the first of the range.
    package var before: Range<Int>
    /// Empty if lines were only removed, before the first of the range.
    package var now: Range<Int>

    package init(before: Range<Int>, now: Range<Int>) {
      (self.before, self.now) = (before, now)
    }
  }

  /// A line of the text before, of the text after, or of both.
  package enum Line: Sendable, Equatable {
    case same(String)
    case removed(String)
    case added(String)
  }

  /// Relative to the top of the checkout.
  package var path: String
  package private(set) var before: [String] = []
  package private(set) var now: [String] = []
  package private(set) var parts: [Part] = []

  /// The two texts by their lines, in the order of a diff.
  package init(path: String, lines: some Sequence<Line>) {
    self.path = path
    var isPartOpen = false
    for line in lines {
      if case .same(let text) = line {
        before.append(text)
        now.append(text)
        isPartOpen = false
        continue
      }
      if !isPartOpen { parts.append(Part(before: next(before), now: next(now))) }
      isPartOpen = true
      add(line)
    }
  }

  private func next(_ lines: [String]) -> Range<Int> { lines.count + 1..<lines.count + 1 }

  /// Adds a changed line to the last part.
  private mutating func add(_ line: Line) {
    let last = parts.count - 1
    switch line {
    case .removed(let text):
      before.append(text)
      parts[last].before = parts[last].before.lowerBound..<before.count + 1
    case .added(let text):
      now.append(text)
      parts[last].now = parts[last].now.lowerBound..<now.count + 1
    case .same: break
    }
  }

  package func removed(_ part: Part) -> [String] { Self.lines(part.before, of: before) }
  package func added(_ part: Part) -> [String] { Self.lines(part.now, of: now) }

  private static func lines(_ range: Range<Int>, of text: [String]) -> [String] {
    Array(text[range.lowerBound - 1..<range.upperBound - 1])
  }

  /// The number that a line of this text had before, or the nearest one; of lines in a part the first of it.
  package func lineBefore(_ line: Int) -> Int {
    var shift = 0
    for part in parts {
      if line < part.now.lowerBound { break }
      if line < part.now.upperBound { return part.before.lowerBound }
      shift = part.before.upperBound - part.now.upperBound
    }
    return line + shift
  }
}
