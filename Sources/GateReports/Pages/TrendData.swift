import FoundationEssentials
import GateCore

/// A trend as the page's scripts read it: one JSON text, by columns of whole numbers.
///
/// Its size decides the page's. Thus values are told in the largest unit in which they are whole (`unit`: 1024, 1, or 0.1
/// for rates; parts of thousands for the target's own), each as its difference from the one before; ranges as what lies
/// below and above the median; what seldom changes as counts and values in turn (`[3, 100, 2, null]` are three times 100
/// and two times nothing).
enum TrendData {
  static func text(_ trend: Trend, states: [TrendState]) -> String {
    var json = CompactJSON()
    json.object { json in
      json.member("commitURL", PageWords.link(trend.links.commit))
      json.member("verdicts") { $0.texts(Verdict.allCases.map(\.rawValue)) }
      json.member("inks") { $0.texts(CompositionPart.allCases.map(\.ink.rawValue)) }
      json.member("runs") { runs(trend.runs, to: &$0) }
      json.member("courses") { json in
        json.list(Array(zip(trend.courses, states))) { json, course in write(course.0, course.1, to: &json) }
      }
    }
    return json.text
  }

  private static func runs(_ runs: [RunInfo], to json: inout CompactJSON) {
    json.object { json in
      // The end of a UUID of version 7 is random, and names a run in a link.
      json.member("id") { $0.texts(runs.map { PageWords.shown(String($0.id.suffix(12))) }) }
      json.member("time") { $0.differences(runs.map { Int64($0.startedAt.timeIntervalSince1970.rounded()) }) }
      json.member("commit") { $0.repeated(runs.map { $0.commit.map(PageWords.shown) }) { $0.append($1) } }
      json.member("subject") { $0.repeated(runs.map { $0.subject.map(PageWords.shown) }) { $0.append($1) } }
      json.member("build") { $0.repeated(runs.map { PageWords.link($0.buildURL) }) { $0.append($1) } }
    }
  }

  private static func write(_ course: ScenarioCourse, _ state: TrendState, to json: inout CompactJSON) {
    let verdicts = course.entries.map { "\(Verdict.allCases.firstIndex(of: $0.verdict) ?? 0)" }.joined()
    json.object { json in
      json.member("name", PageWords.shown(course.name.text))
      json.member("tags") { $0.texts(course.tags.map(PageWords.shown)) }
      json.member("env", PageWords.shown(course.environment))
      json.member("branch", course.branch.map(PageWords.shown))
      json.member("state") { $0.append(Int64(state.rawValue)) }
      json.member("run") { $0.differences(course.entries.map { Int64($0.run) }) }
      json.member("verdict", verdicts)
      json.member("folded") { $0.repeated(course.entries.map { Int64($0.folded) }) { $0.append($1) } }
      json.member("events") { json in
        json.list(TrendEvent.all(of: course)) { json, event in
          json.object { json in
            json.member("at") { $0.append(Int64(event.entry)) }
            json.member("kind", event.kind.rawValue)
            json.member("metric", event.metric.map { PageWords.shown($0.text) })
            json.member("text", event.words)
            json.member("label", event.label)
          }
        }
      }
      json.member("parts") { parts(of: course, to: &$0) }
      json.member("metrics") { $0.list(course.metrics) { write($1, to: &$0) } }
    }
  }

  private static func parts(of course: ScenarioCourse, to json: inout CompactJSON) {
    json.object { json in
      for part in CompositionPart.allCases {
        json.member(part.rawValue) { json in
          json.differences(course.entries.map { entry in entry.composition.map { part.amount(in: $0).count / 1024 } })
        }
      }
    }
  }

  private static func write(_ metric: MetricCourse, to json: inout CompactJSON) {
    let unit = unit(of: metric)
    func whole(_ value: Double?) -> Int64? { value.map { Int64(exactly: ($0 / unit).rounded()) ?? 0 } }
    func column(_ value: (MetricCourse.Judgement) -> Double?) -> [Int64?] {
      metric.points.map { whole($0?.judgement.flatMap(value)) }
    }
    let verdicts = metric.points.map { point in
      point?.judgement.flatMap { Verdict.allCases.firstIndex(of: $0.verdict) }.map { "\($0)" } ?? "-"
    }
    json.object { json in
      json.member("name", PageWords.shown(metric.metric.text))
      json.member("measure", PageWords.shown(metric.unit))
      json.member("unit") { $0.raw(Int(exactly: unit).map { "\($0)" } ?? "\(unit)") }
      json.member("mid") { $0.differences(metric.points.map { whole($0?.median) }) }
      json.member("below") { $0.list(metric.points.map { whole($0.map { $0.median - $0.low }) }) { $0.append($1) } }
      json.member("above") { $0.list(metric.points.map { whole($0.map { $0.high - $0.median }) }) { $0.append($1) } }
      json.member("verdict", verdicts.joined())
      json.member("base") { $0.repeated(column(\.baseline)) { $0.append($1) } }
      json.member("allowed") { $0.repeated(column(\.allowed)) { $0.append($1) } }
      json.member("limit") { $0.repeated(column(\.limit)) { $0.append($1) } }
      json.member("creep") { json in
        // From its anchor on.
        guard case .runs(let count)? = metric.creep?.span else { return json.append(nil as Int64?) }
        json.append(Int64(max(0, metric.points.count - 1 - count)))
      }
    }
  }

  private static func unit(of metric: MetricCourse) -> Double {
    let values = metric.points.lazy.compactMap(\.self).flatMap { [$0.median, $0.low, $0.high] }
    if values.allSatisfy({ $0.truncatingRemainder(dividingBy: 1024) == 0 }) { return 1024 }
    if metric.metric.isValue {
      // Seven digits of the largest, which are more than a chart can show.
      let largest = values.lazy.map(\.magnitude).max() ?? 0
      return [1, 1e-3, 1e-6, 1e-9].first { unit in
        largest / unit >= 1e6 || values.allSatisfy { ($0 / unit).rounded() == $0 / unit }
      } ?? 1e-9
    }
    return metric.metric.isWholeBytes ? 1 : 0.1
  }
}

/// JSON without spaces, made by appending.
struct CompactJSON {
  private(set) var text = ""
  private var needsComma = false

  mutating func raw(_ value: String) {
    if needsComma { text += "," }
    text += value
    needsComma = true
  }

  mutating func append(_ value: Int64?) {
    raw(value.map { "\($0)" } ?? "null")
  }

  mutating func append(_ value: String?) {
    raw(value.map(Self.quoted) ?? "null")
  }

  mutating func object(_ members: (inout CompactJSON) -> Void) {
    nest("{", "}", members)
  }

  mutating func member(_ name: String, _ value: (inout CompactJSON) -> Void) {
    raw("\"\(name)\":")
    needsComma = false
    value(&self)
  }

  mutating func member(_ name: String, _ value: String?) {
    member(name) { $0.append(value) }
  }

  mutating func list<Element>(_ elements: [Element], _ write: (inout CompactJSON, Element) -> Void) {
    nest("[", "]") { json in
      for element in elements { write(&json, element) }
    }
  }

  mutating func texts(_ values: [String]) {
    list(values) { $0.append($1) }
  }

  /// Each value as its difference from the last one that there is, the first from zero.
  mutating func differences(_ values: [Int64?]) {
    var last: Int64 = 0
    list(values) { json, value in
      json.append(value.map { $0 &- last })
      last = value ?? last
    }
  }

  /// How often a value stands in a row, and the value, in turn.
  mutating func repeated<Value: Equatable>(_ values: [Value?], _ write: (inout CompactJSON, Value?) -> Void) {
    nest("[", "]") { json in
      var start = 0
      while start < values.count {
        let end = values[start...].firstIndex { $0 != values[start] } ?? values.count
        json.append(Int64(end - start))
        write(&json, values[start])
        start = end
      }
    }
  }

  private mutating func nest(_ open: String, _ close: String, _ content: (inout CompactJSON) -> Void) {
    raw(open)
    needsComma = false
    content(&self)
    text += close
    needsComma = true
  }

  /// RFC 8259, section 7.
  private static func quoted(_ value: String) -> String {
    var result = "\""
    for scalar in value.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\u{0}"..<"\u{20}": result += "\\u00" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}
