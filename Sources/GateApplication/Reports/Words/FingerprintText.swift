import GateCore

extension Fingerprint.Difference {
  /// As in `cpus 2 → 4`, the baseline's value first.
  var displayText: String {
    guard field != .variables else { return "variables \(namesText)" }
    return Format.glued(
      "\(field.rawValue) \(baseline.isEmpty ? "none" : baseline) → \(current.isEmpty ? "none" : current)")
  }

  /// What differs between two lists of names, as in `+DEBUG −LANG`.
  private var namesText: String {
    let (before, now) = (Set(baseline.split(separator: " ")), Set(current.split(separator: " ")))
    func listed(_ names: Set<Substring>, _ sign: String) -> [String] { names.sorted().map { sign + $0 } }
    return (listed(now.subtracting(before), "+") + listed(before.subtracting(now), "−")).joined(separator: " ")
  }
}

extension [Fingerprint.Difference] {
  /// As in `kernel 6.1 → 6.6, libc glibc 2.36 → glibc 2.41`.
  var displayText: String { map(\.displayText).joined(separator: ", ") }

  /// As in ` (baseline → now): kernel 6.1 → 6.6`, or `: variables +DEBUG −LANG`.
  var listText: String {
    (contains { $0.field != .variables } ? " (baseline → now): " : ": ") + displayText
  }
}
