package import GateCore

/// Studies of noise as JSON (`highwater.noise/1`), for other programs; nothing of ours reads them.
package enum NoiseFile {
  /// The studies with the value of every repetition, so that each figure can be computed again.
  ///
  /// Amounts of memory are rounded to whole bytes; `null` is what there is none of.
  package static func encode(_ result: NoiseResult) -> [UInt8] {
    JSONText.encode(NoiseDocument(result: result))
  }
}

private struct NoiseDocument: Encodable {
  let result: NoiseResult

  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: JSONName.self)
    try fields.encode(DocumentSchema.noise.text, forKey: "schema")
    try fields.encode(["name": Tool.name, "version": Tool.version], forKey: "tool")
    try fields.encode(RunDocument(result.run), forKey: "run")
    try fields.encode(result.verdict.rawValue, forKey: "verdict")
    try fields.encode(result.verdict.exitCode.rawValue, forKey: "exitCode")
    try fields.encode(result.studies.map(StudyDocument.init), forKey: "scenarios")
  }
}

private struct StudyDocument: Encodable {
  let study: NoiseStudy

  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: JSONName.self)
    try fields.encode(study.name.text, forKey: "name")
    try fields.encode(study.verdict.rawValue, forKey: "verdict")
    try fields.encode(EnvironmentDocument(study.result.environment), forKey: "environment")
    try fields.encode(study.repetitions, forKey: "repetitions")
    try fields.encode(study.result.repetitions.map(\.duration.asSeconds), forKey: "durationsSeconds")
    try fields.encode(study.warmup, forKey: "warmup")
    try fields.encodeOrNull(study.advisedWarmup, forKey: "advisedWarmup")
    try fields.encode(study.metrics.map(MetricNoiseDocument.init), forKey: "metrics")
    try fields.encode(GateDocument(study.result.gate), forKey: "gate")
    try fields.encode(GateDocument(study.advisedGate), forKey: "advisedGate")
    var comparison = fields.nestedContainer(keyedBy: JSONName.self, forKey: "selfComparison")
    try comparison.encodeOrNull(study.selfComparison?.verdict.rawValue, forKey: "verdict")
    try comparison.encode(study.selfComparison?.metrics.map(MetricDocument.init) ?? [], forKey: "metrics")
    try fields.encode(study.variants.map(VariantDocument.init), forKey: "variants")
    try fields.encodeIfPresent(study.result.failure.map(FailureDocument.init), forKey: "failure")
    try fields.encode(study.notes.map(\.boundedStart), forKey: "notes")
  }
}

private struct MetricNoiseDocument: Encodable {
  let noise: MetricNoise

  func encode(to encoder: any Encoder) throws {
    let metric = noise.metric
    var fields = encoder.container(keyedBy: JSONName.self)
    try fields.encode(metric.text, forKey: "name")
    try fields.encode(noise.unit, forKey: "unit")
    try fields.encode(noise.values.map { Figure($0, of: metric) }, forKey: "values")
    try fields.encode(Figure(noise.median, of: metric), forKey: "median")
    try fields.encode(Figure(noise.deviation, of: metric), forKey: "deviation")
    try fields.encodePercent(noise.percent(noise.deviation), forKey: "percent")
    try fields.encode(Figure(noise.range.lowerBound, of: metric), forKey: "lowest")
    try fields.encode(Figure(noise.range.upperBound, of: metric), forKey: "highest")
    try fields.encode(noise.detectable.map { Sight(noise: noise, sight: $0) }, forKey: "detectable")
    try fields.encode(noise.shape.unsettled, forKey: "unsettled")
    try fields.encode(noise.shape.outliers, forKey: "outliers")
    try fields.encodeOrNull(noise.shape.drift.map { Figure($0, of: metric) }, forKey: "drift")
    try fields.encodeOrNull(noise.shape.step.map { Figure($0, of: metric) }, forKey: "step")
    try fields.encodeOrNull(noise.shape.levels.map { Levels(levels: $0, metric: metric) }, forKey: "levels")
    try fields.encodeOrNull(noise.rule?.tolerance.map(noise.isQuietEnough), forKey: "quietEnough")
  }

  /// What a check of so many repetitions sees.
  private struct Sight: Encodable {
    let noise: MetricNoise
    let sight: MetricNoise.Detectable

    func encode(to encoder: any Encoder) throws {
      var fields = encoder.container(keyedBy: JSONName.self)
      try fields.encode(sight.repetitions, forKey: "repetitions")
      try fields.encode(Figure(sight.size, of: noise.metric), forKey: "rise")
      try fields.encodePercent(noise.percent(sight.size), forKey: "percent")
    }
  }

  private struct Levels: Encodable {
    let levels: NoiseShape.Levels
    let metric: MetricName

    func encode(to encoder: any Encoder) throws {
      var fields = encoder.container(keyedBy: JSONName.self)
      try fields.encode(Figure(levels.low, of: metric), forKey: "low")
      try fields.encode(Figure(levels.high, of: metric), forKey: "high")
      try fields.encode(levels.highCount, forKey: "highCount")
    }
  }
}

private struct VariantDocument: Encodable {
  let variant: NoiseVariant

  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: JSONName.self)
    let (key, value) = variant.change.setting
    try fields.encode([key: value], forKey: "isolation")
    try fields.encode(variant.repetitions, forKey: "repetitions")
    try fields.encode(variant.metrics.map(Metric.init), forKey: "metrics")
    try fields.encodeIfPresent(variant.failure.map(FailureDocument.init), forKey: "failure")
  }

  private struct Metric: Encodable {
    let metric: NoiseVariant.Metric

    func encode(to encoder: any Encoder) throws {
      let name = metric.metric
      var fields = encoder.container(keyedBy: JSONName.self)
      try fields.encode(name.text, forKey: "name")
      try fields.encode(metric.values.map { Figure($0, of: name) }, forKey: "values")
      try fields.encode(Figure(metric.median, of: name), forKey: "median")
      try fields.encode(Figure(metric.deviation, of: name), forKey: "deviation")
      try fields.encode(Figure(metric.moved, of: name), forKey: "moved")
      try fields.encode(metric.gain.rawValue, forKey: "gain")
    }
  }
}

extension KeyedEncodingContainer<JSONName> {
  /// Percentages have three decimals, for the deviation of a quiet program is a few thousandths.
  fileprivate mutating func encodePercent(_ percent: Double?, forKey key: JSONName) throws {
    try encodeOrNull(percent.map { ($0 * 1000).rounded() / 1000 }, forKey: key)
  }
}
