import GateCore

/// Rules of a gate as they stand in a project file.
enum GateSnippet {
  /// One line under `gate:`, as in `peak_rss: [0.6%, 128KiB]` or `growth: {limit: 1KiB}`.
  static func line(for rule: GateRule) -> String {
    let tolerance = rule.tolerance.map { text(of: $0) }
    var others: [String] = []
    if let limit = rule.limit { others.append("limit: \(text(of: limit))") }
    if rule.severity != .fail { others.append("on: \(rule.severity.rawValue)") }
    let value: String
    if let tolerance, others.isEmpty {
      value = tolerance
    } else {
      value = "{" + ((tolerance.map { ["tolerance: \($0)"] } ?? []) + others).joined(separator: ", ") + "}"
    }
    return "\(TerminalText.safe(rule.metric.text)): \(value)"
  }

  /// As in `[3%, 512KiB]`, `3%` or `auto`.
  static func text(of tolerance: Tolerance) -> String {
    switch tolerance {
    case .automatic: "auto"
    case .bounds(let relative?, let absolute?): "[\(text(of: relative)), \(text(of: absolute))]"
    case .bounds(let relative, let absolute):
      relative.map { text(of: $0) } ?? absolute.map { text(of: $0) } ?? "0B"
    }
  }

  private static func text(of percent: Percent) -> String {
    let places = (0...2).first { Double(Decimals.text(percent.value, places: $0)) == percent.value } ?? 3
    return Decimals.text(percent.value, places: places) + "%"
  }

  /// In the largest binary unit of which there is a whole number.
  private static func text(of bytes: Bytes) -> String {
    let binary = Bytes.units.filter { $0.size & ($0.size - 1) == 0 }
    let unit = binary.last { bytes.count % $0.size == 0 } ?? ("B", 1)
    return bytes == .zero ? "0B" : "\(bytes.count / unit.size)\(unit.name)"
  }
}
