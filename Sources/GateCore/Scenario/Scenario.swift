package import RegularExpressions

/// A target and the script that uses it.
package struct Scenario: Sendable, Equatable {
  package var name: ScenarioName
  package var place: SourcePlace?
  package var description = ""
  package var tags: [String] = []
  package var target: Target
  /// The absolute path of the folder in which all commands except the target run.
  package var root = "/"
  /// The paths and URLs with variables of the runner's environment filled in, and each as the project file writes it.
  package var writtenTexts: [String: String] = [:]
  /// What builds its program, in ``root``; nil if nothing must be built.
  package var build: Command?
  /// Commands that run before each repetition and are not measured.
  package var setup: [Command] = []
  /// Commands that run after each repetition, including a failed one.
  package var teardown: [Command] = []
  package var ready: Readiness?
  package var steps: [Step] = []
  package var stop = StopRule()
  /// What ends a repetition; nil for the default (``ending``).
  package var until: Ending?
  /// The expected ends of the target; nil for the default (``accepts(_:)``).
  package var expect: ExpectedEnd?
  package var timeout: Duration = .seconds(300)
  package var repetitions = Repetitions.adaptive(min: 5, max: 20)
  /// The number of warm-up repetitions, which do not count.
  package var warmup = 1
  /// The time between two samples.
  package var interval: Duration = .milliseconds(10)
  package var memoryLimit: Bytes?
  /// The memory limit with which each check runs it once more; nil for none.
  package var limit: LimitRule?
  package var isolation = Isolation()
  /// Runs each repetition with several numbers of items; nil for one.
  package var scale: Scale?
  package var gate = Gate.standard
  package var explain = ExplainRule.auto
  /// Whether no other scenario may run at the same time.
  package var isExclusive = false
  /// Whether recordings have the sockets on which the target listens; no key of the project file.
  package var findsListeners = false

  package init(name: ScenarioName, target: Target) {
    self.name = name
    self.target = target
  }

  /// A path or URL as the project file writes it, without the values of variables, which may be secret.
  package func asWritten(_ text: String) -> String { writtenTexts[text] ?? text }

  /// What ends a repetition: the last step if there are steps or a `ready`, else the target's own end.
  package var ending: Ending {
    until ?? (steps.isEmpty && ready == nil && !target.runsAlready ? .exit : .steps)
  }

  /// All steps, also those of each `repeat`.
  package var allSteps: [Step] { steps.flatMap(\.all) }

  /// The scenario with all that it waits for allowed to take so many times longer.
  package func allowing(times factor: Int) -> Scenario {
    var longer = self
    longer.timeout *= factor
    longer.ready?.within *= factor
    longer.stop.within *= factor
    longer.steps = steps.map { $0.allowing(times: factor) }
    return longer
  }
}

/// A program to start, directly or with a shell.
package enum Command: Sendable, Equatable, CustomStringConvertible {
  /// The program and its arguments; never empty.
  case arguments([String])
  /// A line for `/bin/sh -c`.
  case shell(String)

  /// The argument vector.
  package var words: [String] {
    switch self {
    case .arguments(let words): words
    case .shell(let line): ["/bin/sh", "-c", line]
    }
  }

  package var description: String {
    switch self {
    case .arguments(let words): words.joined(separator: " ")
    case .shell(let line): line
    }
  }
}

/// The measured program and how to start it.
package struct Target: Sendable, Equatable {
  package enum Input: Sendable, Equatable {
    case null, pipe
    /// An absolute path.
    case file(String)
    case text(String)
  }

  /// How to find the main process, if it is not the started process.
  package enum MainProcess: Sendable, Equatable {
    /// The absolute path of a file with the process id.
    case pidfile(String)
    /// The process whose name (`comm`) or command line matches.
    case name(Pattern)
  }

  package var command: Command
  /// What is attached to instead of a program that is started; nil for a command.
  package var running: RunningTarget?
  /// What makes the command a suite of tests; nil for a program.
  package var suite: SuiteRule?
  /// Variables that are added to the fixed set.
  package var environment: [String: String] = [:]
  /// Names of variables that are passed on from the runner's environment.
  package var inheritedEnvironment: [String] = []
  /// An absolute path.
  package var workingDirectory: String
  package var input = Input.null
  package var main: MainProcess?
  /// How much memory each program of the target is made to hold beside its own (``SelfCheck``).
  package var ballast = Bytes.zero
  /// What a preloaded library makes the target hold; nil without one.
  package var injection: Injection?
  /// For a profiled target the mean number of bytes between sampled allocations (``MemoryProfile``); else nil.
  package var samplingInterval: Bytes?
  /// Whether the living instances of Swift classes are counted (``InstanceReading``).
  package var countsInstances = false
  /// Whether allocations are counted (``AllocationReading``).
  package var countsAllocations = false

  package init(command: Command, workingDirectory: String) {
    self.command = command
    self.workingDirectory = workingDirectory
  }
}

/// A Perl-compatible regular expression, known to be valid.
package struct Pattern: Sendable, Equatable, CustomStringConvertible {
  package let source: String

  package init(parsing source: String) throws(RegularExpressionError) {
    _ = try RegularExpression(source)
    self.source = source
  }

  package var description: String { source }

  /// The compiled form; it is not `Sendable`, so each thread compiles its own.
  package func compiled() -> RegularExpression {
    guard let regex = try? RegularExpression(source) else {
      preconditionFailure("`\(source)` was compiled before, when the pattern was made")
    }
    return regex
  }
}

/// How a target is stopped.
package struct StopRule: Sendable, Equatable {
  package var signal: Signal
  /// The time after which it is killed.
  package var within: Duration

  package init(signal: Signal = .term, within: Duration = .seconds(10)) {
    self.signal = signal
    self.within = within
  }
}

/// What ends a repetition.
package enum Ending: String, Sendable, CaseIterable {
  /// The last step, after which the target is stopped.
  case steps
  /// The end of the target.
  case exit
}

/// Whether a check explains a regression, by some more repetitions with the profiler.
package enum ExplainRule: Sendable, Hashable {
  /// As long as explaining takes no longer in a check than its own repetitions (``ExplanationBudget``).
  case auto
  /// As long as explaining takes no longer in a check than this.
  case within(Duration)
  case always, off
}

/// What a check requires under a memory limit.
package struct LimitRule: Sendable, Equatable {
  /// The limit with which the scenario must pass.
  package var survives: Bytes

  package init(survives: Bytes) {
    self.survives = survives
  }
}

/// The ends of a target that a scenario accepts.
package struct ExpectedEnd: Sendable, Hashable, Codable {
  package var exits: [Int]
  package var signals: [Signal]

  package init(exits: [Int] = [], signals: [Signal] = []) {
    self.exits = exits
    self.signals = signals
  }
}

/// How a target is isolated from the rest of the machine.
package struct Isolation: Sendable, Equatable {
  package enum HugePages: String, Sendable, CaseIterable {
    case inherit, off
  }

  package enum Tracer: String, Sendable, CaseIterable {
    case auto, on, off
  }

  /// Whether the target's address space is randomised (`aslr: on`).
  package var randomAddresses = false
  package var hugePages = HugePages.inherit
  /// The CPUs that the target may use; nil for all.
  package var cpus: [Int]?
  /// How many CPUs the target sees, whichever it uses; nil for those that it may use.
  package var cpuCount: Int?
  package var tracer = Tracer.auto

  package init() {}

  /// `CPU_SETSIZE` of sched_setaffinity(2): what programs have room for.
  package static let mostCPUs = 1024
}
