/// The memory at the mark of an iteration: of the whole tree, or of the main process if a rule names it.
struct IterationLevel {
  let process: Int32
  /// Counts all iterations, also those without a level.
  let number: Double
  let level: Double

  static func all(of marks: [Mark]) -> [IterationLevel] {
    marks.lazy.filter { $0.event == .iteration }.enumerated().compactMap { number, mark in
      (mark.tree ?? mark.resident).map {
        IterationLevel(process: mark.process, number: Double(number), level: Double($0.count))
      }
    }
  }

  /// The iterations of one main process each: of programs that run one after the other, each grows by itself.
  static func stretches(of levels: [IterationLevel]) -> [ArraySlice<IterationLevel>] {
    var stretches: [ArraySlice<IterationLevel>] = []
    var first = 0
    for next in levels.indices.dropFirst() where levels[next].process != levels[first].process {
      stretches.append(levels[first..<next])
      first = next
    }
    return levels.isEmpty ? [] : stretches + [levels[first...]]
  }
}
