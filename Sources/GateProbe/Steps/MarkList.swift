import GateCore
import MarkerProtocol
import Synchronization

/// The marks of one repetition, from its steps and from the target itself, in the order of time.
final class MarkList: Sendable {
  /// What bounds the memory that a target can make the runner use: 100 000 marks take about 10 MB.
  static let most = 100_000

  private struct State {
    var marks: [Mark] = []
    /// The latest word of what the target is doing; a server may say that twice a request, and those before are past.
    var activity: Mark?
    var reader = MarkerReader()
    var dropped = 0
  }

  private let state = Mutex(State())
  private let level: @Sendable (_ beginsPhase: Bool) -> Sampler.Level

  /// - Parameter level: reads the main process's memory at once, for a phase that begins now or for another mark; the
  ///   time is that of the reading, counted from the target's exec.
  init(level: @escaping @Sendable (_ beginsPhase: Bool) -> Sampler.Level) {
    self.level = level
  }

  /// Records a mark of the script.
  func add(_ event: Mark.Event) {
    let level = level(event.beginsPhase)
    state.withLock { Self.append(event, level, to: &$0) }
  }

  /// Records the marks in what the target wrote.
  ///
  /// Of iterations that were read at once only the last has a level: memory was read after all of them, and the same
  /// level at each would make a fast loop that leaks look like one that does not.
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

  /// What was recorded; to be called once, when nothing comes any more.
  ///
  /// A mark that was read a moment after the target's `end` is put there.
  func finish(at end: Duration) -> (marks: [Mark], unknownLines: Int, note: RecordingNote?) {
    state.withLock { state in
      state.reader.finish()
      var marks: [Mark] = []
      swap(&marks, &state.marks)
      if let activity = state.activity { marks.append(activity) }
      // Those of the script and of the target come from two threads.
      marks.sort { $0.time < $1.time }
      for index in marks.indices where marks[index].time > end { marks[index].time = end }
      let note: RecordingNote? = state.dropped > 0 ? .marksDropped(count: state.dropped, most: Self.most) : nil
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
    guard state.marks.count < most else {
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
