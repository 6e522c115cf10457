import GateCore
import Synchronization

/// Receives a program's output: keeps its tail, and optionally a copy in a file and a searchable log.
final class OutputChannel: Sendable {
  private struct State {
    var tail = OutputTail()
    var log: OutputLog?
    var file: OutputFile?
  }

  private let state: Mutex<State>
  /// Raised when there is new output to search.
  private let arrived: Wakeup?

  /// The output of a helper: only its tail is kept.
  init() {
    state = Mutex(State())
    arrived = nil
  }

  /// The output of a target.
  ///
  /// - Parameters:
  ///   - path: the file for a copy.
  ///   - arrived: raised for each piece of output; nil if no pattern will be searched for.
  init(copiedTo path: String?, arrived: Wakeup?) {
    state = Mutex(State(log: arrived.map { _ in OutputLog() }, file: path.map { OutputFile(path: $0) }))
    self.arrived = arrived
  }

  func append(_ bytes: ArraySlice<UInt8>) {
    state.withLock { state in
      state.tail.append(bytes)
      state.log?.append(bytes)
      state.file?.append(bytes)
    }
    arrived?.raise()
  }

  /// The last lines read so far.
  var tail: OutputTail {
    state.withLock { $0.tail }
  }

  /// Why the file does not contain the complete output.
  var fileFailure: SystemFailure? {
    state.withLock { $0.file?.failure }
  }

  /// Whether output was dropped before it was searched.
  var hasDropped: Bool {
    state.withLock { $0.log?.hasDropped ?? false }
  }

  /// Searches a copy of the new output, so that the reader is not blocked meanwhile.
  func find(with search: inout OutputSearch) -> OutputLog.Position? {
    let position = search.position
    let rest = state.withLock { state -> OutputLog.Rest? in
      guard let rest = state.log?.rest(from: position) else { return nil }
      return OutputLog.Rest(bytes: Array(rest.bytes)[...], position: rest.position)
    }
    return rest.flatMap { search.find(in: $0) }
  }

  func discard(before position: OutputLog.Position) {
    state.withLock { $0.log?.discard(before: position.offset) }
  }
}
