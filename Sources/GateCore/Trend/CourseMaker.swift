package import FoundationEssentials
import Statistics

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

  private func course(of track: ScenarioTrack, rows: [Int], environment: String, branch: String?) -> ScenarioCourse {
    let whole = CourseRows(track: track, rows: rows, inventory: inventory)
    let columns = track.columns.filter { column in rows.contains { column.points[$0] != nil } }
      .sorted { MetricRecord.isShownBefore($0.metric, $1.metric) }.prefix(Self.mostMetrics)
    let metrics = columns.map { column in
      MetricCourse(
        metric: column.metric,
        unit: column.metric.unit(perIteration: whole.last?.growthIsPerIteration ?? false),
        points: rows.map { column.points[$0] },
        steps: whole.steps(of: column),
        creep: whole.creep(of: column)
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

  private func row(_ place: Int) -> ScenarioTrack.Row { track.rows[rows[place]] }

  var last: ScenarioTrack.Row? { rows.last.map { track.rows[$0] } }

  var entries: [ScenarioCourse.Entry] {
    rows.map { place in
      let row = track.rows[place]
      return ScenarioCourse.Entry(
        run: row.run, verdict: row.verdict, troubles: row.troubles, composition: row.composition)
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

  private func environmentDifferences(at place: Int) -> [Fingerprint.Difference] {
    let (before, now) = (row(place - 1).environment, row(place).environment)
    guard before != now else { return [] }
    return inventory.environments[now].fingerprint.differences(
      fromBaseline: inventory.environments[before].fingerprint)
  }
}

// MARK: - What moved

extension CourseRows {
  /// How many of the latest runs creep is looked for in, as in each check.
  private static let creepRuns = 200

  /// The places of the runs whose figure says something of the program: of a failed one it is that of an unfinished one.
  private func sound(_ column: ScenarioTrack.Column) -> [(place: Int, point: MetricCourse.Point)] {
    rows.indices.compactMap { place in
      guard row(place).verdict != .failed, let point = column.points[rows[place]] else { return nil }
      return (place, point)
    }
  }

  private func isWatched(_ column: ScenarioTrack.Column) -> Bool {
    column.metric.isWholeBytes
      && (column.metric == .peakRSS || column.metric == .steadyRSS
        || rows.contains { column.points[$0]?.judgement != nil })
  }

  /// What the gate tolerated in its latest judgement; the standard tolerance where there is none.
  private func tolerance(of points: [MetricCourse.Point]) -> Tolerance {
    let allowed = points.lazy.compactMap { $0.judgement?.allowed }.last
    return allowed.map { .bounds(relative: nil, absolute: Bytes(clampedFrom: $0)) } ?? .standard
  }

  func steps(of column: ScenarioTrack.Column) -> [MetricCourse.Step] {
    guard isWatched(column) else { return [] }
    let sound = sound(column)
    let tolerance = tolerance(of: sound.map(\.point))
    func least(_ level: Double) -> Double { tolerance.allowed(beside: [level]) }
    let found = ChangePoints.find(in: sound.map(\.point.median), least: least)
    guard let now = found.last?.after else { return [] }
    return zip(found, found.dropFirst().map(\.index) + [sound.count]).map { step, end in
      MetricCourse.Step(
        entry: sound[step.index].place,
        before: step.before,
        after: step.after,
        chance: step.chance,
        cause: cause(of: step, in: sound[step.index..<end], least: least(step.before)),
        stands: step.after > step.before ? now > step.before + least(step.before) : now < step.before
      )
    }
  }

  /// What explains a step: a baseline of the new level that was approved with it or before the next step, or another
  /// machine from that very run on.
  private func cause(
    of step: ChangePoint,
    in stretch: ArraySlice<(place: Int, point: MetricCourse.Point)>,
    least: Double
  ) -> MetricCourse.Step.Cause? {
    guard let first = stretch.first else { return nil }
    let earlier = first.place > 0 ? row(first.place - 1).approval : nil
    for (place, point) in stretch {
      guard let approval = row(place).approval, approval != earlier, let baseline = point.judgement?.baseline else {
        continue
      }
      if abs(baseline - step.after) <= least { return .approval(inventory.approvals[approval]) }
    }
    let differences = first.place > 0 ? environmentDifferences(at: first.place) : []
    return differences.isEmpty ? nil : .environment(differences)
  }

  func creep(of column: ScenarioTrack.Column) -> CreepOfRuns? {
    guard isWatched(column) else { return nil }
    let sound = sound(column).suffix(Self.creepRuns)
    let points = sound.map { place, point in
      SeriesPoint(
        run: inventory.runs[row(place).run],
        verdict: row(place).verdict,
        record: MetricRecord(
          metric: column.metric,
          figures: .init(median: point.median, low: point.low, high: point.high, count: 1),
          judgement: point.judgement),
        approval: row(place).approval.map { inventory.approvals[$0] }
      )
    }
    return CreepOfRuns(points, tolerance: tolerance(of: sound.map(\.point)))
  }
}
