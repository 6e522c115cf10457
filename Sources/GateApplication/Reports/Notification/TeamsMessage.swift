/// A message for Microsoft Teams' Workflows webhooks, which only accept Adaptive Cards.
///
/// A message may have 28 KB. Untrusted text is in `TextRun`s, which have no Markdown; there are no mentions, since they
/// need an entity in the card.
struct TeamsMessage: Encodable {
  struct Attachment: Encodable {
    var contentType = "application/vnd.microsoft.card.adaptive"
    var contentUrl = NullIfNil<String>(nil)
    var content: Card
  }

  struct Card: Encodable {
    var schema = "http://adaptivecards.io/schemas/adaptive-card.json"
    var type = "AdaptiveCard"
    var version = "1.4"
    var body: [Element]
    var actions: [Action]?
    var msteams = ["width": "Full"]

    private enum CodingKeys: String, CodingKey {
      case schema = "$schema"
      case type, version, body, actions, msteams
    }
  }

  struct Element: Encodable {
    var type = "RichTextBlock"
    var inlines: [TextRun]?
    var text: String?
    var weight: String?
    var size: String?
    var color: String?
    var wrap: Bool?
  }

  struct TextRun: Encodable {
    var type = "TextRun"
    var text: String
    var fontType: String?
  }

  struct Action: Encodable {
    var type = "Action.OpenUrl"
    var title: String
    var url: String
  }

  var type = "message"
  var attachments: [Attachment]

  init(_ message: ChatMessage) {
    let title = Element(
      type: "TextBlock", text: message.title, weight: "Bolder", size: "Medium", color: Self.color(message.mood),
      wrap: true)
    let lines =
      [[.plain(message.summary)], message.facts] + message.lines.map { [.plain("• ")] + $0 }
      + [message.rest].compactMap { $0.map { [.plain($0)] } }
    let actions = message.links.map { Action(title: $0.title, url: $0.url) }
    let card = Card(body: [title] + lines.map(Self.paragraph), actions: actions.isEmpty ? nil : actions)
    attachments = [Attachment(content: card)]
  }

  private static func paragraph(_ spans: [ChatMessage.Span]) -> Element {
    Element(
      inlines: spans.map { span in
        switch span {
        case .plain(let text): TextRun(text: text)
        case .code(let text): TextRun(text: text, fontType: "Monospace")
        }
      })
  }

  private static func color(_ mood: ChatMessage.Mood) -> String {
    switch mood {
    case .good: "Good"
    case .bad: "Attention"
    case .unsure: "Warning"
    }
  }
}
