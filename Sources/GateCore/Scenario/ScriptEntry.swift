/// A key of a scenario's script, which is a condition of `ready` or a step: one row for what people, editors and the
/// reader of the project file know of it.
///
/// The probe has how it is waited for or performed, and the reader has how values of a form are read.
package struct ScriptKey<Made>: Sendable {
  package let name: String
  package let form: ScriptForm<Made>
  /// What it means, in Markdown; a column of `project-file.md`.
  package let meaning: String
  /// What holds without its optional parts, in Markdown.
  package let standard: String
  /// The key with a value, in YAML; also in hints.
  package let example: String

  init(_ name: String, _ form: ScriptForm<Made>, _ meaning: String, standard: String = "none", example: String) {
    (self.name, self.form, self.meaning, self.standard, self.example) = (name, form, meaning, standard, example)
  }
}

/// How the value of a key is written, and what is made of it.
package enum ScriptForm<Made>: Sendable {
  case name(@Sendable (String) -> Made)
  case text(@Sendable (String) -> Made)
  case path(@Sendable (String) -> Made)
  case address(@Sendable (String) -> Made)
  case pattern(@Sendable (Pattern) -> Made)
  /// A host and a port.
  case server(@Sendable (String, Int?) -> Made)
  case command(@Sendable (Command) -> Made)
  case time(@Sendable (Duration) -> Made)
  case signal(@Sendable (Signal) -> Made)
  case client(@Sendable (Step.Client) -> Made)
  case call(@Sendable (Step.HTTPCall) -> Made)
  case output(@Sendable (Pattern, Duration) -> Made)
  case settling(@Sendable (Duration) -> Made)
  case loop(@Sendable (Int, [Step]) -> Made)
}

/// A condition or an action as the project file has it.
package struct ScriptEntry<Made> {
  package let key: ScriptKey<Made>
  let value: ScriptValue<Made>
  /// What it uses of the target's standard streams.
  package let stream: TargetStream?

  init(_ key: ScriptKey<Made>, _ value: ScriptValue<Made>, uses stream: TargetStream? = nil) {
    (self.key, self.value, self.stream) = (key, value, stream)
  }

  /// The entry in one line, as in the file of its scenario's project.
  func text(in scenario: Scenario) -> String { "\(key.name): \(value.text(scenario))" }

  /// The words of the definition's hash.
  func parts(_ texts: WrittenTexts) -> [String] { [key.name] + value.parts(texts) }
}

package enum TargetStream: Sendable, Equatable {
  case input, output
}

/// The value of an entry: what depends on its form only.
struct ScriptValue<Made> {
  /// For messages, with paths and URLs as the project file has them.
  let text: (Scenario) -> String
  let parts: (WrittenTexts) -> [String]
  /// The condition or action with changed texts; nil if the value has none that a placeholder or a folder could change.
  let map: (((String) -> String) -> Made)?

  private init(
    _ text: @escaping (Scenario) -> String,
    parts: @escaping (WrittenTexts) -> [String],
    map: (((String) -> String) -> Made)? = nil
  ) {
    (self.text, self.parts, self.map) = (text, parts, map)
  }
}

extension ScriptValue {
  static func name(_ name: String) -> Self { Self({ _ in name }, parts: { _ in [name] }) }
  static func signal(_ signal: Signal) -> Self { name(signal.name) }

  static func time(_ time: Duration) -> Self {
    Self({ _ in time.displayText }, parts: { _ in ["\(time.nanoseconds)"] })
  }

  /// A timeout does not change memory.
  static func settling(within time: Duration) -> Self {
    Self({ _ in "within \(time.displayText)" }, parts: { _ in [] })
  }

  static func server(_ host: String, _ port: Int?) -> Self {
    let isLocal = ["127.0.0.1", "localhost"].contains(host)
    return Self(
      { _ in isLocal ? port.map(String.init) ?? FreePort.placeholder : Readiness.Condition.address(host, port) },
      parts: { _ in [host, port.map(String.init) ?? FreePort.name] })
  }

  static func text(_ text: String, _ make: @escaping (String) -> Made) -> Self {
    Self({ _ in text.prefix(40).debugDescription }, parts: { _ in [text] }, map: { make($0(text)) })
  }

  static func path(_ path: String, _ make: @escaping (String) -> Made) -> Self {
    Self({ $0.asWritten(path) }, parts: { [$0.path(path)] }, map: { make($0(path)) })
  }

  static func address(_ url: String, _ make: @escaping (String) -> Made) -> Self {
    Self({ $0.shown(url: url) }, parts: { [$0.resource(of: url)] }, map: { make($0(url)) })
  }

  static func pattern(_ pattern: Pattern, _ make: @escaping (Pattern) -> Made) -> Self {
    Self({ _ in pattern.source }, parts: { _ in [pattern.source] }, map: { make(pattern.map($0)) })
  }

  static func command(_ command: Command, _ make: @escaping (Command) -> Made) -> Self {
    Self({ _ in command.description }, parts: { _ in command.parts }, map: { make(command.map($0)) })
  }

  static func output(_ pattern: Pattern, within time: Duration, _ make: @escaping (Pattern, Duration) -> Made) -> Self {
    Self(
      { _ in "output `\(pattern)` within \(time.displayText)" }, parts: { _ in [pattern.source] },
      map: { make(pattern.map($0), time) })
  }

  static func client(_ client: Step.Client, _ make: @escaping (Step.Client) -> Made) -> Self {
    Self(
      { _ in client.command.description }, parts: { _ in client.command.parts },
      map: { change in
        var changed = client
        changed.command = client.command.map(change)
        return make(changed)
      })
  }

  /// The values of headers are not part of the definition: they are often tokens of one machine.
  static func call(_ call: Step.HTTPCall, _ make: @escaping (Step.HTTPCall) -> Made) -> Self {
    Self(
      { "\(call.method) \($0.shown(url: call.url))" },
      parts: { texts in
        [call.method, texts.resource(of: call.url), "\(call.times)", "\(call.headers.count)"]
          + call.headers.keys.sorted() + (call.body.map { [$0] } ?? [])
      },
      map: { change in
        var changed = call
        (changed.url, changed.body) = (change(call.url), call.body.map(change))
        changed.headers = call.headers.mapValues(change)
        return make(changed)
      })
  }

  static func loop(_ times: Int, _ steps: [Step], _ make: @escaping (Int, [Step]) -> Made) -> Self {
    Self(
      { _ in "\(times) times" },
      parts: { texts in ["\(times)", "\(steps.count)"] + steps.flatMap { $0.action.entry.parts(texts) } },
      map: { change in make(times, steps.map { $0.map(change) }) })
  }
}
