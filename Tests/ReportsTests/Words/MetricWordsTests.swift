import GateCore
import Testing

@testable import GateApplication

@Suite("The words for metrics")
struct MetricWordsTests {
  private static let all = WholeRunMetric.allCases.map { MetricWords(of: $0, treeMethod: "method") }

  @Test("Each metric has a label and a meaning, and no two have the same label")
  func labels() {
    #expect(Self.all.allSatisfy { !$0.label.isEmpty && !$0.meaning.isEmpty })
    #expect(Set(Self.all.map(\.label)).count == Self.all.count)
    let short = Self.all.compactMap(\.short)
    #expect(Set(short).count == short.count)
  }

  @Test("A metric that needs readings has words for their lack, and only such a metric")
  func unread() {
    for (metric, words) in zip(WholeRunMetric.allCases, Self.all) {
      #expect((metric.row.requirement == .readings) == (words.unread != nil), "\(metric)")
    }
    let text = Unavailability.tooFewReadings.text(for: .faultRate)
    #expect(text == "the target's page faults were read fewer than 2 times")
    #expect(Unavailability.tooFewReadings.text(for: .treePeak) == "the target ended before 5 readings of it were made")
  }
}
