import GateCore

/// The tests of a suite as a table.
enum TestTable {
  private static let mostHeaviest = 10

  /// The tests with the highest peaks.
  ///
  /// Those that need no more than what any test may need more are left out: which of them come first is chance.
  static func heaviest(of result: SuiteResult) -> Table {
    let heaviest = result.heaviest(mostHeaviest).filter { $0.figures.peak > result.tolerance.absolute }
    let rows = heaviest.map { test, figures -> [Table.Cell] in
      // A test with a process of its own keeps nothing.
      let kept = figures.kept == .zero ? "" : Format.amount(figures.kept)
      return [
        .init(TerminalText.safe(test.test.name)), .init(Format.amount(figures.peak)), .init(kept),
        .init(test.test.placeText, .faint),
      ]
    }
    let keeps = heaviest.contains { $0.figures.kept > .zero }
    return Table(
      columns: [
        .init(title: "heaviest tests", side: .left), .init(title: "peak"),
        .init(title: keeps ? "kept" : "", gap: keeps ? 2 : 0), .init(side: .left, rank: 1),
      ], rows: rows)
  }
}
