import GateCore

extension Fingerprint.Difference {
  /// As in `cpus 2 → 4`, the baseline's value first.
  var displayText: String {
    guard field != .environmentHash else { return "the target's environment variables" }
    return Format.glued(
      "\(field.rawValue) \(baseline.isEmpty ? "none" : baseline) → \(current.isEmpty ? "none" : current)")
  }
}

extension [Fingerprint.Difference] {
  /// As in `kernel 6.1 → 6.6, libc glibc 2.36 → glibc 2.41`.
  var displayText: String { map(\.displayText).joined(separator: ", ") }

  /// As in ` (baseline → now): kernel 6.1 → 6.6`, or `: the target's environment variables`, whose values are not shown.
  var listText: String {
    (contains { $0.field != .environmentHash } ? " (baseline → now): " : ": ") + displayText
  }
}
