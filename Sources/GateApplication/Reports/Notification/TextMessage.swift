/// A message that is one text: for Mattermost's and Google Chat's incoming webhooks, and without markup for others.
///
/// Limits: 4000 characters in Mattermost before version 5.0, 4096 in Google Chat (their references of webhooks).
struct TextMessage: Encodable {
  var text: String

  private static let most = 3600

  /// Mattermost's Markdown, in which code mentions nobody.
  init(mattermost message: ChatMessage) {
    text =
      "**\(message.title)** – \(message.summary)\n"
      + message.text(
        atMost: Self.most, markup: { ChatMessage.markup($0) }, link: { "[\($0.title)](\($0.url))" })
  }

  /// Google Chat's own markup, in which angle brackets are links and mentions.
  init(googleChat message: ChatMessage) {
    text =
      "*\(message.title)* – \(message.summary)\n"
      + message.text(
        atMost: Self.most,
        markup: { ChatMessage.markup($0) { $0.replacing("<", with: "‹").replacing(">", with: "›") } },
        link: { "<\($0.url)|\($0.title)>" })
  }

  /// Plain text.
  init(plain message: ChatMessage) {
    text =
      "\(message.title) – \(message.summary)\n"
      + message.text(
        atMost: Self.most,
        markup: { spans in
          spans.map { span in
            switch span {
            case .plain(let text), .code(let text): text
            }
          }.joined()
        }, link: { "\($0.title): \($0.url)" }) + "\n"
  }
}
