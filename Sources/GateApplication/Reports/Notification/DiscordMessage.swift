/// A message for Discord's webhooks: one embed, without mentions.
///
/// Limits (Discord's message reference): 2000 characters of content, 10 embeds, 256 characters in a title, 4096 in a
/// description, 6000 in all embeds together.
struct DiscordMessage: Encodable {
  struct Embed: Encodable {
    var title: String
    var description: String
    var color: Int
  }

  struct AllowedMentions: Encodable {
    var parse: [String] = []
  }

  var content: String
  var embeds: [Embed]
  var allowedMentions = AllowedMentions()

  private enum CodingKeys: String, CodingKey {
    case content, embeds
    case allowedMentions = "allowed_mentions"
  }

  init(_ message: ChatMessage) {
    content = "\(message.title) – \(message.summary)"
    embeds = [
      Embed(title: message.summary, description: Self.description(of: message), color: Self.color(message.mood))
    ]
  }

  /// Well below the limit, which Discord applies after its own clean-up of the text.
  private static let longestDescription = 3800

  private static func description(of message: ChatMessage) -> String {
    message.text(
      atMost: longestDescription, markup: { ChatMessage.markup($0) }, link: { "[\($0.title)](\($0.url))" })
  }

  private static func color(_ mood: ChatMessage.Mood) -> Int {
    switch mood {
    case .good: 0x2e_a0_43
    case .bad: 0xcf_22_2e
    case .unsure: 0xbf_87_00
    }
  }
}
