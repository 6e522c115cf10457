import GateCore

/// An event of a traced process, reported by its supervisor.
struct TraceEvent: Sendable, Equatable {
  enum Kind: Sendable, Equatable {
    /// `parent` forked it; if it `borrowsMemory`, it shares the parent's memory until its exec or exit (vfork(2)).
    case forked(parent: Int32, borrowsMemory: Bool)
    /// It executed a new program: the program's name and first values.
    case executed(Program)
    /// It is about to exit: the last values of the program.
    ///
    /// May occur more than once for a process with several threads, also before an exec by one of its threads.
    case exiting(Program)
    case ended(WaitStatus)
    /// It has created this many threads; further ones, and their child processes, are not traced.
    case madeManyThreads(Int)
  }

  /// The name and memory of a process at the time of an event.
  struct Program: Sendable, Equatable {
    /// The kernel's name for the process (`comm`), at most 15 bytes.
    var command: String
    /// nil if it has no memory any more.
    var memory: MemoryReading?
  }

  var pid: Int32
  var kind: Kind
  var time: MonotonicTime
}
