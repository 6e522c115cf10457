extension ScenarioCourse {
  /// The latest runs are all shown.
  private static let wholeRuns = 240
  /// Older ones are divided into this many stretches of equal length.
  private static let stretches = 80

  /// The course with at most some 600 entries, however many runs there were.
  ///
  /// Of each stretch of older runs those stay that have the least and the most of a metric that the gate watches (of peak
  /// and steady state where it watches none); so does each first run of a step and the run before it, each first run of a
  /// baseline or of another machine, and the ends that were not clean. What goes is folded into the next entry's ranges,
  /// so that no metric loses a peak.
  func thinned() -> ScenarioCourse {
    guard entries.count > Self.wholeRuns + 4 * Self.stretches else { return self }
    let kept = keptPlaces()
    var places = [Int](repeating: 0, count: entries.count)
    for (new, old) in kept.enumerated() { places[old] = new }
    var course = self
    course.entries = zip(kept, [-1] + kept).map { place, before in
      var entry = entries[place]
      entry.folded = place - before - 1
      return entry
    }
    course.metrics = metrics.map { $0.thinned(to: kept, places: places) }
    for index in course.approvals.indices { course.approvals[index].entry = places[approvals[index].entry] }
    for index in course.environmentChanges.indices {
      course.environmentChanges[index].entry = places[environmentChanges[index].entry]
    }
    return course
  }

  /// In rising order.
  private func keptPlaces() -> [Int] {
    let old = entries.count - Self.wholeRuns
    var kept = Set(old..<entries.count)
    for stretch in 0..<Self.stretches {
      let range = stretch * old / Self.stretches..<(stretch + 1) * old / Self.stretches
      for metric in watched { kept.formUnion(metric.extremes(in: range)) }
    }
    kept.formUnion(metrics.flatMap { $0.steps.flatMap { [max(0, $0.entry - 1), $0.entry] } })
    kept.formUnion(approvals.map(\.entry))
    kept.formUnion(environmentChanges.map(\.entry))
    // A program that fails for years says nothing more with each run of it.
    let troubled = entries.indices.filter { !entries[$0].failedRepetitions.isEmpty }
    kept.formUnion(troubled.prefix(100))
    kept.formUnion(troubled.suffix(100))
    return kept.sorted()
  }

  private var watched: [MetricCourse] {
    let judged = metrics.filter { metric in metric.points.contains { $0?.judgement != nil } }
    return judged.isEmpty ? metrics.filter { [.peakRSS, .steadyRSS].contains($0.metric) } : Array(judged.prefix(3))
  }
}

extension MetricCourse {
  /// Where the least and the most of a stretch are.
  fileprivate func extremes(in range: Range<Int>) -> [Int] {
    let known = range.filter { points[$0] != nil }
    func median(_ place: Int) -> Double { points[place]?.median ?? 0 }
    return [known.min { median($0) < median($1) }, known.max { median($0) < median($1) }].compactMap(\.self)
  }

  fileprivate func thinned(to kept: [Int], places: [Int]) -> MetricCourse {
    var course = self
    course.points = zip(kept, [-1] + kept).map { place, before in
      guard var point = points[place] else { return nil }
      for folded in points[(before + 1)..<place].lazy.compactMap(\.self) {
        point.low = min(point.low, folded.low)
        point.high = max(point.high, folded.high)
      }
      return point
    }
    for index in course.steps.indices { course.steps[index].entry = places[steps[index].entry] }
    return course
  }
}
