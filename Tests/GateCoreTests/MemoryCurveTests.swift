import GateCore
import Testing

@Suite("Memory curves")
struct MemoryCurveTests {
  private let mebibyte = Curves.mebibyte

  @Test(
    "Few points are kept of any number of samples, including the highest and the lowest", arguments: 0..<20
  )
  func keepsExtremes(seed: UInt64) throws {
    var noise = Noise(seed: seed)
    let spike = 0.5 + 3 * noise.share()
    let recording = Curves.recording(
      { second in
        (second >= spike && second < spike + 0.01 ? 90 : 20 + noise.share()) * mebibyte
      }, seconds: 4
    )
    let points = try #require(recording.result().curve).main.points
    let levels = recording.samples.compactMap(\.main?.resident)
    #expect(points.count <= MemorySeries.mostPoints && points.count > MemorySeries.mostPoints / 2)
    #expect(points.map(\.high).max() == levels.max() && points.map(\.low).min() == levels.min())
    #expect(zip(points, points.dropFirst()).allSatisfy { $0.time < $1.time && $0.low <= $0.high })
    let highest = try #require(points.max { $0.high < $1.high })
    #expect(abs(highest.time.inSeconds - spike) <= 0.0101)
  }

  @Test("Downsampling again keeps the extremes, and a short series is unchanged")
  func downsampling() throws {
    let curve = try #require(Curves.recording { second in (second < 2 ? 10 * second : 5) * mebibyte }.result().curve)
    let downsampled = curve.main.downsampled(to: 30)
    #expect(downsampled.points.count <= 30)
    #expect(downsampled.points.map(\.high).max() == curve.main.points.map(\.high).max())
    #expect(downsampled.points.map(\.low).min() == curve.main.points.map(\.low).min())
    #expect(downsampled.downsampled(to: 30) == downsampled && curve.main.downsampled(to: 500) == curve.main)
  }

  @Test("Samples may be dense at first and sparse later")
  func unevenReadings() throws {
    let times = (0..<400).map { Double($0) * 1e-4 } + (1...50).map(Double.init)
    let samples = times.map { time in
      let level = Bytes(Int64(time * 4096))
      return Sample(
        time: .seconds(time),
        main: .init(resident: level, peak: level, anonymous: level, file: .zero, shared: .zero), tree: level,
        processes: 1
      )
    }
    let curve = Recording(samples: samples, end: End(.exited, code: 0), duration: .seconds(50)).result().curve
    #expect(curve?.main.points.count == 51 && curve?.tree == nil)
  }

  @Test("Phases, marks and the first turn of a loop have their times, and iterations are counted")
  func instants() throws {
    let marks = [
      Mark(time: .milliseconds(100), event: .phase("load")), Mark(time: .milliseconds(900), event: .mark("filled")),
      Mark(time: .seconds(1), event: .phase("serve")), Mark(time: .seconds(1.5), event: .mark("activity.idle")),
      Mark(time: .seconds(2), event: .value(name: "keys", number: 12.5, unit: "k")),
      Mark(time: .milliseconds(2050), event: .value(name: "loop.Model.update", number: 100, unit: "calls")),
      Mark(time: .milliseconds(2060), event: .value(name: "loop.Model.update", number: 100, unit: "calls")),
    ]
    let turns = (0..<30).map { Mark(time: .milliseconds(2100 + $0), event: .iteration) }
    let recording = Curves.recording({ _ in 20 * mebibyte }, marks: marks + turns, stopAt: 3.5)
    let curve = try #require(recording.result().curve)
    #expect(curve.phases == [.init("load", at: .milliseconds(100)), .init("serve", at: .seconds(1))])
    #expect(
      curve.marks == [.init("filled", at: .milliseconds(900)), .init("loop.Model.update", at: .milliseconds(2050))])
    #expect(curve.iterations == 30 && curve.end == .milliseconds(3500))
  }

  @Test("Of ten thousand phases and marks the first ones are stored")
  func manyInstants() {
    let marks = (0..<10_000).map { index in
      Mark(time: .microseconds(index * 100), event: index.isMultiple(of: 2) ? .phase("p\(index)") : .mark("m"))
    }
    let curve = Curves.recording({ _ in 20 * mebibyte }, marks: marks).result().curve
    #expect(curve?.phases.count == MemoryCurve.mostInstants && curve?.marks.count == MemoryCurve.mostInstants)
  }

  @Test("A sampled peak has the time of the sample")
  func peakAtReading() {
    let curve = Curves.recording { second in (second == 1.5 ? 40 : 20) * mebibyte }.result().curve
    #expect(
      curve?.peak == .init(height: .mebibytes(40), after: .milliseconds(1500), before: .milliseconds(1500)))
  }

  @Test("A peak that only the high-water mark shows lies between two samples")
  func peakBetweenReadings() {
    var recording = Curves.recording { _ in 20 * mebibyte }
    for index in 200..<recording.samples.count { recording.samples[index].main?.peak = .mebibytes(64) }
    let curve = recording.result().curve
    #expect(
      curve?.peak == .init(height: .mebibytes(64), after: .milliseconds(1990), before: .milliseconds(2000)))
  }

  @Test("A peak above every sampled high-water mark came after the last sample")
  func peakAtEnd() {
    var recording = Curves.recording { _ in 20 * mebibyte }
    recording.processes = [
      ProcessRecord(
        id: 7, parent: 1, command: "x", isMain: true, peak: .mebibytes(64), firstSeen: .zero, lastSeen: .seconds(4),
        isExact: true
      )
    ]
    let curve = recording.result().curve
    #expect(curve?.peak == .init(height: .mebibytes(64), after: .milliseconds(3990), before: .seconds(4)))
  }

  @Test("The slope of the steady line is the growth", arguments: [0.0, 0.5, 2])
  func steadyLine(mebibytesPerSecond: Double) throws {
    let result = Curves.recording { second in
      (second < 1 ? 10 : 20 + mebibytesPerSecond * second) * mebibyte
    }.result()
    let steady = try #require(result.curve?.steady)
    let growth = try #require(result.growth)
    #expect(steady.to == .seconds(4) && steady.from >= .milliseconds(900) && steady.from < .seconds(3))
    let rise = Double((steady.last - steady.first).count) / (steady.to - steady.from).inSeconds
    #expect(abs(rise - growth.slope) < 4096)
    let end = (20 + mebibytesPerSecond * 4) * mebibyte
    #expect(abs(Double(steady.last.count) - end) < 0.02 * end)
  }

  @Test("A curve that moves at its end has no steady state; without samples there is no curve")
  func withoutSteadyState() {
    let late = Curves.recording { second in (second < 2.5 ? 5 : 20) * mebibyte }.result()
    #expect(late.steadiness == .unsteady && late.curve != nil && late.curve?.steady == nil)
    #expect(Recording(end: End(.exited, code: 0)).result().curve == nil)
  }

  @Test("A baseline has a short curve of the median repetition, which later checks refer to")
  func baseline() throws {
    var measurements = ScenarioMeasurement(
      name: ScenarioName("a"), environment: Given.environment(), gate: .standard,
      repetitions: [30.0, 10, 20].map { level in Curves.recording { _ in level * mebibyte }.result() }
    )
    let first = measurements.judged(against: .missing, allowsMissingBaseline: true)
    #expect(first.middleRepetition == 2 && first.reference == nil)
    let baseline = Baseline(of: first, approval: Given.approval)
    let curve = try #require(baseline.curve)
    #expect(curve.points.count <= MemorySeries.mostSecondaryPoints)
    #expect(curve.points.allSatisfy { $0.high == .mebibytes(20) })
    measurements.repetitions.removeFirst()
    #expect(measurements.judged(against: .baseline(baseline)).reference?.curve == curve)
  }
}
