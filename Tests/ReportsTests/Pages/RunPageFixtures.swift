import Foundation
import GateCore

/// Results with curves, as a check of a server gives them.
extension Fixture {
  /// A server that fills up in 0.4 s and then serves, with or without growth.
  static func curve(peak: Int64, height: Int64 = 22_642_688, growth: Int64 = 0, hasTree: Bool = false) -> MemoryCurve {
    let points = (0...100).map { index in
      let level =
        index < 40 ? 2_097_152 + (height - 2_097_152) / 40 * Int64(index) : height + growth / 60 * Int64(index - 40)
      let low = Bytes(level / 1024 * 1024)
      return MemorySeries.Point(
        time: .milliseconds(index * 10), low: low,
        high: index == 30 ? Bytes(peak) : low + .kibibytes(index < 40 ? 64 : 0)
      )
    }
    return MemoryCurve(
      main: MemorySeries(points),
      tree: hasTree
        ? MemorySeries(points.map { .init(time: $0.time, low: $0.low, high: $0.high + .mebibytes(2)) }) : nil,
      end: .milliseconds(990),
      phases: [.init("load", at: .milliseconds(20)), .init("serve", at: .milliseconds(420))],
      marks: [.init("filled", at: .milliseconds(400))], iterations: 120,
      peak: .init(height: Bytes(peak), after: .milliseconds(295), before: .milliseconds(300)),
      steady: .init(
        from: .milliseconds(410), to: .milliseconds(990), first: Bytes(height), last: Bytes(height + growth)
      )
    )
  }

  /// The regression of the other reports, with every element that the page can show.
  static var charted: ScenarioResult {
    var scenario = traced(regressed, processes: 3)
    for index in scenario.repetitions.indices {
      scenario.repetitions[index].phases = [.init(name: "load", metrics: [.peakRSS: 24_379_392])]
      scenario.repetitions[index].curve = curve(
        peak: 24_379_392 + Int64(index) * 4096, growth: 491_520, hasTree: index == 2
      )
    }
    scenario.repetitions[2].spike = spike
    scenario.reference?.curve = curve(peak: 23_068_672, height: 21_000_000).main.downsampled(to: 30)
    scenario.compositionAtPeak = Composition(
      anonymous: Bytes(20_300_000), file: Bytes(4_079_392), shared: .zero, heap: Bytes(13_300_000),
      libraries: [.init(name: "libssl.so.3", resident: .kibibytes(512))]
    )
    scenario.notes = [.environmentChanged(differences: [.init(field: .kernel, baseline: "6.1", current: "6.18.5")])]
    scenario.approval = Approval(
      at: run.startedAt.addingTimeInterval(-86_400 * 12), by: "ann", commit: "4f2a91c", reason: "first", run: "0"
    )
    return scenario
  }
}
