import Foundation
import GateCore
import Testing

@testable import GateApplication

@Suite("What the documentation says of metrics")
struct MetricDocumentationTests {
  private func documentation(_ name: String) throws -> String {
    let root = URL(filePath: #filePath).pathComponents.dropLast(4).joined(separator: "/").dropFirst()
    return try String(contentsOfFile: "\(root)/Sources/highwater/Documentation.docc/\(name).md", encoding: .utf8)
  }

  @Test("Each metric stands in the table of judging.md with its unit, and among the keys of a gate in project-file.md")
  func metrics() throws {
    let rows = try documentation("judging").split(separator: "\n").filter { $0.hasPrefix("| `") }
    let gate = try documentation("project-file")
    for metric in WholeRunMetric.allCases {
      let row = rows.first { $0.split(separator: "|").first?.contains("`\(metric.name)`") == true }
      let unit = metric.name.unit(perIteration: metric.row.kind == .slope)
      #expect(row?.split(separator: "|").dropFirst().first?.contains(unit) == true, "\(metric.name)")
      #expect(gate.contains("`\(metric.name)`"), "\(metric.name)")
    }
    for kind in MemoryKind.allCases {
      let word = "`\(kind.rawValue)`"
      #expect(rows.contains { $0.hasPrefix("| \(word) |") } && gate.contains(word), "\(kind)")
    }
    for metric in MetricName.perPhase {
      #expect(rows.contains { $0.contains("`phase.NAME.\(metric)`") } && gate.contains("`phase.NAME.\(metric)`"))
    }
  }

  @Test("The bounds of `auto` are those that judging.md states")
  func defaultTolerance() throws {
    let text = try documentation("judging")
    let (memory, growth) = (Tolerance.Bounds.memory, Tolerance.Bounds.growth)
    func percent(_ share: Double?) -> String { "\(Decimals.short((share ?? 0) * 100)) %" }
    let amount = Bytes(Int64(memory.amount)).description
    #expect(text.contains("At least the larger of \(percent(memory.share)) and \(amount)."))
    #expect(text.contains("At most \(percent(memory.mostForNoise)), unless \(amount) is more."))
    #expect(text.contains("For growth at least \(percent(growth.share)), \(Decimals.short(growth.amount)) bytes"))
    for metric in MetricName.wholeRun {
      #expect(Tolerance.standard(of: metric) == .automatic)
      let least = Tolerance.automatic.allowed(above: [0], of: metric)
      #expect(least == (metric.kind == .slope ? growth : memory).amount, "\(metric)")
    }
  }

  @Test("The default tolerances of reported values and of instances are those that judging.md states")
  func otherDefaults() throws {
    let text = try documentation("judging")
    let (value, instances) = (MetricName("value.entries"), MetricName("instances.Cache"))
    let least = Tolerance.standard(of: value).allowed(above: [1000], of: value)
    #expect(text.contains("the default is \(Decimals.short(least / 10)) %, since"))
    let (few, many) = (
      Tolerance.standard(of: instances).allowed(above: [0], of: instances),
      Tolerance.standard(of: instances).allowed(above: [1000], of: instances)
    )
    #expect(text.contains("For `instances.CLASS` it is `[\(Decimals.short(many / 10))%, \(Decimals.short(few))]`"))
  }

  @Test("Memory is steady within the band that the documentation of `settle` states")
  func steadyBand() throws {
    let band = "within 1 %, or \(Bytes(Int64(BinnedCurve.band(around: 0))))"
    #expect(BinnedCurve.band(around: 1e9) == 1e7)
    #expect(try documentation("project-file").contains(band))
    #expect(StepKeys.table.rows.contains { $0.name == "settle" && $0.meaning.contains(band) })
  }
}
