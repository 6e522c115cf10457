import GateCore
import Testing

@Suite("Units of the project file")
struct UnitsTests {
  @Test(
    "A size is a number with a unit",
    arguments: [("512KiB", 524_288), ("1.5 MiB", 1_572_864), ("2GB", 2_000_000_000), ("0B", 0)]
  )
  func size(text: String, bytes: Int64) throws {
    #expect(try Bytes(parsing: text) == Bytes(bytes))
  }

  @Test(
    "A size without a unit, negative, or above 1 EiB is rejected",
    arguments: ["512", "-1MiB", "KiB", "1e3MiB", "99999999999GiB", "nan", "5 m", "1..2MiB", ""]
  )
  func badSize(text: String) {
    #expect(throws: UnitError.self) { try Bytes(parsing: text) }
  }

  @Test(
    "A duration is a number with a unit",
    arguments: [("10ms", Duration.milliseconds(10)), ("1.5s", .milliseconds(1500)), ("5m", .seconds(300))]
  )
  func duration(text: String, expected: Duration) throws {
    #expect(try Duration(parsing: text) == expected)
  }

  @Test(
    "Amounts are printed with the useful number of decimals",
    arguments: [
      (742, "742 B"), (524_288, "512 KiB"), (1_500, "1.5 KiB"), (24_207_360, "23.1 MiB"), (-1_207_360, "-1.2 MiB"),
      (1_610_612_736, "1.50 GiB"),
    ]
  )
  func shown(bytes: Int64, text: String) {
    #expect(Bytes(bytes).description == text)
  }

  @Test(
    "A value is printed in its unit, a rate with its denominator",
    arguments: [
      ("bytes", 24_207_360, "23.1 MiB"), ("bytes", 512, "512 B"),
      ("bytes/second", 12_897_485, "12.3 MiB/s"), ("bytes/second", 4096, "4 KiB/s"),
      ("bytes/second", 0.25, "0.3 B/s"), ("bytes/second", 1536, "1.5 KiB/s"),
      ("bytes/iteration", -12.5, "-12.5 B/iteration"),
    ] as [(String, Double, String)]
  )
  func metricValues(unit: String, value: Double, text: String) {
    #expect(MetricUnit.text(of: value, unit: unit) == text)
  }
}
