import GateCore
import GateProbe

/// Runs one scenario under memory limits, after runs without them have shown its usual time and the files of its code.
struct LimitedRuns {
  enum Outcome {
    case interrupted
    /// It failed for a reason that no limit explains.
    case failed(Failure)
    case finished(LimitedRun)
  }

  let scenario: Scenario
  let measurer: any Measurer
  /// The file for the target's output.
  let output: String
  let showProgress: (Progress) -> Void
  /// The times without a limit.
  let usual: [Duration]
  /// They are read again in each run, so that the limit includes them.
  let codeFiles: [String]

  func run(at limit: Bytes, number: Int = 1, of count: Int = 1) -> Outcome {
    let limited = LimitedRun.scenario(scenario, at: limit, usual: usual)
    PageCache.drop(codeFiles)
    let progress = Progress.Repetition(
      scenario: scenario.name, number: number, of: count, purpose: .limiting(to: limit))
    showProgress(.repetitionStarted(progress))
    guard let recording = measurer.measure(limited, output: output, keepsInterrupted: false) else {
      return .interrupted
    }
    showProgress(.repetitionFinished(progress, peak: recording.usage?.peak, duration: recording.duration))
    do throws(LimitedRun.OtherFailure) {
      return .finished(try LimitedRun(of: recording, in: limited, at: limit))
    } catch {
      return .failed(error.failure)
    }
  }
}
