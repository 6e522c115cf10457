import FoundationEssentials
import GateCore
import Testing

@Suite("Creep over approvals")
struct CreepTests {
  private let gate = Gate(rules: [GateRule(metric: .peakRSS, tolerance: .bounds(relative: Percent(3), absolute: nil))])

  private func baseline(_ mebibytes: Double, day: Double) -> Baseline {
    var baseline = Given.baseline([.peakRSS: Given.values(mebibytes, count: 10)])
    baseline.approval?.at = Date(timeIntervalSince1970: day * 86_400)
    baseline.approval?.commit = "c\(Int(day))"
    return baseline
  }

  /// Approves these levels in turn, a day apart.
  private func approved(_ levels: [Double]) -> Baseline {
    levels.enumerated().dropFirst().reduce(baseline(levels[0], day: 0)) { previous, next in
      var baseline = baseline(next.element, day: Double(next.offset))
      baseline.continueAnchors(of: previous, gate: gate)
      return baseline
    }
  }

  @Test("Rises within the tolerance add up from the lowest level")
  func addingUp() throws {
    let creep = try #require(approved([100, 102, 104, 106]).creep(under: gate).first)
    let start = Date(timeIntervalSince1970: 0)
    #expect(creep.metric == .peakRSS && creep.unit == "bytes" && creep.rise == 6_291_456.0)
    #expect(creep.anchor == Anchor(level: 104_857_600, at: start, commit: "c0") && creep.span == .approvals)
    #expect(approved([104, 100, 102, 104, 106]).creep(under: gate).first?.anchor.commit == "c1")
  }

  @Test("A small rise, a fall, and an approved rise above the tolerance are not creep")
  func noCreep() {
    #expect(approved([100, 102]).creep(under: gate).isEmpty)
    #expect(approved([100, 102, 104, 99]).anchors.isEmpty)
    #expect(approved([100, 150, 151]).creep(under: gate).isEmpty)
    // Creep before the intended rise still counts.
    let crept = approved([100, 102, 104, 154, 156]).creep(under: gate).first
    #expect(crept?.rise.rounded() == 6_291_456.0)
  }

  @Test("A check against a baseline that crept has a note")
  func noted() throws {
    let crept = approved([100, 103, 106])
    let result = Given.measurements([.peakRSS: Given.values(106)]).judged(against: .baseline(crept))
    #expect(result.verdict == .pass)
    let creep = try #require(crept.creep(under: gate).first)
    #expect(result.notes.contains(.creep(creep: creep)) && creep.rise == 6_291_456.0)
  }

  @Test("Approving equal values again does not change the anchors")
  func again() {
    var again = baseline(104, day: 2)
    again.continueAnchors(of: approved([100, 102, 104]), gate: gate)
    #expect(again.anchors == approved([100, 102, 104]).anchors)
  }
}
