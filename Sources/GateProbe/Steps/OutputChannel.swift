import GateCore
import Synchronization

/// Where one program's output goes: its tail always, and a file and a log to search in where asked for.
final class OutputChannel: Sendable {
  private struct State {
    var tail = OutputTail()
    var log: OutputLog?
    var file: OutputFile?
  }

  private let state: Mutex<State>
  /// Raised when there is something new to search in.
  private let arrived: Wakeup?

  /// The output of a helper: only its tail is kept.
  init() {
    state = Mutex(State())
    arrived = nil
  }

  /// The output of a target.
  ///
  /// - Parameters:
  ///   - path: the file that it is copied to.
  ///   - arrived: raised with each piece of output; nil where no pattern will be looked for.
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

  /// The last lines of what was read so far.
  var tail: OutputTail {
    state.withLock { $0.tail }
  }

  /// Why the file does not hold all of the output.
  var fileFailure: SystemFailure? {
    state.withLock { $0.file?.failure }
  }

  /// Whether output was dropped before patterns were looked for in it.
  var hasDropped: Bool {
    state.withLock { $0.log?.hasDropped ?? false }
  }

  /// Searches in a copy of what is new, so that the reader is not held up meanwhile.
  func look(with search: inout OutputSearch) -> OutputLog.Position? {
    let position = search.position
    let rest = state.withLock { state -> OutputLog.Rest? in
      guard let rest = state.log?.rest(from: position) else { return nil }
      return OutputLog.Rest(bytes: Array(rest.bytes)[...], position: rest.position)
    }
    return rest.flatMap { search.look(in: $0) }
  }

  /// Lets go of the output before a place.
  func forget(before position: OutputLog.Position) {
    state.withLock { $0.log?.forget(before: position.offset) }
  }
}
