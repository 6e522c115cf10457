/// A message that is one text: for Mattermost's and Google Chat's incoming webhooks, and without markup for others.
///
/// Limits: 4000 characters in Mattermost before version 5.0, 4096 in Google Chat (their references of webhooks).
struct TextMessage: Encodable {
  var text: String

  private static let most = 3600

  init(_ message: ChatMessage, _ markup: ChatMarkup) {
    text =
      "\(markup.bold)\(message.title)\(markup.bold) – \(message.summary)\n"
      + message.text(atMost: Self.most, markup: markup.text, link: markup.link)
  }
}

/// How a service marks the parts of a text.
struct ChatMarkup: Sendable {
  /// What stands before and after a bold text.
  let bold: String
  /// A line, in which text from outside is code, or at least neither a link nor a mention.
  let text: @Sendable ([ChatMessage.Span]) -> String
  let link: @Sendable (ChatMessage.Link) -> String
}
