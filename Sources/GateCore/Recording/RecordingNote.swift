/// One remark on one repetition.
package enum RecordingNote: Sendable, Hashable, Codable {
  // What the values are worth
  /// The target ran for less than ``Recording/briefest``, and its end was not read.
  case brief
  /// What the values of a tree of several processes count.
  case treeMethod(TreeMethod)
  /// Of so many readings only the highest was kept.
  case thinned(stride: Int)
  /// The sampler could not be started: there are no readings but the first and the last.
  case notSampled(SystemFailure)
  /// More threads than these were made; what the later ones started was sampled.
  case threadsNotFollowed(command: String?, count: Int)

  // What the target reported
  /// Lines of the marks FIFO that are no valid messages.
  case unknownMarks(lines: Int)
  case marksDropped(count: Int, most: Int)
  /// The target wrote messages faster than they were read.
  case messagesDropped(count: Int)
  case tooManyValues(most: Int)
  /// Numbers beyond 2^60 were left out.
  case numbersTooLarge
  /// Values in a second unit were left out.
  case secondUnits([SecondUnit])
  case tooManyEvents(most: Int)
  case event(TargetEvent)

  // How it ended
  case stepsNotPlayed(from: Failure.Part)
  /// The target did not end in time when it was asked to, and was killed.
  case killedAfterStop(Signal, grace: Duration)
  /// Processes that outlived the target and were killed, with the first of them.
  case survivors(count: Int, first: [Survivor])
  /// Processes that no SIGKILL has ended.
  case unkillable([Int32])
  /// More processes were seen than are listed.
  case processesNotListed(count: Int)
  /// The target's output is not in its file, or not all of it.
  case outputNotStored(SystemFailure)

  /// A value that was reported in one unit first, and in another one later.
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

  package struct Survivor: Sendable, Hashable, Codable {
    package var command: String
    package var pid: Int32

    package init(command: String, pid: Int32) {
      self.command = command
      self.pid = pid
    }
  }
}
