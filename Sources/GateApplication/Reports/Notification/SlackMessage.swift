/// A message for Slack's incoming webhooks: a text for notifications, and blocks.
///
/// Limits (Slack's Block Kit reference): 50 blocks, 150 characters in a header, 3000 in a section's text.
struct SlackMessage: Encodable {
  struct Block: Encodable {
    var type: String
    var text: Text
  }

  struct Text: Encodable {
    var type: String
    var text: String
    var emoji: Bool?
    /// Keeps Slack from turning plain words into links and mentions.
    var verbatim: Bool?
  }

  var text: String
  var blocks: [Block]

  init(_ message: ChatMessage) {
    text = Self.escaped("\(message.title) – \(message.summary)")
    blocks = [Block(type: "header", text: Text(type: "plain_text", text: message.title, emoji: false))]
    let links = message.links.map { "<\(Self.escaped($0.url))|\($0.title)>" }.joined(separator: "  ·  ")
    let sections =
      ["*\(Self.escaped(message.summary))*\n" + Self.markup(message.facts)]
      + message.lines.map { "• " + Self.markup($0) } + [message.rest, links].compactMap(\.self).filter { !$0.isEmpty }
    blocks += sections.map { Block(type: "section", text: Text(type: "mrkdwn", text: $0, verbatim: true)) }
  }

  private static func markup(_ spans: [ChatMessage.Span]) -> String {
    ChatMessage.markup(spans, escaped)
  }

  /// The three characters with a meaning everywhere in Slack's markup, including code.
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
