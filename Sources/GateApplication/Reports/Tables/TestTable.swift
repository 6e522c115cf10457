import GateCore

/// The tests of a suite as a table.
enum TestTable {
  private static let mostHeaviest = 10

  /// The tests with the highest peaks.
  static func heaviest(of result: SuiteResult) -> Table {
    let rows = result.heaviest(mostHeaviest).map { test, figures -> [Table.Cell] in
      [
        .init(TerminalText.safe(test.test.name)), .init(Format.amount(figures.peak)),
        .init(Format.amount(figures.kept)), .init(test.test.placeText, .faint),
      ]
    }
    return Table(
      columns: [
        .init(title: "heaviest tests", side: .left), .init(title: "peak"), .init(title: "kept"),
        .init(side: .left, rank: 1),
      ], rows: rows)
  }
}
