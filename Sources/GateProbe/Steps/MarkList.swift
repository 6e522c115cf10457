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
    /// The place of the target's latest phase in `marks`, which its message `late` is about.
    var targetPhase: Int?
    var reader = MarkerReader()
    var dropped = 0
    var hasIterations = false
  }

  private let state = Mutex(State())
  private let level: @Sendable (Sampler.MarkReading) -> Sampler.Level
  private let firstIteration: @Sendable () -> Void

  /// - Parameters:
  ///   - level: reads memory for a mark.
  ///   - firstIteration: is called once, when the first iteration is marked.
  init(
    level: @escaping @Sendable (Sampler.MarkReading) -> Sampler.Level,
    firstIteration: @escaping @Sendable () -> Void = {}
  ) {
    (self.level, self.firstIteration) = (level, firstIteration)
  }

  /// Records a mark of a step.
  func add(_ event: Mark.Event) {
    let level = level(event.reading)
    state.withLock { _ = Self.append(event, level, isLate: false, to: &$0) }
    if event == .iteration { noteIteration() }
  }

  /// Parses and records the marks that the target wrote.
  ///
  /// Of several iterations in one read, only the last gets a memory level: memory was read after all of them, and equal
  /// levels would hide a leak in a fast loop.
  func read(_ bytes: ArraySlice<UInt8>) {
    let messages = state.withLock { state in
      var messages: [MarkerMessage] = []
      state.reader.read(bytes) { messages.append($0) }
      return messages
    }
    let events = messages.map { Mark.Event($0) }
    let lastPhase = events.lastIndex { $0?.reading == .peak }
    let lastIteration = events.lastIndex(of: .iteration)
    let level = level(lastPhase != nil ? .peak : lastIteration != nil ? .tree : .plain)
    state.withLock { state in
      for (index, event) in events.enumerated() {
        guard let event else {
          if let phase = state.targetPhase { state.marks[phase].isLate = true }
          continue
        }
        var own = level
        if event == .iteration, index != lastIteration { (own.resident, own.tree) = (nil, nil) }
        if event != .iteration { own.tree = nil }
        if index != lastPhase { own.peakBefore = nil }
        let place = Self.append(event, own, isLate: !messages[index].writerWaits, to: &state)
        if event.reading == .peak { state.targetPhase = place }
      }
    }
    if lastIteration != nil { noteIteration() }
  }

  /// Whether there is a mark of this event.
  func has(_ event: Mark.Event) -> Bool { state.withLock { $0.marks.contains { $0.event == event } } }

  private func noteIteration() {
    let isFirst = state.withLock { state in
      defer { state.hasIterations = true }
      return !state.hasIterations
    }
    if isFirst { firstIteration() }
  }

  /// Returns the recorded marks; call it once, after the last one.
  ///
  /// A mark that was read shortly after the target's `end` gets that time.
  func finish(at end: Duration) -> (marks: [Mark], unknownLines: Int, note: RecordingNote?) {
    state.withLock { state in
      state.reader.finish()
      var marks: [Mark] = []
      swap(&marks, &state.marks)
      state.targetPhase = nil
      if let activity = state.activity { marks.append(activity) }
      // The marks of steps and of the target come from two threads.
      marks.sort { $0.time < $1.time }
      for index in marks.indices where marks[index].time > end { marks[index].time = end }
      let note: RecordingNote? = state.dropped > 0 ? .marksDropped(count: state.dropped, most: Self.maxMarks) : nil
      return (marks, state.reader.unknownLines, note)
    }
  }

  /// Returns the mark's place in `marks`; nil if it is not kept there.
  private static func append(
    _ event: Mark.Event,
    _ level: Sampler.Level,
    isLate: Bool,
    to state: inout State
  ) -> Int? {
    let mark = Mark(
      time: level.time, event: event, isLate: isLate, process: level.process, resident: level.resident,
      tree: level.tree, peakBefore: level.peakBefore)
    guard event.activity == nil else {
      state.activity = mark
      return nil
    }
    guard state.marks.count < maxMarks else {
      state.dropped += 1
      return nil
    }
    state.marks.append(mark)
    return state.marks.count - 1
  }
}

extension Mark.Event {
  /// What a mark of this kind needs.
  fileprivate var reading: Sampler.MarkReading {
    switch self {
    case .phase: .peak
    case .iteration: .tree
    case .mark, .value: .plain
    }
  }

  /// nil for a message that is not an event of its own.
  init?(_ message: MarkerMessage) {
    switch message {
    case .late: return nil
    case .phase(let name, _): self = .phase(name)
    case .mark(let name): self = .mark(name)
    case .iteration: self = .iteration
    case .value(let name, let number, let unit): self = .value(name: name, number: number, unit: unit)
    }
  }
}
