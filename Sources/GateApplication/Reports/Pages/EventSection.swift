import FoundationEssentials
import GateCore

/// The events of a trend as HTML, for the page's template.
struct EventSection {
  let trend: Trend

  /// A quarter has about a dozen events: those with the most scenarios, and as many of the newest.
  private static let mostLargest = 6
  private static let mostNewest = 6
  /// Of an event with many scenarios, the largest changes are listed.
  private static let mostChanges = 20

  private static let template = PageTemplate("event")

  var values: [String: Any] {
    let main = mainEvents
    let others = items { !main.contains($0) }
    return [
      "hasEvents": !trend.events.isEmpty, "events": items(where: main.contains),
      "hasOthers": !others.isEmpty, "othersCount": Format.count(others.count, "other event"), "others": others,
      "choices": trend.events.map(choice),
      "setAside": trend.setAside.isEmpty ? [] : [setAsideText],
    ]
  }

  private func items(where isWanted: (Int) -> Bool) -> [String] {
    trend.events.indices.filter(isWanted).map { Self.template.render(values(of: trend.events[$0])) }
  }

  /// The indices of the events that are not folded away.
  private var mainEvents: Set<Int> {
    let counts = trend.events.map(\.scenarios.count)
    let bySize = trend.events.indices.sorted { (counts[$1], $0) < (counts[$0], $1) }
    let largest = Set(bySize.prefix(Self.mostLargest))
    return largest.union(trend.events.indices.filter { !largest.contains($0) }.prefix(Self.mostNewest))
  }

  /// An event in the list by which scenarios are filtered.
  private func choice(_ event: TrendEvent) -> [String: Any] {
    let text = "\(event.whenText) \(event.kind.rawValue) \(event.sizeText), \(event.scopeText)"
    return ["id": PageWords.shown(event.id), "text": PageWords.shown(text)]
  }

  private func values(of event: TrendEvent) -> [String: Any] {
    let changes = event.mainChanges
    let others = changes.count - Self.mostChanges
    let commands = [event.logCommand, event.bisectCommand].compactMap(\.self)
    return [
      "id": PageWords.shown(event.id), "attention": event.needsAttention,
      "when": event.whenText, "kind": event.kind.rawValue, "sign": event.sign,
      "style": event.kind.rawValue, "size": event.sizeText, "scope": PageWords.breakable(event.scopeText),
      "largest": changes.count > 1 ? changes.first?.largestText ?? "" : "",
      "cause": PageWords.shown(event.causeText),
      "commit": PageWords.shown(event.start.commitText() ?? "–"),
      "link": [PageWords.link(toCommit: event.start.commit, by: trend.links)].compactMap(\.self),
      "subject": PageWords.shown(event.start.subject ?? ""), "origin": PageWords.shown(origin(of: event)),
      "commands": commands.map(ShellWords.line),
      "changes": changes.prefix(Self.mostChanges).map { change in
        [
          "series": "\(change.series)", "name": PageWords.breakable(change.scenario.text),
          "text": PageWords.shown(change.displayText),
        ]
      },
      "others": others > 0 ? [Format.count(others, "smaller change")] : [],
    ]
  }

  /// As in `main · linux-x86_64-2cpu`.
  private func origin(of event: TrendEvent) -> String {
    ([event.branch ?? "no branch"] + Set(event.changes.map(\.environment)).sorted()).joined(separator: " · ")
  }

  private var setAsideText: String {
    let latest = trend.setAside.last.map { trend.runs[$0] }
    let runs = Format.count(trend.setAside.count, "run")
    let minute = (latest?.startedAt.minute ?? "").replacing("-", with: "\u{2011}").replacing(" ", with: "\u{a0}")
    return "\(runs) set aside (circles at the bottom of the charts) because most scenarios were outliers; "
      + "the latest on \(minute)\u{a0}UTC"
  }
}

extension TrendEvent.Change {
  /// As in `up to +15.5 %`.
  fileprivate var largestText: String {
    let text = Format.percent(percent)
    return text.isEmpty ? "" : "up to \(text)"
  }
}

extension TrendEvent {
  /// Its day, as in `2026-01-02`, or as in `since 2026-01-02` of creep.
  fileprivate var whenText: String { (kind == .creep ? "since " : "") + start.startedAt.day }

  /// The shape of its mark, as in charts.
  fileprivate var sign: String {
    switch kind {
    case .rise: needsAttention ? "▲" : "△"
    case .fall: "▼"
    case .mixed: "◇"
    case .creep: "↗"
    case .environment: "┊"
    }
  }
}
