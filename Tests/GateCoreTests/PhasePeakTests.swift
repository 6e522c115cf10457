import GateCore
import Testing

@Suite("Peaks of phases")
struct PhasePeakTests {
  private typealias R = Readings

  @Test("With reset high-water marks, each phase's peak is exact and does not count for the next")
  func resets() {
    let samples = [
      R.sample(5, 10, mark: 12), R.sample(15, 10, mark: 12), R.sample(25, 10, mark: 11), R.sample(35, 10, mark: 11),
      R.sample(45, 10, mark: 10),
    ]
    let marks = [
      R.phase(10, "one", peakBefore: 12), R.phase(20, "two", peakBefore: 60), R.phase(30, "three", peakBefore: 11),
    ]
    // The first sample after a reset shows the peak since the reset.
    #expect(R.peaks(samples, marks, readAtEnd: true) == ["one 60.0", "two 11.0", "three 11.0"])
    #expect(R.peaks(samples, marks) == ["one 60.0", "two 11.0", "three 11.0 or more"])
  }

  @Test("A phase between two samples has a peak if the mark was reset at both ends")
  func betweenReadings() {
    let samples = [R.sample(0, 10, mark: 10), R.sample(100, 10, mark: 15)]
    let marks = [R.phase(10, "one", peakBefore: 10), R.phase(20, "two", peakBefore: 40), R.phase(30, "three")]
    #expect(R.peaks(samples, marks) == ["one 40.0", "two none or more", "three 10.0 or more"])
  }

  @Test("A phase that the target begins or ends itself is not exact: it runs on until the mark is read")
  func reported() {
    let samples = (0..<8).map { R.sample($0 * 10 + 5, 10, mark: 10) }
    let marks = [
      R.phase(10, "one", peakBefore: 10), R.phase(20, "two", peakBefore: 20),
      R.phase(30, "three", isLate: true, peakBefore: 30), R.phase(40, "four", peakBefore: 40),
      R.phase(50, "five", peakBefore: 50),
    ]
    let peaks = R.peaks(samples, marks, readAtEnd: true)
    #expect(peaks == ["one 20.0", "two 30.0 or more", "three 40.0 or more", "four 50.0", "five 10.0"])
  }

  @Test("The run's peak is the highest of all phases and the time between them")
  func wholeRun() {
    let samples = (0..<8).map { R.sample($0 * 10 + 5, 10, mark: 10) }
    let marks = [R.phase(20, "one", peakBefore: 70), R.phase(40, "two", peakBefore: 60)]
    let recording = Recording(samples: samples, marks: marks, end: End(.exited, code: 0), duration: .milliseconds(80))
    #expect(recording.result().metrics[.peakRSS] == 70 * Curves.mebibyte)
  }

  @Test(
    "Without resets, a phase's peak is exact if the mark rose within the phase but not across its end",
    arguments: [
      // The mark in the samples at 5, 15, … 55 ms; one phase is from 10 to 40 ms, the other from 40 ms on.
      ([10, 10, 10, 10, 10, 10], ["one 10.0 or more", "two 10.0 or more"]),
      ([10, 10, 30, 30, 30, 30], ["one 30.0", "two 10.0 or more"]),
      ([10, 10, 30, 30, 50, 50], ["one 30.0 or more", "two 10.0 or more"]),
      ([10, 30, 30, 30, 30, 50], ["one 10.0 or more", "two 50.0"]),
      ([30, 29.75, 29.75, 29.75, 29.75, 29.75], ["one 10.0 or more", "two 10.0 or more"]),
    ] as [([Double], [String])]
  )
  func rises(marks: [Double], expected: [String]) {
    let samples = marks.enumerated().map { R.sample($0 * 10 + 5, 10, mark: $1) }
    let phases = [R.phase(10, "one"), R.phase(40, "two")]
    #expect(R.peaks(samples, phases, readAtEnd: true) == expected)
  }

  @Test("The last phase ends at the stop request: a reading at exit may be later")
  func stopping() {
    func peaks(marks: [Double], stop: Int = 22) -> RepetitionResult.Phase? {
      let samples = marks.enumerated().map { R.sample($0 * 10 + 5, 10, mark: $1) }
      var recording = Recording(samples: samples, marks: [R.phase(0, "all")], end: End(.stopped))
      (recording.processes, recording.duration) = ([R.main(peak: marks.max() ?? 0)], .milliseconds(100))
      recording.stopRequested = .milliseconds(stop)
      return recording.result().phases.first
    }
    let quiet = peaks(marks: [10, 30, 30, 30])
    #expect(quiet?.metrics[.peakRSS] == 30 * Curves.mebibyte && quiet?.peakIsExact == true)
    let rising = peaks(marks: [10, 30, 50, 50])
    #expect(rising?.metrics[.peakRSS] == 30 * Curves.mebibyte && rising?.peakIsExact == false)
    let sampledAtStop = peaks(marks: [10, 30, 50, 50], stop: 15)
    #expect(sampledAtStop?.metrics[.peakRSS] == 30 * Curves.mebibyte && sampledAtStop?.peakIsExact == true)
  }

  @Test("With a simulated kernel no peak exceeds the truth, and every exact peak equals it", arguments: 0..<40)
  func simulated(seed: UInt64) throws {
    var kernel = SimulatedKernel(seed: seed, counterError: 0)
    let (recording, truth) = kernel.run()
    let result = recording.result()
    #expect(result.metrics[.peakRSS] == Double(truth.whole))
    for (phase, most) in zip(result.phases, truth.phases) {
      let peak = phase.metrics[.peakRSS] ?? 0
      #expect(phase.peakIsExact ? peak == Double(most) : peak <= Double(most), "\(phase.name)")
    }
    let resetsMark = recording.marks.contains { $0.peakBefore != nil }
    #expect(result.phases.contains { $0.peakIsExact } || !resetsMark)
  }

  @Test("A mark that lags by up to 368 KiB makes exact peaks too low by at most that", arguments: 0..<40)
  func simulatedError(seed: UInt64) throws {
    let error: Int64 = 368 * 1024
    var kernel = SimulatedKernel(seed: seed, counterError: error)
    let (recording, truth) = kernel.run()
    let result = recording.result()
    let peak = try #require(result.metrics[.peakRSS])
    #expect((Double(truth.whole - error)...Double(truth.whole)).contains(peak))
    for (phase, most) in zip(result.phases, truth.phases) {
      let peak = phase.metrics[.peakRSS] ?? 0
      #expect(peak <= Double(most) && (!phase.peakIsExact || peak >= Double(most - error)), "\(phase.name)")
    }
  }
}

/// A program of two seconds in steps of 0.1 ms, with the kernel's counters.
///
/// The high-water mark shown is the larger of the stored mark and the resident memory (fs/proc/task_mmu.c, `task_mem`);
/// the stored mark lags.
private struct SimulatedKernel {
  private var state: UInt64
  private let counterError: Int64

  init(seed: UInt64, counterError: Int64) {
    state = seed &* 0x9e37_79b9_7f4a_7c15 &+ 1
    self.counterError = counterError
  }

  /// A number from 0 to one less than `bound` (xorshift64, Marsaglia 2003).
  private mutating func random(_ bound: Int) -> Int {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return Int(state >> 33) % bound
  }

  mutating func run() -> (recording: Recording, truth: (whole: Int64, phases: [Int64])) {
    let page: Int64 = 4096
    var recording = Recording(end: End(.exited, code: 0), duration: .milliseconds(2000))
    var (level, spike, stored, sinceReset, whole): (Int64, Int64, Int64, Int64, Int64) = (2000, 0, 0, 0, 0)
    var phases: [Int64] = []
    let resetsMark = random(2) == 0
    for step in 0...20_000 {
      if random(400) == 0 { level = Int64(500 + random(8000)) }
      spike = random(300) == 0 ? Int64(random(8000)) : 0
      let resident = (level + spike) * page
      if step > 0, random(2500) == 0 {
        let mark = max(stored, level * page)
        // The new phase starts with the current memory.
        recording.marks.append(
          Mark(time: time(step), event: .phase("\(phases.count)"), peakBefore: resetsMark ? Bytes(mark) : nil))
        if resetsMark { stored = level * page }
        phases.append(level * page)
      }
      sinceReset = max(sinceReset, resident)
      whole = max(whole, resident)
      if !phases.isEmpty { phases[phases.count - 1] = max(phases[phases.count - 1], resident) }
      stored = max(stored, resident - Int64(random(Int(counterError) + 1)))
      // Like most spikes, this one is over before the sample.
      let isLast = step == 20_000
      if isLast || step % 100 == random(3) { recording.samples.append(sample(step, level * page, stored)) }
    }
    let highest = recording.samples.compactMap(\.main?.peak).max() ?? .zero
    recording.processes = [
      ProcessRecord(
        id: 2, parent: 1, command: "x", isMain: true, peak: highest, firstSeen: .zero, lastSeen: .seconds(2),
        isExact: true
      )
    ]
    return (recording, (whole, phases))
  }

  private func time(_ step: Int) -> Duration {
    .microseconds(step * 100)
  }

  /// A sample lies between two steps.
  private func sample(_ step: Int, _ resident: Int64, _ stored: Int64) -> Sample {
    Sample(
      time: time(step) + .microseconds(50),
      main: MemoryReading(
        resident: Bytes(resident), peak: Bytes(max(stored, resident)), anonymous: .zero, file: .zero, shared: .zero
      ),
      tree: Bytes(resident),
      processes: 1
    )
  }
}
