import GateCore
import Testing

/// Recordings with a known shape, with a sample each 10 ms.
enum Curves {
  static func recording(
    _ level: (Double) -> Double,
    seconds: Double = 4,
    peak: Int64 = 0,
    marks: [Mark] = [],
    stopAt: Double? = nil
  ) -> Recording {
    var mark = 0.0
    let samples = (0..<Int(seconds * 100)).map { index in
      let resident = level(Double(index) / 100)
      mark = max(mark, resident)
      let bytes = Bytes(Int64(resident))
      return Sample(
        time: .milliseconds(index * 10),
        main: MemoryReading(
          resident: bytes, peak: max(Bytes(Int64(mark)), Bytes(peak)), anonymous: bytes, file: .zero, shared: .zero
        ),
        tree: Bytes(2 * bytes.count),
        processes: 2
      )
    }
    return Recording(
      samples: samples,
      marks: marks,
      end: End(.exited, code: 0),
      duration: .seconds(seconds),
      stopRequested: stopAt.map { .seconds($0) }
    )
  }

  static let mebibyte = 1_048_576.0
}

@Suite("Metrics of a recording")
struct MetricsTests {
  @Test("The value of one metric is that of all metrics, also in phases that occur twice")
  func oneMetric() {
    let mebibyte = Curves.mebibyte
    let marks = ["a", "b", "a"].enumerated().map { Mark(time: .seconds($0), event: .phase($1)) }
    let result = Curves.recording({ (4 - $0.rounded(.down)) * mebibyte }, marks: marks).result()
    #expect(result.allMetrics.keys.contains(.phase("a", .peakRSS)))
    for (metric, value) in result.allMetrics { #expect(result.value(of: metric) == value, "\(metric.text)") }
    #expect(result.value(of: .phase("c", .peakRSS)) == nil)
  }

  let mebibyte = Curves.mebibyte

  @Test("A plateau is its own peak and steady level, without growth or spike")
  func plateau() {
    let metrics = Curves.recording { _ in 20 * mebibyte }.result().metrics
    #expect(metrics[.peakRSS] == 20 * mebibyte)
    #expect(metrics[.steadyRSS] == 20 * mebibyte)
    #expect(metrics[.growth] == 0)
    #expect(metrics[.spike] == 0)
    #expect(metrics[.treePeak] == 40 * mebibyte)
    #expect(metrics[.treeSteady] == 40 * mebibyte)
  }

  @Test("A high-water mark above every sample is the peak")
  func markAboveReadings() {
    let recording = Curves.recording({ _ in 20 * mebibyte }, peak: 50 << 20)
    #expect(recording.result().metrics[.peakRSS] == 50 * mebibyte)
  }

  @Test("A sample above the high-water mark is the peak, since the mark may lag by some pages")
  func readingAboveMark() {
    var recording = Curves.recording { _ in 20 * mebibyte }
    recording.samples[5].main?.peak = Bytes(0)
    recording.samples[5].main?.resident = .mebibytes(30)
    #expect(recording.result().metrics[.peakRSS] == 30 * mebibyte)
  }

  @Test("After a warm-up the steady level is that of the plateau")
  func warmUp() throws {
    let metrics = Curves.recording { $0 < 1 ? (5 + 15 * $0) * mebibyte : 20 * mebibyte }.result().metrics
    #expect(metrics[.steadyRSS] == 20 * mebibyte)
  }

  @Test("A late step leaves no steady state, and thus no level, growth or spike")
  func noSteadyState() {
    let metrics = Curves.recording { $0 < 2.5 ? 5 * mebibyte : 20 * mebibyte }.result().metrics
    #expect(metrics[.steadyRSS] == nil)
    #expect(metrics[.growth] == nil)
    #expect(metrics[.spike] == nil)
    #expect(metrics[.peakRSS] == 20 * mebibyte)
  }

  @Test("A slow leak grows by its rate per second")
  func leak() throws {
    let growth = try #require(Curves.recording { 20 * mebibyte + $0 * 100_000 }.result().metrics[.growth])
    #expect(abs(growth - 100_000) < 500)
  }

  @Test("A ramp has growth but no steady level: its median would depend on where it was cut")
  func ramp() throws {
    let metrics = Curves.recording { (20 + 20 * $0) * mebibyte }.result().metrics
    #expect(metrics[.steadyRSS] == nil)
    #expect(metrics[.treeSteady] == nil)
    #expect(metrics[.spike] == nil)
    #expect(abs(try #require(metrics[.growth]) - 20 * mebibyte) < mebibyte)
  }

  @Test("A drift of less than a tenth does not change the level")
  func drift() throws {
    let level = try #require(Curves.recording { (100 + 2 * $0) * mebibyte }.result().metrics[.steadyRSS])
    #expect(abs(level - 104 * mebibyte) < mebibyte)
  }

  @Test("What a load leaves behind is the steady level above the memory at the first phase or iteration")
  func retained() {
    func retained(_ marks: [Mark], level: Double = 20) -> Double? {
      Curves.recording({ $0 < 1 ? 5 * mebibyte : level * mebibyte }, marks: marks).result().metrics[.retained]
    }
    let setUp = Mark(time: .zero, event: .mark("loaded"), resident: .mebibytes(3))
    for event in [Mark.Event.phase("load"), .iteration] {
      let load = Mark(time: .milliseconds(500), event: event, resident: .mebibytes(5))
      #expect(
        retained([setUp, load, Mark(time: .seconds(3), event: event, resident: .mebibytes(20))]) == 15 * mebibyte)
      #expect(retained([load], level: 4) == -1 * mebibyte)
    }
    #expect(retained([setUp]) == nil)
    #expect(retained([Mark(time: .milliseconds(500), event: .phase("load"))]) == nil)
  }

  @Test("What a phase leaves behind is the memory at its end above that at its begin, of one process")
  func retainedByPhase() {
    func retained(process: Int32 = 0) -> [Double?] {
      let marks = [5, 8, 7].enumerated().map { index, size in
        Mark(
          time: .seconds(index), event: .phase("\(index)"), process: index == 2 ? process : 0,
          resident: .mebibytes(Int64(size)))
      }
      let phases = Curves.recording({ _ in 9 * mebibyte }, marks: marks).result().phases
      return phases.map { $0.metrics[.retained].map { $0 / mebibyte } }
    }
    #expect(retained() == [3, -1, 2])
    let brief = ["a", "b"].map { Mark(time: .microseconds(1), event: .phase($0), resident: .mebibytes(6)) }
    #expect(
      Curves.recording({ _ in 9 * mebibyte }, marks: brief).result().value(of: .phase("a", .peakRSS)) == 6 * mebibyte)
    #expect(retained(process: 7) == [3, nil, nil])
  }

  @Test("A spike in the steady state is its height above the level")
  func spike() {
    let metrics = Curves.recording { (2.50..<2.52).contains($0) ? 50 * mebibyte : 20 * mebibyte }.result().metrics
    #expect(metrics[.spike] == 30 * mebibyte)
    #expect(metrics[.steadyRSS] == 20 * mebibyte)
  }

  @Test("Memory after the stop request counts for the peak, not for the steady state")
  func stopping() {
    let metrics = Curves.recording({ $0 < 3 ? 20 * mebibyte : 60 * mebibyte }, stopAt: 2.995).result().metrics
    #expect(metrics[.steadyRSS] == 20 * mebibyte)
    #expect(metrics[.peakRSS] == 60 * mebibyte)
    #expect(metrics[.spike] == 0)
  }

  @Test("With iterations, growth is per iteration, from the levels at the marks")
  func iterations() throws {
    let marks = (0..<100).map { turn in
      Mark(
        time: .milliseconds(turn * 40),
        event: .iteration,
        resident: Bytes(20 << 20) + Bytes(Int64(turn) * 1300)
      )
    }
    let recording = Curves.recording({ _ in 20 * mebibyte }, marks: marks)
    #expect(recording.growthIsPerIteration)
    #expect(recording.result().metrics[.growth] == 1300)
  }

  private func burstRecording(iterations: Int, known: (Int) -> Bool) -> Recording {
    let marks = (0..<iterations).map { turn in
      Mark(
        time: .milliseconds(turn), event: .iteration,
        resident: known(turn) ? Bytes(20 << 20) + Bytes(Int64(turn) * 1300) : nil
      )
    }
    return Curves.recording({ _ in 20 * mebibyte }, marks: marks)
  }

  @Test("Iterations without a level still count as iterations")
  func iterationsInBursts() {
    let recording = burstRecording(iterations: 100) { $0 % 5 == 4 }
    #expect(recording.growthIsPerIteration)
    #expect(recording.result().metrics[.growth] == 1300)
  }

  @Test("With levels for too few iterations there is no growth, rather than growth per second")
  func iterationsTooFast() {
    let recording = burstRecording(iterations: 100) { $0 % 20 == 19 }
    #expect(recording.growthIsPerIteration)
    #expect(recording.result().metrics[.growth] == nil)
  }

  @Test("Each phase has its own peak, and one that came twice the higher of both")
  func phases() {
    let marks = [
      Mark(time: .zero, event: .phase("load")),
      Mark(time: .seconds(1), event: .phase("serve")),
      Mark(time: .seconds(3), event: .phase("load")),
    ]
    let result = Curves.recording(
      { $0 < 1 ? 10 * mebibyte : $0 < 3 ? 20 * mebibyte : 15 * mebibyte }, marks: marks
    ).result()
    #expect(result.phases.map(\.name) == ["load", "serve", "load"])
    #expect(result.allMetrics[.phase("load", .peakRSS)] == 20 * mebibyte)
    #expect(result.phases[2].metrics[.peakRSS] == 15 * mebibyte)
    #expect(result.allMetrics[.phase("serve", .peakRSS)] == 20 * mebibyte)
    #expect(result.allMetrics[.phase("serve", .steadyRSS)] == 20 * mebibyte)
  }

  @Test("A run of fewer than five samples has no peak, and a run below half a second has a note")
  func brief() {
    var recording = Curves.recording({ _ in 20 * mebibyte }, seconds: 0.05)
    #expect(recording.result().metrics[.peakRSS] == 20 * mebibyte)
    #expect(recording.result().notes.contains { $0 == .brief })
    recording.samples.removeLast()
    #expect(recording.result().metrics[.peakRSS] == nil)
    #expect(recording.result().metrics[.treePeak] == nil)
    let longer = Curves.recording { _ in 20 * mebibyte }
    #expect(!longer.result().notes.contains { $0 == .brief })
  }

  @Test("A repetition without samples has no metric")
  func empty() {
    #expect(Recording(end: End(.exited, code: 0)).result().metrics.isEmpty)
  }
}
