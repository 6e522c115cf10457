import GateCore
import Glibc

/// All metrics of one scenario run as one JSON text, by name: `{"peak_rss":[24207360,24203264,24215552,5,"pass",…]}`.
///
/// The numbers are those of ``StoredMetric/columns``. A text instead of rows: a trend of 10,000 runs of 20 scenarios has
/// 1,600,000 metrics, and PostgreSQL needs longer to send a row than to send its numbers.
enum MetricsColumn {
  static func encode(_ metrics: [MetricResult]) throws -> String {
    let entries = try metrics.map { metric in
      let values = try StoredMetric(metric).values.map(text).joined(separator: ",")
      return "\(try JSONColumn.encode(StoredMetricName(of: metric).text)):[\(values)]"
    }
    return "{\(entries.joined(separator: ","))}"
  }

  private static func text(_ value: StoredValue) throws -> String {
    switch value {
    case .integer(let number?): "\(number)"
    case .number(let number?) where number.isFinite: Int64(exactly: number).map { "\($0)" } ?? "\(number)"
    case .text(let text?): try JSONColumn.encode(text)
    case .integer, .number, .text: "null"
    }
  }

  /// The values of one metric, from its null-terminated JSON.
  static func metric(_ text: UnsafePointer<CChar>) throws -> StoredMetric {
    var scanner = MetricsScanner(text)
    return try scanner.metric()
  }

  /// Calls `body` with each metric of a null-terminated text.
  static func decode(
    _ text: UnsafePointer<CChar>, _ body: (_ name: String, _ metric: StoredMetric) throws -> Void
  ) throws {
    var scanner = MetricsScanner(text)
    try scanner.expect("{")
    if scanner.skip("}") { return }
    repeat {
      let name = try scanner.text()
      try scanner.expect(":")
      try body(name, try scanner.metric())
    } while scanner.skip(",")
    try scanner.expect("}")
  }
}

/// Reads the JSON of ``MetricsColumn``, which has no spaces where this program wrote it.
private struct MetricsScanner {
  private var next: UnsafePointer<CChar>

  init(_ text: UnsafePointer<CChar>) {
    next = text
  }

  private func isNext(_ character: Unicode.Scalar) -> Bool {
    UInt8(bitPattern: next.pointee) == UInt8(ascii: character)
  }

  mutating func skip(_ character: Unicode.Scalar) -> Bool {
    while isNext(" ") { next += 1 }
    guard isNext(character) else { return false }
    next += 1
    return true
  }

  mutating func expect(_ character: Unicode.Scalar) throws {
    guard skip(character) else { throw DamagedRow("the metrics of a scenario cannot be decoded") }
  }

  /// A string; one with escapes is decoded as JSON.
  mutating func text() throws -> String {
    try expect("\"")
    let start = next
    var hasEscapes = false
    while !isNext("\"") {
      if isNext("\\") { (hasEscapes, next) = (true, next + 1) }
      if next.pointee == 0 { try expect("\"") }
      next += 1
    }
    let text = String(decoding: UnsafeRawBufferPointer(start: start, count: next - start), as: UTF8.self)
    next += 1
    return hasEscapes ? try JSONColumn.decode(String.self, from: "\"\(text)\"") : text
  }

  /// The array of one metric.
  mutating func metric() throws -> StoredMetric {
    var metric = StoredMetric()
    try expect("[")
    (metric.median, metric.low) = (try item(), try item())
    (metric.high, metric.count) = (try item(), try item().map { Int($0) })
    metric.verdict = try verdict()
    (metric.baseline, metric.baselineCount) = (try item(), try item().map { Int($0) })
    (metric.change, metric.allowed) = (try item(), try item())
    metric.limit = try number()
    try expect("]")
    return metric
  }

  /// A number or null, and a comma.
  private mutating func item() throws -> Double? {
    let value = try number()
    try expect(",")
    return value
  }

  private mutating func verdict() throws -> Verdict? {
    guard isNext("\"") else {
      _ = try item()
      return nil
    }
    let verdict = Verdict(stored: try text())
    try expect(",")
    return verdict
  }

  private mutating func number() throws -> Double? {
    if skip("n") {
      for character in "ull".unicodeScalars { try expect(character) }
      return nil
    }
    // Most numbers are bytes; strtod(3) takes five times as long.
    let start = next
    var whole: Int64 = 0
    while next - start < 16, let digit = digit { (whole, next) = (whole * 10 + digit, next + 1) }
    if next > start, isNext(",") || isNext("]") { return Double(whole) }
    var end: UnsafeMutablePointer<CChar>?
    let value = strtod(start, &end)
    guard let end, end > UnsafeMutablePointer(mutating: start) else { try expect("["); return nil }
    next = UnsafePointer(end)
    return value
  }

  private var digit: Int64? {
    let byte = UInt8(bitPattern: next.pointee)
    return (0x30...0x39).contains(byte) ? Int64(byte - 0x30) : nil
  }
}
