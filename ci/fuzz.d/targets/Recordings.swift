import FoundationEssentials
import GateCore

@testable import GateApplication

extension FuzzTarget {
  /// The measurements of a repetition, in bytes of no format of the program: times and amounts that a machine could have.
  static let recording = FuzzTarget("recording") { input in
    var numbers = Numbers(input)
    var recording = Recording(end: numbers.end())
    recording.settled = numbers.flag() ? .milliseconds(numbers.next(2))...(.seconds(100)) : nil
    recording.stopRequested = numbers.flag() ? .milliseconds(1 + numbers.next(2)) : nil
    var time = Duration.zero
    while !numbers.isEmpty, recording.samples.count + recording.marks.count < 300 {
      time += .microseconds(numbers.next(2))
      if numbers.flag() {
        recording.marks.append(numbers.mark(at: time))
      } else {
        recording.samples.append(numbers.sample(at: time))
      }
    }
    recording.duration = time
    recording.processes = numbers.processes(until: time)
    recording.treePeak = recording.samples.map(\.tree).max() ?? .zero
    try RecordingCheck.expectSound(recording)
  }
}

/// The measurements of a repetition as they are evaluated and stored.
enum RecordingCheck {
  /// Evaluates a recording, and writes it.
  static func result(of recording: Recording) throws -> RepetitionResult {
    let repetition = recording.result()
    for (metric, value) in repetition.allMetrics {
      try promise(value.isFinite, "\(metric.text) is not finite")
      try promise(!metric.isWholeBytes || value >= 0, "\(metric.text) is negative: \(value)")
    }
    try expectLines(of: recording)
    return repetition
  }

  /// Judges a recording by itself, and writes and reads its result.
  static func expectSound(_ recording: Recording) throws {
    let repetition = try result(of: recording)
    let scenario = ScenarioMeasurement(
      name: ScenarioName("s"), environment: environment, repetitions: [repetition, repetition, repetition],
      composition: recording.composition, growthIsPerIteration: recording.growthIsPerIteration)
    let judged = scenario.judged(against: .baseline(Baseline(of: scenario.judged(against: .missing))))
    let result = RunResult(
      run: RunInfo(id: "r", startedAt: .now), environment: environment, scenarios: [judged])
    try expectRoundTrip(result, { ResultFile.encode($0, words: .reports) }) {
      try ResultFile.decode($0, path: "r.json")
    }
    try promise(judged.verdict != .regression, "equal values are a regression")
  }

  private static let environment = EnvironmentInfo(
    name: "e",
    fingerprint: Fingerprint(
      architecture: "x86_64", pageSize: 4096, cpus: 2, aslr: "off", thp: "never", measurement: "traced", kernel: "6.1",
      libc: "glibc 2.36"))

  private struct Line: Decodable {
    let kind: String
  }

  private static func expectLines(of recording: Recording) throws {
    var bytes: [UInt8] = []
    try RecordingFile.write(recording, of: ScenarioName("s"), repetition: 1, words: .reports) { bytes += $0 }
    for line in bytes.split(separator: 0x0a) {
      let isJSON = (try? JSONDecoder().decode(Line.self, from: Data(line))) != nil
      try promise(isJSON, "not JSON: \(String(decoding: line, as: UTF8.self))")
    }
  }
}

extension Sample {
  static func steady(at time: Duration) -> Sample {
    let memory = MemoryReading(
      resident: .mebibytes(2), peak: .mebibytes(2), anonymous: .mebibytes(1), file: .mebibytes(1), shared: .zero)
    return Sample(time: time, process: 7, main: memory, tree: .mebibytes(2), processes: 1)
  }
}

/// The bytes of an input as numbers; zero after its end.
private struct Numbers {
  private var rest: ArraySlice<UInt8>

  init(_ input: [UInt8]) {
    rest = input[...]
  }

  var isEmpty: Bool { rest.isEmpty }

  mutating func next(_ bytes: Int) -> Int64 {
    (0..<bytes).reduce(0) { sum, _ in sum << 8 | Int64(rest.popFirst() ?? 0) }
  }

  mutating func flag() -> Bool { next(1) & 1 == 1 }

  /// Up to 64 TiB.
  mutating func memory() -> Bytes { Bytes(next(3) << Int64(next(1) % 23)) }

  mutating func end() -> End {
    let kinds = End.Kind.allCases
    return End(kinds[Int(next(1)) % kinds.count], code: Int(next(1)))
  }

  mutating func mark(at time: Duration) -> Mark {
    let name = String("abcd".prefix(1 + Int(next(1) % 3)))
    let event: Mark.Event =
      switch next(1) % 8 {
      case 0: .phase(name)
      case 1: .mark(name)
      case 2: .value(name: name, number: Double(bitPattern: UInt64(bitPattern: next(8))), unit: "ms")
      case 3: .mark("launch.\(name)")
      default: .iteration
      }
    return Mark(
      time: time, event: event, isLate: flag(), process: 7, resident: flag() ? memory() : nil,
      tree: flag() ? memory() : nil, peakBefore: flag() ? memory() : nil)
  }

  mutating func sample(at time: Duration) -> Sample {
    let (anonymous, file) = (memory(), memory())
    let resident = anonymous + file
    let main = MemoryReading(
      resident: resident, peak: flag() ? memory() : resident, anonymous: anonymous, file: file, shared: .zero)
    let activity = Activity(minorFaults: next(2), cpuTime: .milliseconds(next(2)))
    return Sample(
      time: time, process: 7, main: flag() ? nil : main, tree: flag() ? memory() : resident, processes: Int(next(1)),
      activity: flag() ? activity : nil)
  }

  mutating func processes(until end: Duration) -> [ProcessRecord] {
    (0..<Int32(next(1) % 30)).map { number in
      ProcessRecord(
        id: number + 7, parent: number, command: "c\(number)", isMain: number == 0, peak: memory(), firstSeen: .zero,
        lastSeen: end, isExact: flag(), ending: flag() ? .exited(code: 0) : nil)
    }
  }
}
