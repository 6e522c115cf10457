import GateCore

extension Tolerance {
  /// The tolerance as in the project file: `3 %, at least 512 KiB`.
  var displayText: String {
    switch self {
    case .automatic: "auto: by level and noise of the baseline"
    case .bounds(let relative?, let absolute?):
      "\(Self.text(relative)), at least \(Format.glued(absolute.description))"
    case .bounds(let relative?, nil): Self.text(relative)
    case .bounds(nil, let absolute?): Format.glued(absolute.description)
    case .bounds(nil, nil): "none"
    }
  }

  /// With as many decimals as in the project file, at most two.
  private static func text(_ percent: Percent) -> String {
    let places = (0...2).first { Double(Decimals.text(percent.value, places: $0)) == percent.value } ?? 2
    return Decimals.text(percent.value, places: places) + "\(Format.space)%"
  }
}

extension GateRule {
  /// The rule in short, as in `3 %, at least 512 KiB; limit 200 MiB; warning only`.
  var displayText: String {
    var parts = tolerance.map { [$0.displayText] } ?? []
    if let limit { parts.append("limit \(Format.glued(limit.description))") }
    switch severity {
    case .fail: break
    case .warn: parts.append("warning only")
    case .off: parts.append("off")
    }
    return parts.isEmpty ? "not judged" : parts.joined(separator: "; ")
  }
}
