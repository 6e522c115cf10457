/// Why a repetition does not count, even if its target ended well.
package struct Failure: Sendable, Hashable, Codable {
  /// The failed repetition; nil if it is unknown or does not matter.
  package var attempt: Attempt?
  /// The part that failed; nil for the repetition as a whole.
  package var part: Part?
  package var problem: Problem
  /// How the target ended, if the scenario does not accept it.
  package var end: End?
  /// The last activity that the target reported, such as `idle`.
  package var activity: String?
  package var place: SourcePlace?
  /// The last lines of the failed program's output; may be empty.
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

  /// Whether the cause may lie outside the program: its target was killed by SIGKILL, and the sender is unknown.
  ///
  /// A loop makes a program grow until it is killed; then the loop is the cause.
  package var isInconclusive: Bool {
    if case .loop = problem { return false }
    return end?.kind == .killed
  }
}

extension Failure {
  /// One run of a target within a check.
  package struct Attempt: Sendable, Hashable, Codable {
    /// Counts from 1.
    package var number: Int
    package var of: Int
    package var isWarmup: Bool
    /// Whether it is a run of the `--against` build.
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
      /// A suite, or the tests of it that had begun and not ended, whose names are the text.
      case suite, test
    }

    /// A position in a script.
    package enum Index: Sendable, Hashable, Codable {
      case step(number: Int, of: Int)
      case turn(number: Int, of: Int)
    }

    package var kind: Kind
    /// The position of a step in the script, as in step 3 of 7, turn 2 of 5, step 1 of 2.
    package var path: [Index]
    /// The first line of the action, as in `run: redis-cli ping`.
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
    /// It ended before or during the failed part.
    case targetEnded(status: EndEvidence.Status?, isBefore: Bool)
    /// It ended in a way that the scenario does not accept: ``Failure/end``.
    case unexpectedEnd(expected: ExpectedEnd)
    case timeout(kind: End.Timeout)
    /// The scenario's timeout passed during the part; this is not the target's own end.
    case outOfTime(after: Duration)
    /// The target is gone, and its main process was never seen.
    case noMainProcess(rule: End.MainProcessRule)
    /// The target reported a loop; `other` is what failed as a consequence.
    case loop(event: TargetEvent, other: Failure?)

    // Steps
    case signalNotSent
    case stdinNotPiped
    case stdinClosed
    case outputMissing(within: Duration, onlyLatestSearched: Bool)
    case tooFewSamples(within: Duration)
    case notSettled(within: Duration, moved: Bytes)
    case http(url: String, problem: HTTPProblem, request: Int, of: Int)
    /// A program of the setup, a step or the teardown.
    case commandEnded(status: EndEvidence.Status, expected: [Int])
    case commandTimeout(after: Duration)

    // Before the start
    case alreadyInUse(resource: Resource)
    /// The FIFO of `stdin: {file: …}` was opened by no writer.
    case noInputWriter(within: Duration)
    case launch(error: LaunchError)
    /// The target runs already, or should.
    case attach(error: AttachError)
    case system(failure: SystemFailure)
    /// `tracer: on` without permission to use ptrace.
    case tracerUnavailable(barrier: TracingBarrier)
    /// `memory-limit` without a memory cgroup.
    case memoryLimitUnavailable(error: CgroupError)
    /// `limit` without a memory cgroup.
    case limitUnavailable(error: CgroupError)

    /// The gate judges a kind of memory that this kernel does not show.
    case kindUnavailable(metric: MetricName)

    // Suites
    case suite(problem: SuiteProblem)
    /// Tests failed; the names are those of the first.
    case testsFailed(count: Int, of: Int, names: [String])

    case interrupted
  }

  /// Why a request failed.
  package enum HTTPProblem: Sendable, Hashable, Codable {
    /// nil: any status from 200 to 299 was expected.
    case status(code: Int, expected: Int?)
    /// There was no response; the text is that of the transfer library.
    case noAnswer(reason: String)
    /// The connection was refused, and the scenario does not say when the target is ready.
    case notListening(reason: String)
  }

  /// A resource that shows that a target is ready, but existed before the start.
  package enum Resource: Sendable, Hashable, Codable {
    case port(number: Int)
    case socket(path: String)
    case file(path: String)
  }
}

/// A failed system call.
package struct SystemFailure: Error, Sendable, Hashable, Codable {
  package enum Call: String, Sendable, Codable {
    case open, pipe, mkdtemp, mkfifo, write, thread, fork, connect
  }

  package var call: Call
  /// The file or folder concerned.
  package var path: String?
  /// `errno`.
  package var code: Int32

  package init(_ call: Call, path: String? = nil, code: Int32) {
    self.call = call
    self.path = path
    self.code = code
  }
}
