import Dispatch
package import FoundationEssentials
import Statistics
import Synchronization

/// Makes the courses of a trend from what the history has of each scenario.
package struct CourseMaker: Sendable {
  private let inventory: TrendInventory
  private let branches: ShownBranches

  /// Metrics of one scenario that are shown; a target can name phases without end.
  private static let mostMetrics = 40

  package init(_ inventory: TrendInventory) {
    self.inventory = inventory
    branches = ShownBranches(of: inventory.runs)
  }

  /// The trend of these courses, which name runs by their places in the inventory.
  package func trend(of courses: [ScenarioCourse], madeAt date: Date, links: BuildLinks) -> Trend {
    let used = Set(courses.lazy.flatMap { $0.entries.lazy.map(\.run) }).sorted()
    let places = Dictionary(uniqueKeysWithValues: zip(used, 0...))
    var courses = courses
    for course in courses.indices {
      for entry in courses[course].entries.indices {
        guard let place = places[courses[course].entries[entry].run] else { continue }
        courses[course].entries[entry].run = place
      }
    }
    return Trend(
      madeAt: date, links: links, runs: used.map { inventory.runs[$0] }, runCount: inventory.runs.count,
      courses: courses, hiddenBranches: branches.hiddenCount
    )
  }

  /// The courses of several scenarios, made at once on all CPUs, in the order of the tracks.
  package func courses(of tracks: [ScenarioTrack]) -> [ScenarioCourse] {
    let made = Mutex([[ScenarioCourse]](repeating: [], count: tracks.count))
    DispatchQueue.concurrentPerform(iterations: tracks.count) { place in
      let courses = courses(of: tracks[place])
      made.withLock { $0[place] = courses }
    }
    return made.withLock { $0.flatMap(\.self) }
  }

  /// A scenario's courses: one for each environment and branch in which it ran, of those branches that are shown.
  package func courses(of track: ScenarioTrack) -> [ScenarioCourse] {
    var groups: [String: [String?: [Int]]] = [:]
    for (place, row) in track.rows.enumerated() {
      groups[inventory.environments[row.environment].name, default: [:]][inventory.runs[row.run].branch, default: []]
        .append(place)
    }
    return groups.sorted { $0.key < $1.key }.flatMap { environment, byBranch in
      branches.names.compactMap { branch in
        byBranch[branch].map { course(of: track, rows: $0, environment: environment, branch: branch) }
      }
    }
  }

  /// Those with a figure in any of the rows; of a metric that targets reported in several units, the latest unit's.
  private static func columns(of track: ScenarioTrack, in rows: [Int]) -> [ScenarioTrack.Column] {
    let known = track.columns.compactMap { column in
      rows.last { column[$0] != nil }.map { (column: column, last: $0) }
    }
    return Dictionary(grouping: known, by: \.column.metric).values.compactMap { same in
      same.max { $0.last < $1.last }?.column
    }
  }

  private func course(of track: ScenarioTrack, rows: [Int], environment: String, branch: String?) -> ScenarioCourse {
    let whole = CourseRows(track: track, rows: rows, inventory: inventory)
    let columns = Self.columns(of: track, in: rows).sorted { MetricName.isListedBefore($0.metric, $1.metric) }
      .prefix(Self.mostMetrics)
    let metrics = columns.map { column in
      let moves = CourseMoves(of: column, in: whole)
      return MetricCourse(
        metric: column.metric,
        unit: column.metric.unit(perIteration: whole.last?.growthIsPerIteration ?? false, reported: column.reported),
        points: rows.map { column[$0] },
        steps: moves?.steps ?? [],
        creep: moves?.creep
      )
    }
    let course = ScenarioCourse(
      name: track.name,
      tags: whole.last?.tags ?? [],
      environment: environment,
      branch: branch,
      growthIsPerIteration: whole.last?.growthIsPerIteration ?? false,
      runCount: rows.count,
      entries: whole.entries,
      metrics: metrics,
      approvals: whole.approvals,
      environmentChanges: whole.environmentChanges
    )
    return course.thinned()
  }
}

/// The rows of one course, and what is found in them.
private struct CourseRows {
  let track: ScenarioTrack
  /// Places in the track, in the order of time.
  let rows: [Int]
  let inventory: TrendInventory

  func row(_ place: Int) -> ScenarioTrack.Row { track.rows[rows[place]] }

  var last: ScenarioTrack.Row? { rows.last.map { track.rows[$0] } }

  var entries: [ScenarioCourse.Entry] {
    rows.map { place in
      let row = track.rows[place]
      return ScenarioCourse.Entry(
        run: row.run, verdict: row.verdict, failedRepetitions: row.failedRepetitions, composition: row.composition)
    }
  }

  var approvals: [ScenarioCourse.Approved] {
    var known: Int?
    return rows.indices.compactMap { place in
      guard let approval = row(place).approval, approval != known else { return nil }
      known = approval
      return ScenarioCourse.Approved(entry: place, approval: inventory.approvals[approval])
    }
  }

  var environmentChanges: [ScenarioCourse.EnvironmentChange] {
    rows.indices.dropFirst().compactMap { place in
      let differences = environmentDifferences(at: place)
      return differences.isEmpty ? nil : ScenarioCourse.EnvironmentChange(entry: place, differences: differences)
    }
  }

  func environmentDifferences(at place: Int) -> [Fingerprint.Difference] {
    let (before, now) = (row(place - 1).environment, row(place).environment)
    guard before != now else { return [] }
    return inventory.environments[now].fingerprint.differences(
      fromBaseline: inventory.environments[before].fingerprint)
  }
}

// MARK: - What moved

/// How one metric moved in a course: by steps, and by creep between them.
private struct CourseMoves {
  private let rows: CourseRows
  private let metric: MetricName
  /// The runs whose figure says something of the program: that of a failed one is of an unfinished program.
  private let places: [Int]
  private let points: [MetricCourse.Point]
  private let found: [ChangePoint]
  private let tolerance: Tolerance

  /// How many of the latest runs creep is looked for in, as in each check.
  private static let creepRuns = 200

  /// Nil where nobody watches the metric: it is not judged, and is neither peak nor steady state.
  init?(of column: ScenarioTrack.Column, in rows: CourseRows) {
    guard !column.metric.isRate, column.isJudged || column.metric == .peakRSS || column.metric == .steadyRSS else {
      return nil
    }
    let sound = rows.rows.indices.compactMap { place in
      rows.row(place).verdict == .failed ? nil : column[rows.rows[place]].map { (place, $0) }
    }
    self.rows = rows
    metric = column.metric
    places = sound.map(\.0)
    points = sound.map(\.1)
    // What the gate tolerated in its latest judgement; the standard tolerance where there is none.
    let allowed = points.lazy.compactMap { $0.judgement?.allowed }.last
    let tolerance = allowed.map { Tolerance.bounds(relative: nil, absolute: .number($0)) } ?? .standard
    found = ChangePoints.find(in: points.map(\.median)) { tolerance.allowed(above: [$0]) }
    self.tolerance = tolerance
  }

  private func least(_ level: Double) -> Double { tolerance.allowed(above: [level]) }

  var steps: [MetricCourse.Step] {
    let standing = Set(ChangePoints.standing(found, least: least).map(\.index))
    let now = found.last?.after ?? 0
    return zip(found, found.dropFirst().map(\.index) + [points.count]).map { step, end in
      MetricCourse.Step(
        entry: places[step.index],
        before: step.before,
        after: step.after,
        chance: step.chance,
        cause: cause(of: step, until: end),
        stands: step.rise > 0 ? standing.contains(step.index) : now < step.before
      )
    }
  }

  /// What explains a step: a baseline of the new level that was approved with it or before the next step, or another
  /// machine from that very run on.
  private func cause(of step: ChangePoint, until end: Int) -> MetricCourse.Step.Cause? {
    let first = places[step.index]
    let earlier = first > 0 ? rows.row(first - 1).approval : nil
    for index in step.index..<end {
      guard let approval = rows.row(places[index]).approval, approval != earlier,
        let baseline = points[index].judgement?.baseline
      else { continue }
      if abs(baseline - step.after) <= least(step.before) { return .approval(rows.inventory.approvals[approval]) }
    }
    let differences = first > 0 ? rows.environmentDifferences(at: first) : []
    return differences.isEmpty ? nil : .environment(differences)
  }

  /// What is left to rise once the steps are taken out; nil where that is within the tolerance.
  var creep: Creep? {
    let latest = points.indices.suffix(Self.creepRuns)
    let series = latest.map { index in
      let (row, point) = (rows.row(places[index]), points[index])
      return SeriesPoint(
        run: rows.inventory.runs[row.run],
        verdict: row.verdict,
        metric: MetricResult(
          rule: GateRule(metric: metric, tolerance: nil),
          unit: "",
          verdict: point.judgement?.verdict ?? .skipped,
          baseline: point.judgement?.baseline.map { ValueSummary(median: $0, count: 1) },
          current: ValueSummary(median: point.median, count: 1)),
        approval: row.approval.map { rows.inventory.approvals[$0] }
      )
    }
    return Creep(over: series, tolerance: tolerance)
  }
}
