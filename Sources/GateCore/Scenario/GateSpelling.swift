extension GateRule {
  /// The rule as written under `gate:` in a project file, as in `peak_rss: [0.6%, 128KiB]` or `growth: {limit: 1KiB}`.
  package var spelled: String {
    let tolerance = isExact ? nil : tolerance?.spelled
    var others: [String] = []
    if let limit { others.append("limit: \(limit.spelled)") }
    if isExact { others.append("exact: true") }
    if severity != .fail { others.append("on: \(severity.rawValue)") }
    if let tolerance, others.isEmpty { return "\(metric): \(tolerance)" }
    let values = (tolerance.map { ["tolerance: \($0)"] } ?? []) + others
    return "\(metric): {\(values.joined(separator: ", "))}"
  }
}

extension Tolerance {
  /// As in `[3%, 512KiB]`, `3%` or `auto`.
  package var spelled: String {
    switch self {
    case .automatic: "auto"
    case .bounds(let relative?, let absolute?): "[\(relative.spelled), \(absolute.spelled)]"
    case .bounds(let relative, let absolute): relative?.spelled ?? absolute?.spelled ?? "0B"
    }
  }
}

extension Percent {
  fileprivate var spelled: String {
    let places = (0...2).first { Double(Decimals.text(value, places: $0)) == value } ?? 3
    return Decimals.text(value, places: places) + "%"
  }
}

extension Amount {
  /// As written in a project file: `512KiB`, `200ms` or `1000`.
  package var spelled: String {
    switch self {
    case .size(let bytes): bytes.spelled
    case .time(let duration): duration.spelled
    case .number(let number): Int64(exactly: number).map { "\($0)" } ?? "\(number)"
    }
  }
}

extension Duration {
  /// In the largest unit that gives a whole number; below a millisecond as a fraction.
  fileprivate var spelled: String {
    let unit = Duration.unitSizes.last {
      (Double(nanoseconds) / $0.nanoseconds).truncatingRemainder(dividingBy: 1) == 0
    }
    guard let unit, self != .zero else { return self == .zero ? "0s" : "\(Double(nanoseconds) / 1e6)ms" }
    return "\(Int64(Double(nanoseconds) / unit.nanoseconds))\(unit.name)"
  }
}
