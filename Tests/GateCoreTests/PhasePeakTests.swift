import GateCore
import Testing

@Suite("Peaks of phases")
struct PhasePeakTests {
  private typealias R = Readings

  @Test("Where marks are reset, each phase's peak is exact and does not count for the next one")
  func resets() {
    let samples = [
      R.sample(5, 10, mark: 12), R.sample(15, 10, mark: 12), R.sample(25, 10, mark: 11), R.sample(35, 10, mark: 11),
      R.sample(45, 10, mark: 10),
    ]
    let marks = [
      R.phase(10, "one", peakBefore: 12), R.phase(20, "two", peakBefore: 60), R.phase(30, "three", peakBefore: 11),
    ]
    // The first reading after a mark is set back shows what came since.
    #expect(R.peaks(samples, marks, readAtEnd: true) == ["one 60.0", "two 11.0", "three 11.0"])
    #expect(R.peaks(samples, marks) == ["one 60.0", "two 11.0", "three 11.0 or more"])
  }

  @Test("A phase shorter than the time between two readings has a peak if both its ends reset the mark")
  func betweenReadings() {
    let samples = [R.sample(0, 10, mark: 10), R.sample(100, 10, mark: 15)]
    let marks = [R.phase(10, "one", peakBefore: 10), R.phase(20, "two", peakBefore: 40), R.phase(30, "three")]
    #expect(R.peaks(samples, marks) == ["one 40.0", "two none or more", "three 10.0 or more"])
  }

  @Test("The highest of all phases and of what lies between them is the whole run's peak")
  func wholeRun() {
    let samples = (0..<8).map { R.sample($0 * 10 + 5, 10, mark: 10) }
    let marks = [R.phase(20, "one", peakBefore: 70), R.phase(40, "two", peakBefore: 60)]
    let recording = Recording(samples: samples, marks: marks, end: End(.exited, code: 0), duration: .milliseconds(80))
    #expect(recording.result().metrics[.peakRSS] == 70 * Curves.mebibyte)
  }

  @Test(
    "Without that, a phase's peak is exact if the mark rose in the phase and not until the first reading after it",
    arguments: [
      // The mark at the readings at 5, 15, … 55 ms; the phases are from 10 to 40 ms and from there on.
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

  @Test("The last phase ends at the request to stop: what is read at the exit may be from later")
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
    let readJustThen = peaks(marks: [10, 30, 50, 50], stop: 15)
    #expect(readJustThen?.metrics[.peakRSS] == 30 * Curves.mebibyte && readJustThen?.peakIsExact == true)
  }

  @Test("Of a simulated kernel no peak is above the truth, and each that is called exact is it", arguments: 0..<40)
  func simulated(seed: UInt64) throws {
    var kernel = SimulatedKernel(seed: seed, counterError: 0)
    let (recording, truth) = kernel.run()
    let result = recording.result()
    #expect(result.metrics[.peakRSS] == Double(truth.whole))
    for (phase, most) in zip(result.phases, truth.phases) {
      let peak = phase.metrics[.peakRSS] ?? 0
      #expect(phase.peakIsExact ? peak == Double(most) : peak <= Double(most), "\(phase.name)")
    }
    let setsBack = recording.marks.contains { $0.peakBefore != nil }
    #expect(result.phases.contains { $0.peakIsExact } || !setsBack)
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

/// A program of two seconds in steps of 0.1 ms, and the kernel's figures of it.
///
/// The mark that is shown is the larger of the stored one and what is resident (fs/proc/task_mmu.c, `task_mem`); the
/// stored one lags.
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
    let setsBack = random(2) == 0
    for step in 0...20_000 {
      if random(400) == 0 { level = Int64(500 + random(8000)) }
      spike = random(300) == 0 ? Int64(random(8000)) : 0
      let resident = (level + spike) * page
      if step > 0, random(2500) == 0 {
        let mark = max(stored, level * page)
        // The phase that begins holds what was there when it began.
        recording.marks.append(
          Mark(time: time(step), event: .phase("\(phases.count)"), peakBefore: setsBack ? Bytes(mark) : nil))
        if setsBack { stored = level * page }
        phases.append(level * page)
      }
      sinceReset = max(sinceReset, resident)
      whole = max(whole, resident)
      if !phases.isEmpty { phases[phases.count - 1] = max(phases[phases.count - 1], resident) }
      stored = max(stored, resident - Int64(random(Int(counterError) + 1)))
      // The spike is over when it is read, as are most.
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

  /// It is read between two steps.
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
