#if LaunchReason

import LaunchRecords

// Written by hand, as one string each: the synthesized conformances add 130 KiB of code to each program that links them
// (Swift 6.3.1, x86_64, 2026-11).

extension RunEnd: Codable {
  /// Decodes the text that ``encode(to:)`` writes.
  public init(from decoder: any Decoder) throws {
    self = try Words.decode(from: decoder) { words in Self(&words) }
  }

  /// Encodes the end as text, as in `out-of-memory own-limit cgroup-counter`.
  public func encode(to encoder: any Encoder) throws {
    try Words.encode(text, to: encoder)
  }

  private var text: String {
    switch self {
    case .exited(let code): "exited \(code)"
    case .requested(let signal, let sender): "requested \(signal) \(sender.text)"
    case .swiftTrap(let signal, let message): "swift-trap \(signal)" + (message.map { " \($0)" } ?? "")
    case .allocationFailure(let bytes): "allocation-failure" + (bytes.map { " \($0)" } ?? "")
    case .aborted: "aborted"
    case .crashed(let signal, let coreDumped): "crashed \(signal)" + (coreDumped ? " core-dumped" : "")
    case .outOfMemory(let kind, let proof): "out-of-memory \(kind.rawValue) \(proof.rawValue)"
    case .killed(let killer): "killed \(killer.rawValue)"
    case .hung(let seconds): "hung \(seconds)"
    case .startFailed(let code): "start-failed \(code)"
    case .unknown(let reason): "unknown \(reason)"
    }
  }

  private init?(_ words: inout Words) {
    let end: Self? =
      switch words.next() {
      case "exited": words.number().map { .exited(code: $0) }
      case "requested":
        words.number().flatMap { signal in LaunchReason.Sender(&words).map { .requested(signal: signal, sender: $0) } }
      case "swift-trap": words.number().map { .swiftTrap(signal: $0, message: words.remainder()) }
      case "allocation-failure": .allocationFailure(bytes: words.next().flatMap { UInt64($0) })
      case "aborted": .aborted
      case "crashed": words.number().map { .crashed(signal: $0, coreDumped: words.next() == "core-dumped") }
      case "out-of-memory":
        LaunchReason.OOMKind(rawValue: words.next() ?? "").flatMap { kind in
          LaunchReason.Proof(rawValue: words.next() ?? "").map { .outOfMemory(kind, $0) }
        }
      case "killed": LaunchReason.Killer(rawValue: words.next() ?? "").map { .killed(by: $0) }
      case "hung": words.next().flatMap { Double($0) }.map { .hung(seconds: $0) }
      case "start-failed": words.number().map { .startFailed(errno: $0) }
      case "unknown": .unknown(words.remainder() ?? "")
      default: nil
      }
    guard let end else { return nil }
    self = end
  }
}

extension LaunchReason.Sender {
  fileprivate var text: String {
    switch self {
    case .process(let pid): "process \(pid)"
    case .kernel: "kernel"
    case .unknown: "unknown"
    }
  }

  fileprivate init?(_ words: inout Words) {
    switch words.next() {
    case "process":
      guard let pid: Int32 = words.number() else { return nil }
      self = .process(pid)
    case "kernel": self = .kernel
    case "unknown": self = .unknown
    default: return nil
    }
  }
}

extension StartupReason: Codable {
  /// Decodes the text that ``encode(to:)`` writes.
  public init(from decoder: any Decoder) throws {
    self = try Words.decode(from: decoder) { words in Self(&words) }
  }

  /// Encodes the reason as text, as in `out-of-memory active cgroup-counter`.
  public func encode(to encoder: any Encoder) throws {
    let text =
      switch self {
      case .unknown(let reason): "\(word) \(reason)"
      case .outOfMemory(let activity, let proof): "out-of-memory \(activity.word) \(proof.rawValue)"
      case .killedUnknown(let activity): "killed-unknown \(activity.word)"
      default: word
      }
    try Words.encode(text, to: encoder)
  }

  /// The reasons without associated values.
  private static let plain: [Self] = [
    .notEvaluated, .firstLaunch, .concurrentInstance, .crash, .debug, .osUpgrade, .appUpgrade, .requested, .cleanExit,
    .restartOfMachine, .notMonitored, .hang,
  ]

  private init?(_ words: inout Words) {
    let first = words.next()
    let reason: Self? =
      switch first {
      case "out-of-memory":
        LaunchReason.Activity(word: words.next()).flatMap { activity in
          LaunchReason.Proof(rawValue: words.next() ?? "").map { .outOfMemory(activity, $0) }
        }
      case "killed-unknown": LaunchReason.Activity(word: words.next()).map { .killedUnknown($0) }
      case "unknown": .unknown(words.remainder() ?? "")
      default: Self.plain.first { $0.word == first }
      }
    guard let reason else { return nil }
    self = reason
  }
}

extension StartupReason {
  /// The reason as in a mark, such as `out-of-memory.active.cgroup-counter`.
  var word: String {
    switch self {
    case .notEvaluated: "not-evaluated"
    case .firstLaunch: "first-launch"
    case .concurrentInstance: "concurrent-instance"
    case .crash: "crash"
    case .debug: "debug"
    case .osUpgrade: "os-upgrade"
    case .appUpgrade: "app-upgrade"
    case .requested: "requested"
    case .cleanExit: "clean-exit"
    case .restartOfMachine: "restart-of-machine"
    case .notMonitored: "not-monitored"
    case .hang: "hang"
    case .outOfMemory(let activity, let proof): "out-of-memory.\(activity.word).\(proof.rawValue)"
    case .killedUnknown(let activity): "killed-unknown.\(activity.word)"
    case .unknown: "unknown"
    }
  }
}

extension LaunchReason.Activity {
  var word: String {
    switch self {
    case .starting: "starting"
    case .active: "active"
    case .idle: "idle"
    case .stopping: "stopping"
    }
  }

  fileprivate init?(word: String?) {
    guard let found = (0...3).compactMap(Self.init).first(where: { $0.word == word }) else { return nil }
    self = found
  }
}

extension PriorRun: Codable {
  /// Decodes the bytes that ``encode(to:)`` writes.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let record = LaunchPage.record(from: try container.decode([UInt8].self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a launch record")
    }
    self.init(record)
  }

  /// Encodes the record as the bytes of its page.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(LaunchPage.bytes(of: record))
  }
}

/// The words of a text, read one by one.
private struct Words {
  /// The rest of the text; nil at the end.
  private var rest: String?

  mutating func next() -> String? {
    guard let text = rest else { return nil }
    let end = text.utf8.firstIndex(of: 0x20)
    rest = end.map { String(text[text.utf8.index(after: $0)...]) }
    return String(text[..<(end ?? text.endIndex)])
  }

  /// The rest of the text as one string.
  mutating func remainder() -> String? {
    defer { rest = nil }
    return rest
  }

  mutating func number() -> Int32? { next().flatMap { Int32($0) } }

  static func decode<Value>(from decoder: any Decoder, _ read: (inout Words) -> Value?) throws -> Value {
    let container = try decoder.singleValueContainer()
    var words = Words(rest: try container.decode(String.self))
    guard let value = read(&words), words.rest == nil else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "unknown value")
    }
    return value
  }

  static func encode(_ text: String, to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}

#endif
