import GateCore

/// The findings on a scenario's noise as sentences.
struct NoiseFindings {
  let study: NoiseStudy
  let reported: [MetricNoise]

  /// All findings except the suggested tolerance.
  var texts: [String] {
    let (first, last) = ([selfComparison, unsettled], [quieterMetric, runtime])
    return first.compactMap(\.self) + reported.flatMap(shapes) + last.compactMap(\.self) + variants
  }

  private func amount(_ value: Double, of noise: MetricNoise) -> String {
    Format.amount(value, unit: noise.unit)
  }

  private func name(_ noise: MetricNoise) -> String { TerminalText.safe(noise.metric.text) }

  // MARK: The scenario compared with itself

  private var selfComparison: String? {
    guard let comparison = study.selfComparison, !comparison.metrics.isEmpty else { return nil }
    let later = comparison.repetitions.count
    let subject = "the last \(later) repetitions compared with the first \(study.repetitions - later)"
    let wrong = comparison.metrics.filter { $0.verdict != .pass }
    let isUnsure = comparison.metrics.contains { $0.method == .thresholds }
    guard !wrong.isEmpty else { return "\(subject): pass" + (isUnsure ? " (too few for a statistical test)" : "") }
    let reasons = wrong.map { metric in
      "\(metric.verdict.rawValue): \(TerminalText.safe(metric.reasonText ?? metric.metric.text))"
    }
    return "\(subject) should pass, but do not: \(reasons.joined(separator: "; "))"
  }

  private var unsettled: String? {
    guard let warmup = study.advisedWarmup else { return nil }
    let metrics = study.metrics.filter { $0.shape.unsettled > 0 }
    let count = warmup - study.warmup
    let first = count == 1 ? "the first repetition differs" : "the first \(count) repetitions differ"
    return "\(first) from the rest in \(metrics.map(name).joined(separator: ", ")); write `warmup:"
      + "\(Format.space)\(warmup)`"
  }

  private func shapes(of noise: MetricNoise) -> [String] {
    var sentences: [String] = []
    if let levels = noise.shape.levels {
      sentences.append(
        "\(name(noise)) jumps between \(amount(levels.low, of: noise)) and \(amount(levels.high, of: noise)) "
          + "(\(levels.highCount) of \(noise.values.count) at the higher level): the detectable rises above are within one "
          + "level, as a check with a baseline of 10 or more compares them"
      )
    }
    if let drift = noise.shape.drift {
      sentences.append(
        "\(name(noise)) drifts by \(Format.difference(drift, unit: noise.unit)) from the first repetition to the last: "
          + "a repetition may leave files or caches to the next one, or the machine changes"
      )
    }
    if let step = noise.shape.step {
      sentences.append(
        "\(name(noise)) moves in steps of \(amount(step, of: noise)) or more: a smaller change is missed, or shows as "
          + "a whole step"
      )
    }
    if noise.shape.outliers > 0 {
      let range = [noise.range.lowerBound, noise.range.upperBound].map { $0 - noise.median }
      let furthest = range.max { abs($0) < abs($1) } ?? 0
      sentences.append(
        "\(noise.shape.outliers) of \(noise.values.count) values of \(name(noise)) are outliers (up to "
          + "\(Format.difference(furthest, unit: noise.unit)))"
      )
    }
    return sentences
  }

  private var quieterMetric: String? {
    guard let (quiet, noisy) = study.quieterMetric else { return nil }
    let shares = [quiet, noisy].map { $0.share($0.deviation) }
    return "\(name(quiet)) is much quieter than \(name(noisy)) (\(shares[0]) of its level, against \(shares[1]))"
  }

  /// How to make a program with a garbage collector repeatable; nil if the program is quiet.
  private var runtime: String? {
    guard let runtime = study.runtime, study.isWidened || !study.tooNoisy.isEmpty else { return nil }
    return "the program runs on \(runtime.name), whose collector decides when memory is freed: \(runtime.settings), "
      + "and gate the live heap, which the program reports after a collection as `value.live_heap` (recipe: "
      + "garbage-collected.md)"
  }

  // MARK: Other settings

  private var variants: [String] {
    let settings = study.variants.filter { !$0.change.isOfProject }
    let quieter = settings.compactMap { variant in
      gains(.quieter, by: variant).map {
        "quieter with \(setting(variant)): \($0) (another environment: approve again)"
      }
    }
    let perhaps = settings.compactMap { variant in
      gains(.perhaps, by: variant).map {
        "perhaps quieter with \(setting(variant)) (more repetitions needed): \($0)"
      }
    }
    let failing = study.variants.compactMap { variant in
      variant.failure.map { failure in
        "fails with \(setting(variant)): " + TerminalText.safe(failure.displayText)
      }
    }
    let others = settings.filter { variant in
      variant.failure == nil && reported.allSatisfy { variant[$0.metric].map { $0.gain == .same } ?? true }
    }
    let names = others.map { Format.glued("`\($0.change.text)`") }.joined(separator: ", ")
    let same = names.isEmpty ? [] : ["not much quieter with \(names)"]
    return quieter + perhaps + failing + same + study.variants.compactMap(sideBySide)
  }

  private func setting(_ variant: NoiseVariant) -> String {
    let text = variant.change.text
    return Format.glued(variant.change.isOfProject ? "`\(text)`" : "`isolation: {\(text)}`")
  }

  /// What the scenarios that a check measures at the same time change; nil for other settings.
  private func sideBySide(_ variant: NoiseVariant) -> String? {
    guard variant.change.isOfProject, variant.failure == nil else { return nil }
    let parts = reported.compactMap { noise -> String? in
      guard let metric = variant[noise.metric], metric.isDisturbed else { return nil }
      let (before, now) = (amount(noise.deviation, of: noise), amount(metric.deviation, of: noise))
      let percent = Format.bracketedPercent(noise.percent(metric.moved))
      let moved = Format.difference(metric.moved, unit: noise.unit)
      return "the level of \(name(noise)) changes by \(moved)\(percent), its deviation is \(now) instead of \(before)"
    }
    guard !parts.isEmpty else { return "the same with \(setting(variant)), beside copies of itself" }
    return "disturbed with \(setting(variant)): \(parts.joined(separator: "; ")); write "
      + Format.glued("`exclusive: true`")
  }

  /// The gain of a setting in this degree and its other effects; nil if no metric has such a gain.
  private func gains(_ degree: Quietness, by variant: NoiseVariant) -> String? {
    let parts = reported.compactMap { noise -> String? in
      guard let metric = variant[noise.metric], metric.gain == degree else { return nil }
      let (before, now) = (amount(noise.deviation, of: noise), amount(metric.deviation, of: noise))
      let gain = "the standard deviation of \(name(noise)) drops from \(before) to \(now)"
      guard let least = noise.detectable.first?.size, abs(metric.moved) > least else { return gain }
      let percent = Format.bracketedPercent(noise.percent(metric.moved))
      return "\(gain), and its level changes by \(Format.difference(metric.moved, unit: noise.unit))\(percent)"
    }
    return parts.isEmpty ? nil : parts.joined(separator: "; ")
  }

  // MARK: The tolerance

  /// The sentence above the gate to copy.
  var advice: String {
    if study.gated.contains(where: { $0.shape.drift != nil }) {
      return "tolerances for this noise (without the drift, smaller ones may be enough):"
    }
    if !study.tooNoisy.isEmpty { return "tolerances for this noise:" }
    let usual = "the default \(study.standardSuffices ? "works, too" : "is too tight")"
    return "tightest tolerances for this noise (\(usual)):"
  }
}

extension CollectedRuntime {
  var name: String {
    switch self {
    case .go: "Go"
    case .java: "Java"
    case .node: "Node.js"
    case .python: "Python"
    }
  }

  /// The settings whose effect garbage-collected.md shows.
  var settings: String {
    switch self {
    case .go: "set `GOGC=off` and a `GOMEMLIMIT`"
    case .java: "run it with a fixed heap (`-Xms` as large as `-Xmx`), `-XX:+UseSerialGC` and `-XX:TieredStopAtLevel=1`"
    case .node: "run it with `--max-semi-space-size=1`"
    case .python: "set `PYTHONMALLOC=malloc` and `MALLOC_ARENA_MAX=1`"
    }
  }
}
