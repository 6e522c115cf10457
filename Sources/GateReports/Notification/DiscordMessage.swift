/// A message for Discord's webhooks: one embed, and nobody mentioned.
///
/// Limits (Discord's reference of messages): 2000 characters of content, 10 embeds, 256 characters in a title, 4096 in
/// a description, 6000 in all embeds together.
enum DiscordMessage {
  /// Well below the limit, which counts what is left after Discord's own clean-up.
  private static let longestDescription = 3800

  static func json(_ message: ChatMessage) -> JSONValue {
    [
      "content": .string("\(message.title) – \(message.summary)"),
      "embeds": [embed(message)],
      "allowed_mentions": ["parse": []],
    ]
  }

  private static func embed(_ message: ChatMessage) -> JSONValue {
    let links = message.links.map { "[\($0.title)](\($0.url))" }.joined(separator: " · ")
    let head = markup(message.facts) + (links.isEmpty ? "" : "\n" + links)
    var description = head
    var left = message.left
    for (index, line) in message.lines.enumerated() {
      let text = "\n• " + markup(line)
      guard description.utf16.count + text.utf16.count <= longestDescription else {
        left += message.lines.count - index
        break
      }
      description += text
    }
    if left > 0 { description += "\n… and \(left) more" }
    return [
      "title": .string(message.summary), "description": .string(description), "color": .integer(colour(message.mood)),
    ]
  }

  private static func markup(_ spans: [ChatMessage.Span]) -> String {
    spans.map { span in
      switch span {
      case .plain(let text): text
      case .code(let text): "`" + text.map { $0 == "`" ? "'" : String($0) }.joined() + "`"
      }
    }.joined()
  }

  private static func colour(_ mood: ChatMessage.Mood) -> Int {
    switch mood {
    case .good: 0x2e_a0_43
    case .bad: 0xcf_22_2e
    case .unsure: 0xbf_87_00
    }
  }
}
