/// The progress of a run.
package enum Progress: Sendable, Equatable {
  /// What a repetition is for; the memory of others than measured ones is not judged.
  package enum Purpose: Sendable, Equatable {
    case measuring
    /// With the profiler, to explain a rise.
    case explaining
    /// With the profiler, to explain later rises.
    case profiling
    /// With the counters of instances or allocations.
    case counting
    /// With this memory limit.
    case limiting(to: Bytes)
  }

  /// One repetition of one scenario.
  package struct Repetition: Sendable, Equatable {
    package var scenario: ScenarioName
    /// Counts from 1; warm-ups are counted separately.
    package var number: Int
    package var of: Int
    package var isWarmup: Bool
    /// Whether it is a repetition of the build that a check compares with.
    package var isComparison: Bool
    package var purpose: Purpose
    /// The memory that a self-check injects.
    package var ballast: Bytes

    package init(
      scenario: ScenarioName,
      number: Int,
      of: Int,
      isWarmup: Bool = false,
      isComparison: Bool = false,
      purpose: Purpose = .measuring,
      ballast: Bytes = .zero
    ) {
      self.scenario = scenario
      self.number = number
      self.of = of
      self.isWarmup = isWarmup
      self.isComparison = isComparison
      self.purpose = purpose
      self.ballast = ballast
    }
  }

  /// `index` counts from 1; others that are measured at the same time have lines of their own in between.
  case scenarioStarted(ScenarioName, index: Int, of: Int, isAlone: Bool = true)
  case repetitionStarted(Repetition)
  /// The peak is nil if it is unavailable, or of a repetition with the profiler.
  case repetitionFinished(Repetition, peak: Bytes?, duration: Duration)
  case scenarioFinished(ScenarioResult)
}
