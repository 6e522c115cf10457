/// Something that a person who waits for a run may want to know.
package enum Progress: Sendable, Equatable {
  /// One repetition of one scenario.
  package struct Repetition: Sendable, Equatable {
    package var scenario: ScenarioName
    /// Counts from 1; warm-ups have a count of their own.
    package var number: Int
    package var of: Int
    package var isWarmup: Bool

    package init(scenario: ScenarioName, number: Int, of: Int, isWarmup: Bool = false) {
      self.scenario = scenario
      self.number = number
      self.of = of
      self.isWarmup = isWarmup
    }
  }

  /// A scenario begins; `index` counts from 1.
  case scenarioStarted(ScenarioName, index: Int, of: Int)
  case repetitionStarted(Repetition)
  /// A repetition ended; the peak is nil where it could not be had.
  case repetitionFinished(Repetition, peak: Bytes?, duration: Duration)
  case scenarioFinished(ScenarioResult)
}
