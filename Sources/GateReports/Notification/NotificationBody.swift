import FoundationEssentials
package import GateCore

/// What a webhook is sent of a finished check (webhooks.md; file-formats.md, The notification).
package enum NotificationBody {
  /// The body in the webhook's format.
  ///
  /// - Parameters:
  ///   - result: The finished run.
  ///   - states: Of each scenario; one that is missing is taken to be good before.
  ///   - format: Who reads it.
  ///   - links: Where people can read more; a chat shows only `http` and `https` addresses.
  ///   - exitCode: The code that the run ends with.
  /// - Returns: JSON in UTF-8, within the limits of the service that reads the format.
  package static func bytes(
    _ result: RunResult,
    states: [ScenarioName: ScenarioState],
    format: Webhook.Format,
    links: (build: String?, report: String?),
    exitCode: ExitCode
  ) -> [UInt8] {
    let state = { (scenario: ScenarioResult) in
      states[scenario.name] ?? ScenarioState(scenario.verdict, after: nil)
    }
    if format == .json {
      return encoded(NotificationJSON(result, state: state, links: links, exitCode: exitCode))
    }
    let message = ChatMessage(result, state: state, links: links, exitCode: exitCode)
    switch format {
    case .slack: return encoded(SlackMessage.json(message))
    case .teams: return encoded(TeamsMessage.json(message))
    case .discord: return encoded(DiscordMessage.json(message))
    case .json: preconditionFailure("the format `json` was answered above")
    }
  }

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
