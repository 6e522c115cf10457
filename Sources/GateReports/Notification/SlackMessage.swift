/// A message for Slack's incoming webhooks: a text for notifications, and blocks.
///
/// Limits (Slack's reference of Block Kit): 50 blocks, 150 characters in a header, 3000 in a section's text.
enum SlackMessage {
  static func json(_ message: ChatMessage) -> JSONValue {
    let title = "\(message.title) – \(message.summary)"
    var blocks: [JSONValue] = [
      ["type": "header", "text": ["type": "plain_text", "text": .string(message.title), "emoji": false]],
      section("*\(escaped(message.summary))*\n" + markup(message.facts)),
    ]
    blocks += message.lines.map { section("• " + markup($0)) }
    if message.left > 0 { blocks.append(section("… and \(message.left) more")) }
    let links = message.links.map { "<\(escaped($0.url))|\($0.title)>" }
    if !links.isEmpty { blocks.append(section(links.joined(separator: "  ·  "))) }
    return ["text": .string(escaped(title)), "blocks": .array(blocks)]
  }

  /// `verbatim` keeps Slack from making links and mentions out of plain words.
  private static func section(_ markdown: String) -> JSONValue {
    ["type": "section", "text": ["type": "mrkdwn", "text": .string(markdown), "verbatim": true]]
  }

  private static func markup(_ spans: [ChatMessage.Span]) -> String {
    spans.map { span in
      switch span {
      case .plain(let text): escaped(text)
      case .code(let text): "`" + escaped(text.map { $0 == "`" ? "'" : String($0) }.joined()) + "`"
      }
    }.joined()
  }

  /// The three characters that Slack's markup gives a meaning of their own everywhere, in code too.
  private static func escaped(_ text: String) -> String {
    text.unicodeScalars.reduce(into: "") { result, scalar in
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      default: result.unicodeScalars.append(scalar)
      }
    }
  }
}
