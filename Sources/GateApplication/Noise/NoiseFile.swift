import GateCore

/// Noise studies as JSON (`highwater.noise/1`), for other programs; not read by this one.
enum NoiseFile {
  /// The studies with the value of every repetition, so that each number can be recomputed.
  ///
  /// Amounts of memory are rounded to whole bytes; unknown values are left out.
  static func encode(_ result: NoiseResult, words: FileWords) -> [UInt8] {
    StudyDocument(run: result.run, verdict: result.verdict, scenarios: result.studies.map { Study($0, words) })
      .encoded(as: .noise)
  }
}

private struct Study: Encodable {
  struct SelfComparison: Encodable {
    let verdict: Verdict
    let metrics: [MetricDocument]
  }

  let name: ScenarioName
  let verdict: Verdict
  let environment: EnvironmentInfo
  let repetitions: Int
  let durationsSeconds: [Double]
  let warmup: Int
  let advisedWarmup: Int?
  let runtime: CollectedRuntime?
  let metrics: [NoiseMetric]
  let gate: Gate
  let advisedGate: Gate
  let selfComparison: SelfComparison?
  let variants: [Variant]
  let failure: Worded<Failure>?
  let notes: [Worded<Note>]

  init(_ study: NoiseStudy, _ words: FileWords) {
    let result = study.result
    (name, verdict, environment) = (study.name, study.verdict, result.environment)
    (repetitions, durationsSeconds) = (study.repetitions, result.repetitions.map(\.duration.inSeconds))
    (warmup, advisedWarmup, runtime) = (study.warmup, study.advisedWarmup, study.runtime)
    metrics = study.metrics.map(NoiseMetric.init)
    (gate, advisedGate) = (result.gate, study.advisedGate)
    selfComparison = study.selfComparison.map { comparison in
      SelfComparison(
        verdict: comparison.verdict, metrics: comparison.metrics.map { MetricDocument(metric: $0, words: words) })
    }
    variants = study.variants.map { Variant($0, words) }
    failure = result.failure.map { Worded(value: $0, text: words.failure($0)) }
    notes = result.notes.map { Worded(value: $0, text: words.note($0, result)) }
  }
}

private struct NoiseMetric: Encodable {
  /// The change that a check with this many repetitions can detect.
  struct Detectable: Encodable {
    let repetitions: Int
    let rise: Double
    let percent: Double?
  }

  struct Levels: Encodable {
    let low: Double
    let high: Double
    let highCount: Int
  }

  let name: MetricName
  let unit: String
  let values: [Double]
  let median: Double
  let deviation: Double
  let percent: Double?
  let lowest: Double
  let highest: Double
  let detectable: [Detectable]
  let unsettled: Int
  let outliers: Int
  let drift: Double?
  let step: Double?
  let levels: Levels?
  let quietEnough: Bool?

  init(_ noise: MetricNoise) {
    let rounded = noise.metric.rounded
    /// Percentages have three decimals: the deviation of a quiet program is a few thousandths.
    func percent(_ part: Double) -> Double? { noise.percent(part).map { ($0 * 1000).rounded() / 1000 } }
    (name, unit, values) = (noise.metric, noise.unit, noise.values.map(rounded))
    (median, deviation) = (rounded(noise.median), rounded(noise.deviation))
    self.percent = percent(noise.deviation)
    (lowest, highest) = (rounded(noise.range.lowerBound), rounded(noise.range.upperBound))
    detectable = noise.detectable.map {
      Detectable(repetitions: $0.repetitions, rise: rounded($0.size), percent: percent($0.size))
    }
    (unsettled, outliers) = (noise.shape.unsettled, noise.shape.outliers)
    (drift, step) = (noise.shape.drift.map(rounded), noise.shape.step.map(rounded))
    levels = noise.shape.levels.map {
      Levels(low: rounded($0.low), high: rounded($0.high), highCount: $0.highCount)
    }
    quietEnough = noise.rule?.tolerance.map(noise.isQuietEnough)
  }
}

private struct Variant: Encodable {
  struct Metric: Encodable {
    let name: MetricName
    let values: [Double]
    let median: Double
    let deviation: Double
    let moved: Double
    let gain: String
    let isDisturbed: Bool

    init(_ metric: NoiseVariant.Metric) {
      let rounded = metric.metric.rounded
      (name, values) = (metric.metric, metric.values.map(rounded))
      (median, deviation, moved) = (rounded(metric.median), rounded(metric.deviation), rounded(metric.moved))
      (gain, isDisturbed) = (metric.gain.rawValue, metric.isDisturbed)
    }
  }

  let setting: [String: String]
  let repetitions: Int
  let metrics: [Metric]
  let failure: Worded<Failure>?

  init(_ variant: NoiseVariant, _ words: FileWords) {
    let (key, value) = variant.change.setting
    (setting, repetitions) = ([key: value], variant.repetitions)
    metrics = variant.metrics.map(Metric.init)
    failure = variant.failure.map { Worded(value: $0, text: words.failure($0)) }
  }
}
