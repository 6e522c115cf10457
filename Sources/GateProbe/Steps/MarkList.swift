import GateCore
import MarkerProtocol
import Synchronization

/// The marks of a repetition, from its steps and from the target itself, in order of time.
final class MarkList: Sendable {
  /// Bounds the memory that a target can make the runner use: 100 000 marks take about 10 MB.
  static let maxMarks = 100_000

  private struct State {
    var marks: [Mark] = []
    /// The latest activity mark only: a server may send two per request, and earlier ones are obsolete.
    var activity: Mark?
    var reader = MarkerReader()
    var dropped = 0
  }

  private let state = Mutex(State())
  private let level: @Sendable (_ beginsPhase: Bool) -> Sampler.Level

  /// - Parameter level: reads the main process's memory, for the beginning of a phase or for another mark; returns the
  ///   time of the reading since the target's exec.
  init(level: @escaping @Sendable (_ beginsPhase: Bool) -> Sampler.Level) {
    self.level = level
  }

  /// Records a mark of a step.
  func add(_ event: Mark.Event) {
    let level = level(event.beginsPhase)
    state.withLock { Self.append(event, level, to: &$0) }
  }

  /// Parses and records the marks that the target wrote.
  ///
  /// Of several iterations in one read, only the last gets a memory level: memory was read after all of them, and equal
  /// levels would hide a leak in a fast loop.
  func read(_ bytes: ArraySlice<UInt8>) {
    let events = state.withLock { state in
      var events: [Mark.Event] = []
      state.reader.read(bytes) { events.append(Mark.Event($0)) }
      return events
    }
    let lastPhase = events.lastIndex(where: \.beginsPhase)
    let lastIteration = events.lastIndex(of: .iteration)
    let level = level(lastPhase != nil)
    state.withLock { state in
      for (index, event) in events.enumerated() {
        let isStale = event == .iteration && index != lastIteration
        let peakBefore = index == lastPhase ? level.peakBefore : nil
        Self.append(event, (level.time, isStale ? nil : level.resident, peakBefore), to: &state)
      }
    }
  }

  /// Returns the recorded marks; call it once, after the last one.
  ///
  /// A mark that was read shortly after the target's `end` gets that time.
  func finish(at end: Duration) -> (marks: [Mark], unknownLines: Int, note: RecordingNote?) {
    state.withLock { state in
      state.reader.finish()
      var marks: [Mark] = []
      swap(&marks, &state.marks)
      if let activity = state.activity { marks.append(activity) }
      // The marks of steps and of the target come from two threads.
      marks.sort { $0.time < $1.time }
      for index in marks.indices where marks[index].time > end { marks[index].time = end }
      let note: RecordingNote? = state.dropped > 0 ? .marksDropped(count: state.dropped, most: Self.maxMarks) : nil
      return (marks, state.reader.unknownLines, note)
    }
  }

  private static func append(
    _ event: Mark.Event,
    _ level: Sampler.Level,
    to state: inout State
  ) {
    let mark = Mark(time: level.time, event: event, resident: level.resident, peakBefore: level.peakBefore)
    guard event.activity == nil else { return state.activity = mark }
    guard state.marks.count < maxMarks else {
      state.dropped += 1
      return
    }
    state.marks.append(mark)
  }
}

extension Mark.Event {
  fileprivate var beginsPhase: Bool {
    if case .phase = self { true } else { false }
  }

  init(_ message: MarkerMessage) {
    switch message {
    case .phase(let name): self = .phase(name)
    case .mark(let name): self = .mark(name)
    case .iteration: self = .iteration
    case .value(let name, let number, let unit): self = .value(name: name, number: number, unit: unit)
    }
  }
}
