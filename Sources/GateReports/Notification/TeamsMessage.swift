/// A message for Microsoft Teams' Workflows webhooks, which take Adaptive Cards only.
///
/// A message may have 28 KB. Text from outside stands in `TextRun`s, which know no Markdown; nobody is mentioned, since
/// that takes an entity in the card.
enum TeamsMessage {
  static func json(_ message: ChatMessage) -> JSONValue {
    var body: [JSONValue] = [
      [
        "type": "TextBlock", "text": .string(message.title), "weight": "Bolder", "size": "Medium",
        "color": .string(colour(message.mood)), "wrap": true,
      ],
      runs([.plain(message.summary)]),
      runs(message.facts),
    ]
    body += message.lines.map { runs([.plain("• ")] + $0) }
    if message.left > 0 { body.append(runs([.plain("… and \(message.left) more")])) }
    var card: [String: JSONValue] = [
      "$schema": "http://adaptivecards.io/schemas/adaptive-card.json", "type": "AdaptiveCard", "version": "1.4",
      "body": .array(body), "msteams": ["width": "Full"],
    ]
    if !message.links.isEmpty {
      card["actions"] = .array(
        message.links.map { ["type": "Action.OpenUrl", "title": .string($0.title), "url": .string($0.url)] }
      )
    }
    return [
      "type": "message",
      "attachments": [
        [
          "contentType": "application/vnd.microsoft.card.adaptive", "contentUrl": .null, "content": .object(card),
        ]
      ],
    ]
  }

  private static func runs(_ spans: [ChatMessage.Span]) -> JSONValue {
    let inlines = spans.map { span -> JSONValue in
      switch span {
      case .plain(let text): ["type": "TextRun", "text": .string(text)]
      case .code(let text): ["type": "TextRun", "text": .string(text), "fontType": "Monospace"]
      }
    }
    return ["type": "RichTextBlock", "inlines": .array(inlines)]
  }

  private static func colour(_ mood: ChatMessage.Mood) -> String {
    switch mood {
    case .good: "Good"
    case .bad: "Attention"
    case .unsure: "Warning"
    }
  }
}
