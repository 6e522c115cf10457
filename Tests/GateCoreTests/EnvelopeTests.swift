import GateCore
import Testing

/// Builds recordings from samples in MiB and milliseconds.
enum Readings {
  /// A sample whose main process has this resident memory and high-water mark.
  static func sample(_ time: Int, _ resident: Double, mark: Double, activity: Activity? = nil) -> Sample {
    let held = Bytes(Int64(resident * Curves.mebibyte))
    return Sample(
      time: .milliseconds(time),
      main: MemoryReading(
        resident: held, peak: Bytes(Int64(mark * Curves.mebibyte)), anonymous: held, file: .zero, shared: .zero
      ),
      tree: held,
      processes: 1,
      activity: activity
    )
  }

  /// A sample each 10 ms; the high-water mark is the level, or `mark` if that is higher.
  static func plateau(
    _ level: Double = 20,
    count: Int = 400,
    mark: (Int) -> Double = { _ in 0 }
  ) -> Recording {
    let samples = (0..<count).map { sample($0 * 10, level, mark: max(level, mark($0))) }
    return Recording(samples: samples, end: End(.exited, code: 0), duration: .milliseconds(count * 10))
  }

  static func main(peak: Double, isExact: Bool = true) -> ProcessRecord {
    ProcessRecord(
      id: 7, parent: 1, command: "x", isMain: true, peak: Bytes(Int64(peak * Curves.mebibyte)), firstSeen: .zero,
      lastSeen: .zero, isExact: isExact, ending: .exited(code: 0)
    )
  }

  static func phase(_ time: Int, _ name: String, isLate: Bool = false, peakBefore: Double? = nil) -> Mark {
    Mark(
      time: .milliseconds(time), event: .phase(name), isLate: isLate,
      peakBefore: peakBefore.map { Bytes(Int64($0 * Curves.mebibyte)) }
    )
  }

  /// The peaks of the phases in MiB, marked `or more` if not exact.
  static func peaks(_ samples: [Sample], _ marks: [Mark], readAtEnd: Bool = false) -> [String] {
    let recording = Recording(
      samples: samples, marks: marks, processes: readAtEnd ? [main(peak: 0)] : [], end: End(.exited, code: 0),
      duration: samples.last?.time ?? .zero
    )
    return recording.result().phases.map { phase in
      let peak = phase.metrics[.peakRSS].map { "\($0 / Curves.mebibyte)" } ?? "none"
      return "\(phase.name) \(peak)\(phase.peakIsExact ? "" : " or more")"
    }
  }
}

@Suite("Peaks between samples")
struct EnvelopeTests {
  private let mebibyte = Curves.mebibyte

  @Test(
    "A spike between two samples is exact, and lies where the high-water mark rose",
    arguments: [1, 2, 30, 198, 199, 200, 201, 398, 399]
  )
  func betweenReadings(index: Int) throws {
    let result = Readings.plateau { $0 >= index ? 50 : 0 }.result()
    #expect(result.metrics[.peakRSS] == 50 * mebibyte)
    #expect(result.metrics[.steadyRSS] == 20 * mebibyte)
    #expect(result.metrics[.spike] == 30 * mebibyte)
    let spike = try #require(result.spike)
    #expect(spike.height == .mebibytes(30))
    #expect(spike.after == .milliseconds(index * 10 - 10) && spike.before == .milliseconds(index * 10))
  }

  @Test("A spike of 20 ms is found anywhere in the run", arguments: [50, 100, 400])
  func anywhere(count: Int) {
    for start in Swift.stride(from: 1, to: count - 2, by: max(1, count / 60)) {
      var recording = Readings.plateau(count: count) { $0 >= start ? 50 : 0 }
      for index in start...start + 1 { recording.samples[index].main?.resident = .mebibytes(50) }
      let metrics = recording.result().metrics
      #expect(metrics[.spike] == 30 * mebibyte, "from reading \(start) of \(count)")
      #expect(metrics[.steadyRSS] == 20 * mebibyte, "from reading \(start) of \(count)")
    }
  }

  @Test("A spike of several samples is not warm-up if it is shorter than 1/14 of the run")
  func shortAndLong() {
    for (count, length) in [(50, 2), (100, 6), (395, 25), (4000, 300)] {
      for start in Swift.stride(from: 1, to: count - length, by: max(1, count / 40)) {
        var recording = Readings.plateau(count: count)
        for index in start..<start + length {
          recording.samples[index] = Readings.sample(index * 10, 50, mark: 50)
        }
        #expect(recording.result().metrics[.spike] == 30 * mebibyte, "from reading \(start) of \(count)")
      }
    }
  }

  @Test("The end of a warm-up is not a spike, wherever it is in a bin", arguments: 60...75)
  func warmUpFromAbove(end: Int) {
    var recording = Readings.plateau { _ in 50 }
    for index in 0..<end { recording.samples[index].main?.resident = .mebibytes(50) }
    #expect(recording.result().metrics[.spike] == 0)
    #expect(recording.result().metrics[.steadyRSS] == 20 * mebibyte)
  }

  @Test("A spike after the last sample is found by the reading at exit")
  func atTheEnd() {
    var recording = Readings.plateau(count: 100)
    recording.samples.append(Readings.sample(1003, 20, mark: 50))
    recording.processes = [Readings.main(peak: 50)]
    #expect(recording.result().metrics[.spike] == 30 * mebibyte)
    #expect(recording.result().spike?.before == .milliseconds(1003))
  }

  @Test("Memory after the stop request counts for the peak but not as a spike, also between two samples")
  func afterStop() {
    var recording = Readings.plateau { $0 >= 300 ? 50 : 0 }
    recording.stopRequested = .milliseconds(2995)
    #expect(recording.result().metrics[.spike] == 0)
    #expect(recording.result().spike == nil)
    #expect(recording.result().metrics[.peakRSS] == 50 * mebibyte)
  }

  @Test("A rise within 256 KiB has a height but is not a spike")
  func quiet() {
    let result = Readings.plateau { $0 >= 300 ? 20.25 : 0 }.result()
    #expect(result.metrics[.spike] == 0.25 * mebibyte)
    #expect(result.spike == nil)
  }

  @Test(
    "A high-water mark that falls by the counters' error makes no spike and loses no peak",
    arguments: [4, 16, 128, 368]
  )
  func counterError(kibibytes: Double) {
    var recording = Readings.plateau { index in index > 100 ? 50 - kibibytes / 1024 : 50 }
    for index in 0...90 { recording.samples[index].main?.resident = .mebibytes(50) }
    let result = recording.result()
    #expect(result.metrics[.peakRSS] == 50 * mebibyte)
    #expect(result.metrics[.steadyRSS] == 20 * mebibyte)
    #expect(result.metrics[.spike] == 0)
    #expect(result.spike == nil)
  }

  @Test("After an exec the lower high-water mark can show new spikes, and the old peak stays")
  func exec() throws {
    let marks = { index in index < 50 ? 80.0 : index < 300 ? 20 : 45 }
    var recording = Readings.plateau(mark: marks)
    for index in 0..<50 { recording.samples[index].main?.resident = .mebibytes(78) }
    let result = recording.result()
    #expect(result.metrics[.peakRSS] == 80 * mebibyte)
    #expect(result.metrics[.spike] == 25 * mebibyte)
    #expect(result.spike?.before == .milliseconds(3000))
  }

  @Test("A spike belongs to the phase before it, even if it was read as that phase ended")
  func phaseOfSpike() {
    var recording = Readings.plateau { $0 >= 300 ? 50 : 0 }
    #expect(recording.result().spike?.phase == nil)
    recording.marks = [Readings.phase(2000, "load"), Readings.phase(3000, "serve")]
    #expect(recording.result().spike?.phase == "load")
    recording = Readings.plateau()
    recording.marks = [Readings.phase(0, "load", peakBefore: 5), Readings.phase(2995, "serve", peakBefore: 50)]
    #expect(recording.result().spike?.phase == "load")
    #expect(recording.result().metrics[.spike] == 30 * mebibyte)
  }

  @Test(
    "A spike is busy if the main process used 0.8 CPUs or more over at least 100 ms",
    arguments: [(1.0, true), (0.8, true), (0.7, false), (0, false)]
  )
  func busy(share: Double, isBusy: Bool) {
    var recording = Readings.plateau { $0 >= 300 ? 50 : 0 }
    for index in recording.samples.indices {
      let ticks = Int(Double(index) * share)
      recording.samples[index].activity = Activity(minorFaults: 0, cpuTime: .milliseconds(ticks * 10))
    }
    #expect(recording.result().spike?.isBusy == isBusy)
  }

  @Test("Only the time around a spike decides whether it was busy; it must span at least 100 ms")
  func busyThen() {
    var recording = Readings.plateau { $0 >= 300 ? 50 : 0 }
    for index in recording.samples.indices {
      let worked = min(max(index - 290, 0), 20)
      recording.samples[index].activity = Activity(minorFaults: 0, cpuTime: .milliseconds(worked * 10))
    }
    #expect(recording.result().spike?.isBusy == true)
    for index in recording.samples.indices where !(297...304).contains(index) {
      recording.samples[index].activity = nil
    }
    #expect(recording.result().spike?.isBusy == false)
  }
}
