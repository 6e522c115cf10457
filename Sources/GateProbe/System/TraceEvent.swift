import GateCore

/// An event of a traced process, reported by its supervisor.
struct TraceEvent: Sendable, Equatable {
  enum Kind: Sendable, Equatable {
    /// `parent` forked it. It is a copy with as much anonymous memory as the parent had then, zero if unknown; nil if it
    /// borrows the parent's memory until its exec or exit (vfork(2), CLONE_VM). Later events of it may precede this one.
    case forked(parent: Int32, copied: Bytes?)
    /// It executed a new program: the program's name and first values; and the memory that it had inherited when it was
    /// forked, zero if it was not, or if that is unknown.
    case executed(Program, inherited: Bytes)
    /// It is about to exit: the last values of the program, unless it is not the last thread that exits.
    ///
    /// May occur more than once for a process with several threads, also before an exec by one of its threads.
    case exiting(Program, isLast: Bool)
    case ended(WaitStatus)
    /// This many of its threads have ended; those that it creates from now on, and their child processes, are not
    /// traced.
    case madeManyThreads(Int)
    /// It has executed a program that could not be made to hold the ballast (``LaunchRequest/ballast``), with `errno`.
    case lacksBallast(Program, code: Int32)
    /// It ran already, and cannot be traced, with `errno`.
    case notTraced(code: Int32)
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
  /// The most memory that the process has had so far, or a child that it has waited for (`ru_maxrss`, getrusage(2));
  /// negative if unknown.
  ///
  /// It includes what it has inherited: the first program that a process executes starts with the memory of the process
  /// that started it.
  var highest = Bytes.zero
  var time: MonotonicTime
}
