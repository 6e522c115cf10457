import FoundationEssentials
import GateCore

/// The body of a webhook request for a finished check (webhooks.md; file-formats.md, The notification).
enum NotificationBody {
  /// The body in the webhook's format.
  ///
  /// - Parameters:
  ///   - result: The finished run.
  ///   - states: The state of each scenario; a missing one counts as good before.
  ///   - news: The events of the history that this run has shown.
  ///   - format: The service that receives it.
  ///   - links: Pages about the run; a chat message only has `http` and `https` addresses.
  ///   - exitCode: The exit code of the run.
  /// - Returns: JSON, or for `text` plain text, in UTF-8 and within the limits of the receiving service.
  static func bytes(
    _ result: RunResult,
    states: [ScenarioName: ScenarioState],
    news: [TrendEvent] = [],
    format: Webhook.Format,
    links: (build: String?, report: String?),
    exitCode: ExitCode
  ) -> [UInt8] {
    let state = { (scenario: ScenarioResult) in
      states[scenario.name] ?? ScenarioState(scenario.verdict, after: nil)
    }
    let message = { ChatMessage(result, state: state, news: news, links: links, exitCode: exitCode) }
    switch format {
    case .json: return encoded(NotificationJSON(result, state: state, news: news, links: links, exitCode: exitCode))
    case .slack: return encoded(SlackMessage(message()))
    case .teams: return encoded(TeamsMessage(message()))
    case .discord: return encoded(DiscordMessage(message()))
    case .mattermost: return encoded(TextMessage(message(), mattermost))
    case .googleChat: return encoded(TextMessage(message(), googleChat))
    case .text: return Array((TextMessage(message(), plain).text + "\n").utf8)
    }
  }

  /// Mattermost's Markdown, in which code mentions nobody.
  private static let mattermost = ChatMarkup(
    bold: "**", text: { ChatMessage.markup($0) }, link: { "[\($0.title)](\($0.url))" })

  /// Google Chat's own markup, in which angle brackets are links and mentions.
  private static let googleChat = ChatMarkup(
    bold: "*",
    text: { ChatMessage.markup($0) { $0.replacing("<", with: "‹").replacing(">", with: "›") } },
    link: { "<\($0.url)|\($0.title)>" })

  private static let plain = ChatMarkup(
    bold: "", text: { $0.map(\.text).joined() }, link: { "\($0.title): \($0.url)" })

  private static func encoded(_ value: some Encodable) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN"
    )
    guard let data = try? encoder.encode(value) else {
      preconditionFailure("values of text and numbers always encode, since numbers that are not finite become text")
    }
    return Array(data)
  }
}

/// A value that is encoded as `null` if it is nil, instead of being left out.
struct NullIfNil<Value: Encodable>: Encodable {
  var value: Value?

  init(_ value: Value?) { self.value = value }

  func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
}
