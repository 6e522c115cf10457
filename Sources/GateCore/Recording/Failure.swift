/// Why a repetition cannot count, though its target may have ended well.
package struct Failure: Sendable, Hashable, Codable {
  /// Which repetition failed; nil where that is not known or does not matter.
  package var attempt: Attempt?
  /// What failed; nil: the repetition as a whole.
  package var part: Part?
  package var problem: Problem
  /// How the target ended, where the scenario does not accept that.
  package var end: End?
  /// What the target last reported that it was doing, as in `idle`.
  package var activity: String?
  package var place: SourcePlace?
  /// The last lines that the failed program printed; may be empty.
  package var output: String

  package init(
    attempt: Attempt? = nil,
    part: Part? = nil,
    problem: Problem,
    end: End? = nil,
    activity: String? = nil,
    place: SourcePlace? = nil,
    output: String = ""
  ) {
    self.attempt = attempt
    self.part = part
    self.problem = problem
    self.end = end
    self.activity = activity
    self.place = place
    self.output = output
  }

  /// Whether nobody can tell if the program or its surroundings failed: its target was killed by SIGKILL, and it is not
  /// known by whom.
  ///
  /// A loop makes a program grow until somebody kills it: then the loop is the reason.
  package var isInconclusive: Bool {
    if case .loop = problem { return false }
    return end?.kind == .killed
  }
}

extension Failure {
  /// One run of a target among those of a check.
  package struct Attempt: Sendable, Hashable, Codable {
    /// Counts from 1.
    package var number: Int
    package var of: Int
    package var isWarmup: Bool
    /// Whether it is a run of the build that `--against` names.
    package var isComparison: Bool

    package init(number: Int, of: Int, isWarmup: Bool = false, isComparison: Bool = false) {
      self.number = number
      self.of = of
      self.isWarmup = isWarmup
      self.isComparison = isComparison
    }
  }

  /// A part of a repetition.
  package struct Part: Sendable, Hashable, Codable {
    package enum Kind: String, Sendable, Codable {
      case setup, ready, start, step, end, stop, teardown
    }

    /// A place in a script.
    package enum Index: Sendable, Hashable, Codable {
      case step(Int, of: Int)
      case turn(Int, of: Int)
    }

    package var kind: Kind
    /// Of a step: where it is in the script, as in step 3 of 7, turn 2 of 5, step 1 of 2.
    package var path: [Index]
    /// The first line of what is done, as in `run: redis-cli ping`.
    package var text: String?

    package init(_ kind: Kind, at path: [Index] = [], text: String? = nil) {
      self.kind = kind
      self.path = path
      self.text = text
    }
  }
}

extension Failure {
  package indirect enum Problem: Sendable, Hashable, Codable {
    // The target
    /// It ended before the failed part, or during it.
    case targetEnded(EndEvidence.Status?, isBefore: Bool)
    /// It ended in a way that the scenario does not accept: ``Failure/end``.
    case unexpectedEnd(expected: ExpectedEnd)
    case timeout(End.Timeout)
    /// The scenario's timeout passed during the part, which is not the target's own end.
    case outOfTime(after: Duration)
    /// Nothing is left of the target, and its main process was never seen.
    case noMainProcess(End.MainProcessRule)
    /// The target reported a loop; what else failed followed from that.
    case loop(TargetEvent, other: Failure?)

    // Steps
    case signalNotSent
    case stdinNotPiped
    case stdinClosed
    case outputMissing(within: Duration, onlyLatestSearched: Bool)
    case tooFewSamples(within: Duration)
    case notSettled(within: Duration, moved: Bytes)
    case http(url: String, problem: HTTPProblem, request: Int, of: Int)
    /// A program of setup, steps or teardown.
    case commandEnded(EndEvidence.Status, expected: [Int])
    case commandTimeout(after: Duration)

    // Before the start
    case alreadyInUse(Resource)
    case launch(LaunchError)
    case system(SystemFailure)
    /// `tracer: on`, where ptrace is not permitted.
    case tracerUnavailable(TracingBarrier)
    /// `memory-limit`, where no memory cgroup can be made.
    case memoryLimitUnavailable(CgroupError)

    case interrupted
  }

  /// Why a request was no success.
  package enum HTTPProblem: Sendable, Hashable, Codable {
    /// nil: any status from 200 to 299 was expected.
    case status(Int, expected: Int?)
    /// No answer came; the text is that of the transfer library.
    case noAnswer(String)
  }

  /// Something whose presence shows that a target is ready, and that was there before the start.
  package enum Resource: Sendable, Hashable, Codable {
    case port(Int)
    case socket(String)
    case file(String)
  }
}

/// A call of the system that failed.
package struct SystemFailure: Error, Sendable, Hashable, Codable {
  package enum Call: String, Sendable, Codable {
    case open, pipe, mkdtemp, mkfifo, write, thread, fork
  }

  package var call: Call
  /// The file or folder that it was about.
  package var path: String?
  /// `errno`.
  package var code: Int32

  package init(_ call: Call, path: String? = nil, code: Int32) {
    self.call = call
    self.path = path
    self.code = code
  }
}
