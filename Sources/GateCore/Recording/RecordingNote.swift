/// A note on one repetition.
package enum RecordingNote: Sendable, Hashable, Codable {
  // What the values are worth
  /// The target ran for less than ``Recording/briefest``, and its end was not read.
  case brief
  /// The target ran already; and whether its high-water mark was reset at the attach, so that the peak since then is exact.
  case attached(isReset: Bool)
  /// Some of the processes of a target that ran already could not be traced, with the `errno` of the first one.
  case notTraced(command: String, code: Int32)
  /// How the memory of a tree of several processes was counted.
  case treeMethod(method: TreeMethod)
  /// The most memory of the target that was seen outside of its resident memory: swapped out, or in pages of hugetlbfs.
  case notResident(swapped: Bytes, hugeTLB: Bytes)
  /// Without a memory cgroup: the target has written files in memory, most of them in this folder or without a name, that the
  /// memory of the tree does not include.
  case filesNotCounted(folder: String?)
  /// The main process only asks others, outside the process tree, to run programs.
  case runsElsewhere(command: String)
  /// The command is a build tool: the program that was judged instead, or nil if it started none.
  case behindTool(tool: String, program: String?)
  /// Only the highest of this many samples was kept.
  case downsampled(stride: Int)
  /// The sampler could not be started: only the first and the last sample exist.
  case notSampled(failure: SystemFailure)
  /// The runner had too few file descriptors for all readings.
  case tooFewDescriptors(limit: Int)
  /// Without a tracer, the processes of a large tree were not all read for this long.
  case processesSeldomRead(gap: Duration)
  /// After this many threads had ended, further ones were not followed; processes started by those were sampled.
  case threadsNotFollowed(command: String?, count: Int)
  /// With several numbers of items: memory does not grow in proportion to them.
  case notLinear(axis: String, shape: Scaling.Shape)
  /// A program could not be made to hold the memory that a self-check injects: the `errno`.
  case ballastMissing(command: String, code: Int32)

  // What the target reported
  /// The number of invalid lines in the marks FIFO.
  case unknownMarks(lines: Int)
  case marksDropped(count: Int, most: Int)
  /// The target wrote messages faster than they were read.
  case messagesDropped(count: Int)
  case tooManyValues(most: Int)
  /// Numbers beyond 2^60 were left out.
  case numbersTooLarge
  /// Values in a second unit were left out.
  case secondUnits(values: [SecondUnit])
  case tooManyEvents(most: Int)
  case event(event: TargetEvent)

  // How it ended
  case stepsSkipped(from: Failure.Part)
  /// Some lines of the output took too long to search.
  case patternTooSlow(pattern: String)
  /// The target did not end in time after the stop request and was killed.
  case killedAfterStop(signal: Signal, grace: Duration)
  /// Processes that outlived the target and were killed, with the names of the first of them.
  case survivors(count: Int, first: [String])
  /// The container of the target, by its ID, could not be removed, and what its engine answered.
  case containerLeft(id: String, answer: String)
  /// Processes that survived SIGKILL.
  case unkillable(pids: [Int32])
  /// More processes were seen than are listed.
  case processesNotListed(count: Int)
  /// The target's output is missing from its file, or incomplete.
  case outputNotStored(failure: SystemFailure)
  /// SIGKILL ended a process of the target, which Highwater did not send.
  case killed(process: KilledProcess)
  /// A process of the tree crashed, or the main process failed, and the target ended well all the same.
  case processFailed(command: String, status: EndEvidence.Status)

  /// Whether something was left out that could have made the scenario fail: a loop that the target reported.
  package var mayHideFailure: Bool {
    switch self {
    case .marksDropped, .messagesDropped: true
    default: false
    }
  }

  /// Whether something was left out that could have raised the metric.
  package func mayHideValue(of metric: MetricName) -> Bool {
    switch self {
    case .marksDropped, .messagesDropped: metric.kind.isFromMessages || metric.inPhase != nil
    case .numbersTooLarge, .unknownMarks: metric.isValue
    case .secondUnits(let values): values.contains { $0.metric == metric.text }
    case .tooFewDescriptors, .processesSeldomRead: !metric.isValue && !metric.isCounted
    default: false
    }
  }

  /// At its timeout a traced process had stopped itself, as one does that waits for a tracer of its own.
  case stoppedItself(command: String)
  /// A traced target printed that it skipped something since it is traced.
  case skippedUnderTracer

  /// A value that was reported in two units.
  package struct SecondUnit: Sendable, Hashable, Codable {
    package var metric: String
    package var first: String
    package var second: String

    package init(metric: String, first: String, second: String) {
      self.metric = metric
      self.first = first
      self.second = second
    }
  }
}
