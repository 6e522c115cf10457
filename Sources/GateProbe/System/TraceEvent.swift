import GateCore

/// Something that a supervisor has seen of a traced process.
struct TraceEvent: Sendable, Equatable {
  enum Kind: Sendable, Equatable {
    /// Another process made it; until its exec or end it uses that one's memory, if it `borrowsMemory` (vfork(2)).
    case forked(parent: Int32, borrowsMemory: Bool)
    /// It executes a new program, of which these are the name and the first values.
    case executed(Program)
    /// It is about to end: the last values of the program.
    ///
    /// Of a process with several threads this may come more than once, and before an exec by one of them.
    case exiting(Program)
    /// It ended.
    case ended(WaitStatus)
    /// It has made so many threads that its next ones are not followed, nor are processes that those start.
    case madeManyThreads(Int)
  }

  /// A program at an instant of its life.
  struct Program: Sendable, Equatable {
    /// The kernel's name of the process (`comm`), at most 15 bytes.
    var command: String
    /// nil where it has no memory any more.
    var memory: MemoryReading?
  }

  var pid: Int32
  var kind: Kind
  var time: MonotonicTime
}
