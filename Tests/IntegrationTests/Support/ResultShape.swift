import Foundation

/// The shape of a result file as in file-formats.md, to validate JSON.
indirect enum Shape: Sendable {
  case text, whole, number, flag
  case word([String])
  case matching(String)
  case list(of: Shape)
  case object([String: Shape])
  /// Measurements by metric name.
  case measurements
  /// May be `null`.
  case optional(Shape)
  /// May be missing.
  case missing(Shape)

  /// The mismatches of a value, each with its location.
  func mismatches(of value: Any?, at place: String = "$") -> [String] {
    switch (self, value) {
    case (.missing, nil), (.optional, nil): []
    case (.missing(let shape), let value?): shape.mismatches(of: value, at: place)
    case (_, nil): ["\(place) is missing"]
    case (.optional, is NSNull): []
    case (.optional(let shape), _): shape.mismatches(of: value, at: place)
    case (.object(let keys), let object as [String: Any]):
      keys.sorted { $0.key < $1.key }.flatMap { $1.mismatches(of: object[$0], at: "\(place).\($0)") }
    case (.list(let shape), let list as [Any]):
      list.indices.flatMap { shape.mismatches(of: list[$0], at: "\(place)[\($0)]") }
    case (.measurements, let object as [String: Any]):
      object.flatMap { name, value in
        let isRate = name.hasSuffix("growth") || name == "fault_rate"
        return (isRate ? Shape.number : .whole).mismatches(of: value, at: "\(place).\(name)")
      }
    default: isScalar(value) ? [] : ["\(place) is \(value ?? "nothing"), and \(self) is expected"]
    }
  }

  private func isScalar(_ value: Any?) -> Bool {
    switch self {
    case .text: return value is String
    case .word(let words): return (value as? String).map(words.contains) ?? false
    case .matching(let pattern):
      return (value as? String)?.range(of: "^(\(pattern))$", options: .regularExpression) != nil
    case .flag: return isBoolean(value)
    case .number: return value is NSNumber && !isBoolean(value)
    case .whole:
      return (value as? NSNumber).map { !isBoolean($0) && $0.doubleValue == $0.doubleValue.rounded() } ?? false
    default: return false
    }
  }

  /// Foundation has one type for numbers and Boolean values.
  private func isBoolean(_ value: Any?) -> Bool {
    guard let number = value as? NSNumber else { return false }
    return String(cString: number.objCType) == "c" && (number == true || number == false)
  }
}

extension Shape {
  private static let verdict = word([
    "pass", "improved", "regression", "failed", "inconclusive", "no-baseline", "skipped",
  ])

  private static let environment = object([
    "name": text,
    "fingerprint": object([
      "architecture": text, "kernel": text, "pageSize": whole, "libc": text, "cpus": whole, "thp": text,
      "aslr": word(["on", "off"]), "measurement": word(["sampled", "sampled+cgroup", "traced", "traced+cgroup"]),
    ]),
  ])

  private static let repetition = object([
    "end": object([
      "kind": word([
        "exited", "signaled", "oom", "allocation-failure", "trap", "abort", "crash", "timeout", "stopped",
        "start-failed",
        "killed", "unknown",
      ]),
      "code": .missing(whole), "signal": .missing(text), "proof": .missing(text), "detail": .missing(text),
    ]),
    "durationSeconds": number, "processes": whole, "metrics": measurements,
    "growthFit": .missing(object(["low": number, "high": number, "kind": word(["level", "continuous", "settling"])])),
    "steadiness": word(["steady", "unsteady", "drifting", "too-short"]),
    "phases": list(of: object(["name": text, "peak_rss": .missing(whole), "steady_rss": .missing(whole)])),
    "notes": list(of: object(["text": text])),
  ])

  private static let summary = optional(object(["median": number, "count": whole]))

  private static let metric = object([
    "name": text, "unit": text, "verdict": verdict, "baseline": summary, "current": summary,
    "change": optional(object(["absolute": number, "percent": optional(number), "low": number, "high": number])),
    "tolerance": object(["percent": optional(number), "absolute": optional(whole), "limit": optional(whole)]),
    "detectable": optional(number),
  ])

  private static let composition = object([
    "anon": .missing(whole), "file": .missing(whole), "shmem": .missing(whole), "stack": .missing(whole),
    "heap": .missing(whole),
  ])

  static let result = object([
    "schema": word(["highwater.result/1"]),
    "tool": object(["name": word(["highwater"]), "version": matching("[0-9]+\\.[0-9]+\\.[0-9]+")]),
    "run": object([
      "id": matching("[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"),
      "startedAt": matching("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z"),
      "durationSeconds": number, "commit": optional(text), "branch": optional(text), "buildURL": optional(text),
    ]),
    "environment": environment, "verdict": verdict, "exitCode": whole,
    "scenarios": list(
      of: object([
        "name": text, "verdict": verdict, "repetitions": list(of: repetition), "metrics": list(of: metric),
        "composition": object(["baseline": .missing(composition), "current": .missing(composition)]),
      ])),
  ])
}
