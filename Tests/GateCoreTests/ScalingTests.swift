import GateCore
import Testing

@Suite("Memory per item")
struct ScalingTests {
  private static let items = [1000.0, 4000, 16_000, 64_000]

  private func scaling(_ peak: (Double) -> Double) -> Scaling {
    Scaling(axis: "keys", items: Self.items, peaks: Self.items.map { 5e6 + peak($0) })
  }

  private func isOnShape(_ note: RecordingNote) -> Bool { if case .notLinear = note { true } else { false } }

  @Test("The slope and the intercept are those of the line, and a repetition has them as metrics")
  func linear() throws {
    let line = scaling { 90 * $0 }
    #expect(line.slope == 90 && line.base == 5e6 && line.shape == nil)
    var recording = Curves.recording({ _ in 20 * Curves.mebibyte })
    recording.scaling = line
    let result = recording.result()
    #expect(result.metrics[ScaleMetric.bytesPerItem.name] == 90 && result.metrics[ScaleMetric.baseMemory.name] == 5e6)
    #expect(!result.notes.contains(where: isOnShape))
  }

  @Test("One byte per item more is allowed by no default tolerance, and two noisy pages are")
  func sensitivity() throws {
    let metric = ScaleMetric.bytesPerItem.name
    #expect(Tolerance.automatic.allowed(above: [90, 90, 90, 90, 90], of: metric) < 1)
    #expect(metric.unit(perIteration: false) == "bytes/item" && metric.kind.canBeNegative)
    #expect(scaling { 90 * $0 + ($0 == 4000 ? 8192 : 0) }.shape == nil)
  }

  @Test("Where memory does not grow in proportion, the shape is noted", arguments: Scaling.Shape.allCases)
  func shapes(shape: Scaling.Shape) throws {
    var recording = Curves.recording({ _ in 20 * Curves.mebibyte })
    recording.scaling = scaling { items in
      switch shape {
      case .faster: items * items / 100
      case .slower: items.squareRoot() * 1e5
      case .steps: items < 16_000 ? 0 : 2e7
      }
    }
    #expect(recording.result().notes.filter(isOnShape) == [.notLinear(axis: "keys", shape: shape)])
  }
}
