package import FoundationEssentials

/// The decision that an event needs no attention, with its reason.
///
/// It names the commits and the scenarios of the event, not its ID: more runs may shift the date of an event.
package struct Acknowledgement: Sendable, Hashable, Codable {
  package var kind: TrendEvent.Kind
  package var branch: String?
  /// The commit after the event, or the ID of the run without one.
  package var after: String
  package var scenarios: [ScenarioName]
  package var at: Date
  package var by: String
  package var reason: String

  /// Acknowledges an event as it is now.
  package init(of event: TrendEvent, at: Date, by: String, reason: String) {
    (kind, branch, after) = (event.kind, event.branch, event.after.commit ?? event.after.id)
    scenarios = event.scenarios.sorted()
    (self.at, self.by, self.reason) = (at, by, reason)
  }

  /// Whether both are of one event, as if it was acknowledged twice.
  package func isOfSameEvent(as other: Acknowledgement) -> Bool {
    kind == other.kind && branch == other.branch && after == other.after && !isDisjoint(with: other.scenarios)
  }

  fileprivate func isDisjoint(with names: [ScenarioName]) -> Bool { Set(scenarios).isDisjoint(with: names) }
}

extension Trend {
  /// The number of commits by which more runs can shift the date of an event.
  private static let longestShift = 2

  /// Marks the events that were acknowledged: each acknowledgement counts for one event, the nearest of its kind that
  /// changed one of its scenarios.
  package mutating func apply(_ acknowledgements: [Acknowledgement]) {
    for (branch, acknowledgements) in Dictionary(grouping: acknowledgements, by: \.branch) {
      let commits = BranchCommits(of: branch, in: runs)
      for acknowledgement in acknowledgements {
        guard let commit = commits.position(of: acknowledgement.after) else { continue }
        let distances = events.indices.compactMap { index in
          distance(of: events[index], from: acknowledgement, at: commit, commits).map { (index: index, distance: $0) }
        }
        guard let nearest = distances.min(by: { $0.distance < $1.distance }) else { continue }
        mark(nearest.index, acknowledgement)
      }
    }
  }

  /// The events that need attention, of which an earlier trend had none: what the runs since then have shown.
  package func news(since earlier: Trend) -> [TrendEvent] {
    var known = self
    known.apply(earlier.events.map { Acknowledgement(of: $0, at: earlier.createdAt, by: "", reason: "") })
    return known.events.filter(\.needsAttention)
  }

  /// Marks an event, and its steps that nothing else explains.
  private mutating func mark(_ event: Int, _ acknowledgement: Acknowledgement) {
    events[event].acknowledgement = acknowledgement
    for change in events[event].changes {
      let metrics = series[change.series].metrics
      guard let metric = metrics.firstIndex(where: { $0.metric == change.metric }),
        let shift = metrics[metric].shifts.firstIndex(where: { $0.index == change.run && $0.explanation == nil })
      else { continue }
      series[change.series].metrics[metric].shifts[shift].explanation = .acknowledgement(acknowledgement)
    }
  }

  /// The number of commits between an event and an acknowledgement; nil if it cannot be of this event.
  private func distance(
    of event: TrendEvent, from acknowledgement: Acknowledgement, at commit: Int, _ commits: BranchCommits
  ) -> Int? {
    let kinds = Set([event.kind, acknowledgement.kind])
    guard event.branch == acknowledgement.branch, kinds.count == 1 || kinds.contains(.mixed),
      !acknowledgement.isDisjoint(with: event.scenarios),
      let last = commits.position(of: event.after.commit ?? event.after.id)
    else { return nil }
    let first = event.before.flatMap { commits.position(of: $0.commit ?? $0.id) }.map { $0 + 1 } ?? last
    let distance = max(first - commit, commit - last, 0)
    return distance <= Self.longestShift ? distance : nil
  }
}
