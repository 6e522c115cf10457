import GateCore
import Testing

@testable import GateReports

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
}
