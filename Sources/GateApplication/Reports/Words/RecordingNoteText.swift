import GateCore
import Glibc
import LinuxSystem

extension RecordingNote {
  /// The note as one sentence.
  var displayText: String {
    switch self {
    case .brief:
      "the target ran for less than 0.5 s, which allows only a few readings of /proc: its real peak may be higher"
    case .attached(true):
      "the target ran already: peaks are since the start of each repetition, when its VmHWM was reset"
    case .attached(false):
      "the target ran already, and its VmHWM could not be reset: a peak below that of its time before is sampled"
    case .notTraced(let command, let code):
      "`\(command)` cannot be traced (\(ErrorNumber(code).text)): peaks of processes that end are sampled"
    case .treeMethod(let method): method.noteText
    case .notResident(let swapped, let hugeTLB): Self.notResident(swapped: swapped, hugeTLB: hugeTLB)
    case .filesNotCounted(let folder):
      "the memory of the tree does not include the files in memory that the target has written "
        + "\(folder.map { "in `\($0)`" } ?? "without a name"): only a memory cgroup counts them"
    case .runsElsewhere(let command):
      "`\(command)` starts programs outside the target's process tree; their memory is not measured: start "
        + "Highwater where they run, as in their container"
    case .behindTool(let tool, let program?):
      "`\(tool)` is a build tool, so `\(program)` is judged, the largest process that it started besides build tools "
        + "and compilers; `target: {main: {name: …}}` chooses another"
    case .behindTool(let tool, nil):
      "`\(tool)` started only build tools and compilers, so the largest of these is judged"
    case .downsampled(let stride): "the repetition was long: of each \(stride) readings only the highest was stored"
    case .notSampled(let failure): "there are only the first and the last reading: \(failure.displayText)"
    case .tooFewDescriptors(let limit):
      "Highwater ran out of file descriptors (`ulimit -n` is \(limit)): readings or processes are missing, and real values "
        + "may be higher"
    case .processesSeldomRead(let gap):
      "without a tracer, the processes were not all read for up to \(Format.exactTime(gap)): one may have had more memory"
    case .threadsNotFollowed(let command, let count):
      "\(command.map { "`\($0)`" } ?? "a process") creates and ends many threads: after \(count) had ended, new ones were "
        + "not followed, so that a program that one of them starts is found by search and its peak sampled"
    case .notLinear(let axis, let shape):
      "memory does not grow in proportion to `\(axis)`: \(shape.displayText); bytes_per_item is an average"
    case .ballastMissing(let command, let code):
      "no memory could be injected into `\(command)`: \(Self.cause(ofMissingBallast: code))"
    case .unknownMarks(1): "1 line written to HIGHWATER_MARKS is not a valid message"
    case .unknownMarks(let lines): "\(lines) lines written to HIGHWATER_MARKS are not valid messages"
    case .marksDropped(let count, let most): "\(count) marks were dropped: at most \(most) are stored"
    case .messagesDropped(let count):
      "the target dropped \(count) messages to HIGHWATER_MARKS that it wrote faster than they were read"
    case .tooManyValues(let most): "the target reported more than \(most) values; the later names are left out"
    case .numbersTooLarge: "the target reported numbers beyond 2^60, which are left out"
    case .secondUnits(let units):
      "the target reported values in a second unit, which are left out: \(units.map(\.displayText).joined(separator: ", "))"
    case .tooManyEvents(let most): "the target reported more than \(most) events; the later ones are left out"
    case .event(let event): event.displayText
    case .stepsSkipped(let part):
      "the target ended before the script did: `\(part.displayText)` and the steps after it were not run"
    case .patternTooSlow(let pattern):
      "the regular expression `\(pattern)` took too long on some lines of the output, which count as not matching"
    case .killedAfterStop(let signal, let grace):
      "the target did not end within \(grace.displayText) of SIG\(signal.name) and was killed"
    case .survivors(let count, let first): survivors(first, count: count)
    case .containerLeft(let id, let answer): "the container \(id.prefix(12)) could not be removed: \(answer)"
    case .unkillable(let pids): "could not be killed: process \(pids.map(String.init).joined(separator: ", "))"
    case .processesNotListed(let count): "\(count) more processes were seen than are listed"
    case .killed(let process): process.displayText
    case .processFailed(let command, let status):
      "a process of the tree failed: `\(command)` \(status.displayText)"
    case .stoppedItself(let command):
      "`\(command)` had stopped itself (SIGSTOP) when the time was over, and nobody continued it; a program that waits to be "
        + "traced does so, and it "
        + PtraceAdvice.text
    case .skippedUnderTracer:
      "the target printed that it skips something, or does not run, under a tracer; it \(PtraceAdvice.text)"
    case .outputNotStored(let failure): "the target's output is not stored, or not all of it: \(failure.displayText)"
    }
  }
}

extension RecordingNote {
  private static func notResident(swapped: Bytes, hugeTLB: Bytes) -> String {
    let parts = [(swapped, "were swapped out"), (hugeTLB, "are huge pages of hugetlbfs")]
      .filter { $0.0 > .zero }
      .map { "\(Format.amount($0.0)) \($0.1)" }
    return "resident memory does not contain all that the target holds: up to \(parts.joined(separator: ", and "))"
  }

  /// As in `2 processes outlived the target and were killed: cat, tee`.
  private func survivors(_ first: [String], count: Int) -> String {
    let subject = count == 1 ? "process outlived the target and was" : "processes outlived the target and were"
    return "\(count) \(subject) killed: \(first.joined(separator: ", "))" + (count > first.count ? " …" : "")
  }

  private static func cause(ofMissingBallast code: Int32) -> String {
    switch code {
    case ENOEXEC: "it is a 32-bit program, or of another architecture"
    // The kernel protects the memory of a program whose file the user cannot read (PR_SET_DUMPABLE, prctl(2)).
    case EIO, EPERM: "its file cannot be read by this user, and so its memory cannot be changed"
    default: ErrorNumber(code).text
    }
  }
}

extension TreeMethod {
  fileprivate var noteText: String {
    switch self {
    case .cgroup: "tree_peak and tree_steady are the values of the target's own cgroup"
    case .proportional:
      "tree_peak and tree_steady count shared memory in parts (Pss); what could not be read counts in full"
    case .upperBound:
      "tree_peak and tree_steady are upper bounds: memory that processes share counts once for each of them"
    }
  }
}

extension RecordingNote.SecondUnit {
  fileprivate var displayText: String { "\(metric) (\(first) at first, then \(second))" }
}

extension Scaling.Shape {
  /// A clause.
  fileprivate var displayText: String {
    switch self {
    case .faster: "each further item takes more, as where it grows with the square"
    case .slower: "each further item takes less"
    case .steps: "it grows in steps, as a table does that doubles"
    }
  }
}
