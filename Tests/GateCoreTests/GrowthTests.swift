import GateCore
import Testing

@Suite("Growth: level, continuous or settling")
struct GrowthTests {
  let mebibyte = Curves.mebibyte

  @Test(
    "None of 40 runs without a leak is called continuous, and at least 38 of them are steady",
    arguments: [
      (.plateau, true), (.wanderingPlateau, true), (.warmup, true), (.stairs, true), (.sawtooth, true), (.spikes, true),
      (.step, false),
    ] as [(SyntheticCurve, isSteady: Bool)])
  func noFalseAlarm(of curve: SyntheticCurve, isSteady: Bool) {
    let results = curve.results(seeds: 0..<40)
    #expect(results.count { $0.growth?.kind == .continuous } == 0)
    // A step in the middle has no level.
    #expect(!isSteady || results.count { $0.steadiness == .steady } >= 38)
  }

  @Test(
    "At least 39 of 40 runs with a leak of 2.4 MiB are called continuous",
    arguments: [.leak, .leakAfterWarmup, .slabs, .steepLeak] as [SyntheticCurve])
  func detection(of curve: SyntheticCurve) {
    #expect(curve.results(seeds: 0..<40).count { $0.growth?.kind == .continuous } >= 39)
  }

  @Test("A cache that fills up is settling", arguments: [.fill, .saturation] as [SyntheticCurve])
  func settling(curve: SyntheticCurve) {
    #expect(curve.results(seeds: 0..<40).allSatisfy { $0.growth?.kind == .settling })
  }

  @Test("A steady fall is level, with an interval below zero")
  func falling() throws {
    let growth = try #require(SyntheticCurve.fall.recording(seed: 1).result().growth)
    #expect(growth.kind == .level)
    #expect(growth.high < 0 && abs(growth.slope + 2 * mebibyte) < 0.1 * mebibyte)
  }

  @Test("The metric is the slope, which lies within the interval")
  func slope() throws {
    let result = SyntheticCurve.leak.recording(seed: 7).result()
    let growth = try #require(result.growth)
    #expect(result.metrics[.growth] == growth.slope)
    #expect(growth.low < growth.slope && growth.slope < growth.high)
    #expect(growth.low < 0.24 * mebibyte && 0.24 * mebibyte < growth.high)
  }

  @Test("Growth is deterministic")
  func reproducible() {
    let recording = SyntheticCurve.sawtooth.recording(seed: 5)
    #expect(recording.result() == recording.result())
  }

  @Test(
    "A leak is at least 1 MiB per run, or 0.5 % of the level if that is more",
    arguments: [
      (level: 30.0, leak: 0.9, kind: .level), (30, 1.3, .continuous), (400, 1.9, .level), (400, 2.6, .continuous),
    ] as [(level: Double, leak: Double, kind: Growth.Kind)])
  func size(level: Double, leak: Double, kind: Growth.Kind) {
    let recording = Curves.recording { (level + leak * ($0 < 0.2 ? 0 : $0 - 0.2) / 3.8) * mebibyte }
    #expect(recording.result().growth?.kind == kind)
  }
}

@Suite("Growth per iteration")
struct GrowthPerIterationTests {
  /// 200 turns of a 30 MiB process that leaks `bytes` per turn in whole pages, with noise of up to two pages.
  private func measured(bytes: Double, seed: UInt64) -> Growth? {
    var noise = Noise(seed: seed)
    let marks = (0..<200).map { turn in
      let pages = (Double(turn) * bytes / 4096).rounded(.down) + (5 * noise.share()).rounded(.down) - 2
      return Mark(
        time: .milliseconds(turn * 20), event: .iteration, resident: .mebibytes(30) + Bytes(Int64(pages) * 4096)
      )
    }
    return Curves.recording({ _ in 30 * Curves.mebibyte }, marks: marks).result().growth
  }

  @Test(
    "The growth of a 30 MiB process over 200 iterations is exact to about 50 bytes per iteration",
    arguments: [0, 64, 256, 1024, 4096, 16_384, 65_536] as [Double])
  func bytes(of turn: Double) throws {
    var covered = 0
    for seed in 0..<40 as Range<UInt64> {
      let growth = try #require(measured(bytes: turn, seed: seed))
      #expect(abs(growth.slope - turn) < 100)
      #expect(turn < 256 || growth.low > 0)
      #expect((growth.kind == .continuous) == (turn > 8000))
      if (growth.low...growth.high).contains(turn) { covered += 1 }
    }
    #expect(covered >= 36, "\(covered) of 40")
  }

  @Test("A warm-up of less than 256 KiB within the first half is not growth")
  func shortWarmup() throws {
    let marks = (0..<20).map { turn in
      Mark(time: .milliseconds(turn * 20), event: .iteration, resident: .kibibytes(30_000 + 24 * Int64(min(turn, 8))))
    }
    let growth = try #require(Curves.recording({ _ in 30 * Curves.mebibyte }, marks: marks).result().growth)
    #expect(growth.slope == 0 && growth.iterations == 10)
    #expect(growth.kind == .level, "the warm-up is over")
  }

  @Test("All steady iterations count if growth does not slow down, so that pieces of the allocator even out")
  func pieces() throws {
    // glibc extends its heap by 132 KiB at once.
    let marks = (0..<200).map { turn in
      let pieces = Int64(turn) * 1024 / 135_168
      return Mark(
        time: .milliseconds(turn * 20), event: .iteration, resident: .mebibytes(30) + Bytes(pieces * 135_168))
    }
    let growth = try #require(Curves.recording({ _ in 30 * Curves.mebibyte }, marks: marks).result().growth)
    #expect(growth.iterations == 200 && abs(growth.slope - 1024) < 100)
  }

  @Test("Iterations that never become steady have the growth of their last half")
  func lastHalf() throws {
    let marks = (0..<100).map { turn in
      let level = turn < 60 ? 20 : 60 + turn
      return Mark(time: .milliseconds(turn * 40), event: .iteration, resident: .mebibytes(Int64(level)))
    }
    let result = Curves.recording({ _ in 20 * Curves.mebibyte }, marks: marks).result()
    #expect(result.growth != nil && result.metrics[.growth] == result.growth?.slope)
  }
}

@Suite("Steadiness")
struct SteadinessTests {
  private let mebibyte = Curves.mebibyte

  @Test("A curve is steady, unsteady, drifting or too short, and only a steady curve has a level")
  func kinds() {
    let kinds: [(Recording, Steadiness)] = [
      (SyntheticCurve.plateau.recording(seed: 1), .steady),
      (Curves.recording { $0 < 2.5 ? 5 * mebibyte : 20 * mebibyte }, .unsteady),
      (SyntheticCurve.steepLeak.recording(seed: 1), .drifting),
      (SyntheticCurve.fall.recording(seed: 1), .drifting),
      (Curves.recording({ _ in 20 * mebibyte }, seconds: 0.09), .tooShort),
      (Recording(end: End(.exited, code: 0)), .tooShort),
    ]
    for (recording, steadiness) in kinds {
      let result = recording.result()
      #expect(result.steadiness == steadiness)
      #expect((result.metrics[.steadyRSS] != nil) == (steadiness == .steady))
    }
  }

  @Test("A ramp has growth; an unsteady or short curve has none")
  func growth() {
    #expect(SyntheticCurve.steepLeak.recording(seed: 1).result().growth?.kind == .continuous)
    #expect(Curves.recording { $0 < 2.5 ? 5 * mebibyte : 20 * mebibyte }.result().growth == nil)
    #expect(Curves.recording({ _ in 20 * mebibyte }, seconds: 0.09).result().growth == nil)
  }

  @Test("A program that is read often while it is loaded has no steady state")
  func brief() {
    let samples = (0..<50).map { Readings.sample($0, 20, mark: 20) }
    let recording = Recording(samples: samples, end: End(.exited, code: 0), duration: .milliseconds(50))
    #expect(recording.result().steadiness == .tooShort)
  }

  @Test("A process that outlives the target has its peak, and no steady state in the time without readings")
  func outliving() {
    let samples = (0...10).map { Readings.sample($0 == 10 ? 210 : $0, $0 == 10 ? 45 : 15, mark: $0 == 10 ? 45 : 15) }
    let mark = Mark(time: .zero, event: .phase("a"))
    let recording = Recording(
      samples: samples, marks: [mark], end: End(.exited, code: 0), duration: .milliseconds(10))
    let result = recording.result()
    #expect(result.steadiness == .tooShort)
    #expect(result.metrics[.peakRSS] == 45 * mebibyte && result.phases[0].metrics == [.peakRSS: 45 * mebibyte])
    #expect(result.metrics[.treeSteady] == nil)
  }

  @Test("The four states have names, and fewer than ten samples are too short for any other")
  func names() {
    #expect(Steadiness.allCases.map(\.rawValue) == ["steady", "unsteady", "drifting", "too-short"])
    #expect(Curves.recording({ _ in 20 * mebibyte }, seconds: 0.09).result().steadiness == .tooShort)
    #expect(Curves.recording({ _ in 20 * mebibyte }, seconds: 0.1).result().steadiness == .steady)
    #expect(Steadiness.fewestReadings == 10)
  }
}
