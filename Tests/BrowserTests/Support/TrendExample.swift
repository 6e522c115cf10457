import Foundation

@testable import GateCore

/// A reproducible history of several months.
///
/// It has several branches and machines, approved and unapproved steps, creep, crashes and noise.
struct TrendExample {
  private var state: UInt64 = 2026
  private var runs: [RunInfo] = []

  private static let day = 86_400.0
  private static let start = Date(timeIntervalSince1970: 1_767_323_045)
  private static let names = [
    "api-gateway-boot", "redis-load", "redis-expire", "postgres-bulk-insert", "nginx-static", "parser-large-file",
    "indexer-cold", "indexer-warm", "search[shards=1]", "search[shards=8]", "compactor", "importer-csv",
    "importer-json", "session-churn", "thumbnailer", "mail-queue", "scheduler-idle", "websocket-fanout",
    "cache-eviction", "report-pdf",
  ]
  private static let commitSubjects = [
    "Keep the index in one arena", "Bump the TLS library", "Cache parsed templates per worker",
    "Fix the paging of results",
    "Read files in chunks of 64 KiB", "Add a metric of queue depth", "Drop the second copy of the payload",
    "Intern header names", "Update the CI image", "Rename things", "Retry with a budget", "Pool the connections",
  ]

  /// Scenarios on the main branch; some also run on another branch or machine.
  static func trend(scenarios: Int = 20, length: Int = 200) -> Trend {
    var example = TrendExample()
    example.runs =
      (0..<length).map { example.run($0, branch: "main") }
      + (0..<12).map { example.run(length - 12 + $0, branch: "lru-cache") }
    var all: [ScenarioSeries] = []
    for index in 0..<scenarios {
      let name = index < names.count ? names[index] : "scenario-\(index)"
      all.append(example.series(index, name, runs: Array(0..<length)))
      if index.isMultiple(of: 5) { all.append(example.branchSeries(index, name, from: length)) }
      if index == 1 {
        var other = example.series(12, name, runs: Array(stride(from: 0, to: length, by: 4)))
        other.environment = "linux-aarch64-4cpu-traced"
        all.append(other)
      }
    }
    var trend = Trend(
      createdAt: Date(timeIntervalSince1970: 1_795_000_000),
      links: BuildLinks(commit: "https://git.example/highwater/commit/{commit}"),
      runs: example.runs, runCount: length * 2 + 31, series: all, hiddenBranches: 3)
    trend.findEvents()
    return trend
  }

  /// A trend with this text in each field that comes from users or targets.
  static func hostile(_ text: String) -> Trend {
    var trend = trend(scenarios: 2, length: 20)
    trend.links.commit = text
    trend.runs = trend.runs.map { run in
      RunInfo(
        id: run.id, startedAt: run.startedAt, commit: text, subject: text, branch: text, buildURL: text)
    }
    let approval = Approval(at: start, by: text, commit: text, reason: text, run: text)
    let change = Fingerprint.Difference(field: .kernel, baseline: text, current: text)
    for index in trend.series.indices {
      var series = trend.series[index]
      series.name = ScenarioName(text)
      series.tags = [text]
      series.environment = text
      series.branch = text
      series.approvals = [.init(index: 3, approval: approval)]
      series.environmentChanges = [.init(index: 2, differences: [change])]
      series.runs[3].failedRepetitions = [
        .init(number: 1, end: End(.crash, proof: .kernelLog(line: text), cause: .fatalError(line: text)))
      ]
      for place in series.metrics.indices {
        series.metrics[place].shifts = [
          .init(
            index: 2, before: 1e6, after: 2e6, chance: 0.02, explanation: .environment([change]), persists: true),
          .init(
            index: 4, before: 1e6, after: 2e6, chance: 0.2, explanation: .approval(approval), persists: true),
        ]
      }
      series.metrics.append(
        MetricSeries(metric: .phase(text, .peakRSS), unit: "bytes", points: series.metrics[0].points))
      trend.series[index] = series
    }
    trend.findEvents()
    return trend
  }

  /// A number from 0 to 1, from Numerical Recipes' linear congruential generator.
  private mutating func random() -> Double {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Double(state >> 33) / Double(1 << 31)
  }

  private mutating func run(_ index: Int, branch: String) -> RunInfo {
    let digits = (0..<5).map { _ in String(Int(random() * 0xffff_ffff), radix: 16) }.joined()
    let id = "0198c0de-0000-7000-8000-\(String(1_000_000_000_000 + index * 7 + (branch == "main" ? 0 : 3)))"
    return RunInfo(
      id: id,
      startedAt: Self.start + Double(index) * Self.day * 1.4 + (branch == "main" ? 0 : 3600) + random() * 30_000,
      commit: String((digits + "0123456789abcdef0123456789abcdef01234567").prefix(40)), isDirty: index == 1,
      subject: Self.commitSubjects[Int(random() * Double(Self.commitSubjects.count))],
      branch: branch, buildURL: "https://ci.example/builds/\(4000 + index)")
  }

  private func approval(_ entry: Int, by: String, _ reason: String?) -> Approval {
    Approval(
      at: runs[entry].startedAt, by: by, commit: runs[entry].commit, reason: reason, run: runs[entry].id)
  }

  /// A series whose shape depends on its index.
  private mutating func series(_ index: Int, _ name: String, runs places: [Int]) -> ScenarioSeries {
    let count = places.count
    let level = [23.0, 8, 11, 190, 12, 340, 64, 71, 48, 92][index % 10] * 1_048_576
    let shape = Shape(rawValue: index % 10) ?? .flat
    let (step, approved) = (count * 3 / 5, count * 3 / 5 + 2)
    let approvals =
      [approval(places[0], by: "Ada Byron", "first measurements")]
      + (shape == .approvedStep ? [approval(places[approved], by: "Grace Hopper", "the new cache is worth 3 MiB")] : [])
    var levels = (0..<count).map { entry in level * shape.factor(entry, of: count, step: step) }
    if shape == .crash { levels[count - 2] *= 0.4 }
    let base = (0..<count).map { shape == .approvedStep && $0 >= approved ? levels[step] : level }
    let metrics = Self.metrics(index).map { metric, share in
      self.metric(metric, share: share, levels: levels, base: base, shape: shape, step: step, approval: approvals.last)
    }
    let entries = (0..<count).map { entry in
      let peak = metrics[0].points[entry]
      let hasCrashed = shape == .crash && (entry == count - 2 || entry == count / 3)
      let oom = hasCrashed && entry != count / 3
      return ScenarioSeries.Run(
        index: places[entry],
        verdict: hasCrashed ? .failed : peak?.judgement?.verdict ?? .pass,
        failedRepetitions: hasCrashed
          ? [
            .init(
              number: 2,
              end: oom
                ? End(.oom, proof: .kernelLog(line: "memory.events"), oomKills: 1)
                : End(.crash, signal: Signal(number: 11)))
          ]
          : [],
        composition: Self.composition(peak?.median ?? 0))
    }
    let change = Fingerprint.Difference(field: .libc, baseline: "glibc 2.36", current: "glibc 2.41")
    return ScenarioSeries(
      name: ScenarioName(name), tags: index % 3 == 0 ? ["server", "nightly"] : index % 3 == 1 ? ["server"] : ["batch"],
      environment: "linux-x86_64-2cpu-traced", branch: "main", growthIsPerIteration: true, runCount: count * 2,
      runs: entries, metrics: metrics,
      approvals: approvals.enumerated().map { .init(index: $0 == 0 ? 0 : approved, approval: $1) },
      environmentChanges: [.init(index: count / 4, differences: [change])])
  }

  private mutating func branchSeries(_ index: Int, _ name: String, from first: Int) -> ScenarioSeries {
    var series = series(index + 1, name, runs: Array(first..<first + 12))
    series.branch = "lru-cache"
    return series
  }

  private enum Shape: Int {
    case openStep, approvedStep, flat, creep, fall, crash, environmentStep, noisy, regression, gone

    func factor(_ entry: Int, of count: Int, step: Int) -> Double {
      switch self {
      case .openStep: entry >= count * 4 / 5 ? 1.024 : 1
      case .approvedStep: entry >= step ? 1.37 : 1
      case .flat, .crash: 1
      case .noisy: 1
      case .creep: 1 + 0.025 * Double(entry) / Double(count)
      case .fall: entry >= step ? 0.87 : 1
      case .environmentStep: entry >= count / 4 ? 1.018 : 1
      case .regression: entry >= count - 3 ? 1.083 : 1
      case .gone: entry >= count / 2 && entry < step ? 1.06 : 1
      }
    }
  }

  private static func metrics(_ index: Int) -> [(MetricName, Double)] {
    let whole: [(MetricName, Double)] = [
      (.peakRSS, 1), (.steadyRSS, 0.91), (.growth, 0), (.spike, 0.08), (.treePeak, 1.24),
    ]
    let own: [(MetricName, Double)] =
      index == 2 ? [(.value("cache.entries"), 1e-4), (.value("queue.wait"), 1.1e-9)] : []
    return whole + own + (index % 4 == 0 ? [(.phase("load", .peakRSS), 0.97), (.phase("drain", .steadyRSS), 0.6)] : [])
  }

  private mutating func metric(
    _ name: MetricName, share: Double, levels: [Double], base: [Double], shape: Shape, step: Int,
    approval: Approval?
  ) -> MetricSeries {
    let noise = shape == .noisy ? 0.02 : 0.0012
    let points = levels.indices.map { entry -> MetricSeries.Point? in
      if name == .steadyRSS, shape == .noisy, entry % 9 == 4 { return nil }
      let middle =
        name == .growth
        ? random() * 80 - 30 : Self.round(levels[entry] * share * (1 + (random() - 0.5) * noise * 2), name)
      let spread = name == .growth ? 40 : Self.round(levels[entry] * share * noise * (0.5 + random()), name)
      return .init(
        median: middle, low: middle - spread, high: middle + spread,
        judgement: judgement(name, middle, base[entry] * share))
    }
    let size = points.count
    let isWhole = name.isWholeBytes && share > 0.5
    return MetricSeries(
      metric: name, unit: name.unit(perIteration: true, reported: share > 1e-6 ? "items" : "seconds"), points: points,
      shifts: isWhole ? shifts(shape, size, step, points: points, approval: approval) : [],
      creep: shape == .creep && isWhole ? creep(name, points) : nil)
  }

  private func judgement(_ name: MetricName, _ value: Double, _ base: Double) -> MetricSeries.Judgement? {
    switch name {
    case .peakRSS, .steadyRSS:
      let allowed = max(base * 0.03, 524_288)
      let verdict: Verdict = value > base + allowed ? .regression : value < base - allowed ? .improved : .pass
      return .init(
        verdict: verdict, baseline: base, allowed: allowed,
        limit: base < 2e7 ? 32 * 1_048_576 : nil)
    case .growth: return .init(verdict: .pass, limit: 1024)
    case .value("cache.entries"):
      return .init(verdict: .pass, baseline: base, allowed: base * 0.03, limit: 1200)
    default: return nil
    }
  }

  private func shifts(
    _ shape: Shape, _ count: Int, _ step: Int, points: [MetricSeries.Point?], approval: Approval?
  ) -> [LevelShift] {
    func made(_ entry: Int, _ explanation: LevelShift.Explanation?, persists: Bool = true) -> [LevelShift] {
      guard let before = points[entry - 1]?.median, let after = points[entry]?.median else { return [] }
      return [
        .init(
          index: entry, before: before, after: after, chance: 0.00003, explanation: explanation, persists: persists)
      ]
    }
    let libc = Fingerprint.Difference(field: .libc, baseline: "glibc 2.36", current: "glibc 2.41")
    return switch shape {
    case .openStep: made(count * 4 / 5, nil)
    case .approvedStep: made(step, approval.map { .approval($0) })
    case .fall: made(step, nil, persists: false)
    case .environmentStep: made(count / 4, .environment([libc]))
    case .regression: made(count - 3, nil)
    case .gone: made(count / 2, nil, persists: false) + made(step, nil, persists: false)
    case .flat, .creep, .crash, .noisy: []
    }
  }

  private func creep(_ name: MetricName, _ points: [MetricSeries.Point?]) -> Creep? {
    let series = points.indices.compactMap { entry in
      points[entry].map { point in
        SeriesPoint(
          run: runs[entry], verdict: .pass,
          metric: MetricResult(
            rule: GateRule(metric: name, tolerance: nil), unit: "bytes", verdict: .pass,
            current: ValueSummary(median: point.median, count: 5), allowed: point.median * 0.01))
      }
    }
    return Creep(over: series)
  }

  /// Rounds to whole pages, whole items, and microseconds.
  private static func round(_ value: Double, _ name: MetricName) -> Double {
    guard name.isValue else { return page(value) }
    return value > 1 ? value.rounded() : (value * 1e6).rounded() / 1e6
  }

  private static func page(_ value: Double) -> Double {
    (value / 4096).rounded() * 4096
  }

  private static func composition(_ peak: Double) -> Composition {
    func part(_ share: Double) -> Bytes { Bytes(Int64(page(peak * share))) }
    return Composition(
      anonymous: part(0.72), file: part(0.22), shared: part(0.04), stack: .kibibytes(132), heap: part(0.58))
  }
}
