/// The content of a project file, with absolute paths and all defaults.
package struct Project: Sendable, Equatable {
  /// The project file's path, for messages.
  package var file: String
  /// The folder that relative paths refer to: the one with `.git`, or else the project file's.
  package var root: String
  package var baselines: String
  /// nil for `history: off`.
  package var history: HistoryLocation?
  package var artifacts: String
  package var environment: EnvironmentRule
  /// How many scenarios a check measures at the same time.
  package var jobs = 1
  package var links: BuildLinks
  package var webhooks: [Webhook]
  /// The patterns of `include`, as absolute paths.
  package var includes: [String] = []
  /// In file order, with matrices expanded.
  package var scenarios: [Scenario]

  package static let mostJobs = 256

  package init(
    file: String,
    root: String,
    baselines: String,
    history: HistoryLocation?,
    artifacts: String,
    environment: EnvironmentRule = EnvironmentRule(),
    links: BuildLinks = BuildLinks(),
    webhooks: [Webhook] = [],
    scenarios: [Scenario] = []
  ) {
    self.file = file
    self.root = root
    self.baselines = baselines
    self.history = history
    self.artifacts = artifacts
    self.environment = environment
    self.links = links
    self.webhooks = webhooks
    self.scenarios = scenarios
  }
}

/// A receiver of check results.
package struct Webhook: Sendable, Equatable {
  package enum Format: String, Sendable, CaseIterable {
    case json, slack, teams, discord, mattermost
    case googleChat = "google-chat"
    /// Plain text, for mail gateways and push services.
    case text

    /// The `Content-Type` of the body.
    package var mediaType: String {
      switch self {
      case .json, .slack, .teams, .discord, .mattermost, .googleChat: "application/json"
      case .text: "text/plain; charset=utf-8"
      }
    }
  }

  package enum Occasion: String, Sendable, CaseIterable {
    case always, failure, change
  }

  /// The URL as in the project file, before `${NAME}` is replaced: identifies a webhook without its secrets.
  package var reference: String
  package var url: Secret
  package var format: Format
  package var occasion: Occasion
  package var secret: SigningSecret?
  /// The unset variables in its URL and secret; it can be used only if there are none.
  package var unsetVariables: [String]
  package var place: SourcePlace?

  package init(
    reference: String,
    url: Secret,
    format: Format = .json,
    occasion: Occasion = .always,
    secret: SigningSecret? = nil,
    unsetVariables: [String] = [],
    place: SourcePlace? = nil
  ) {
    self.reference = reference
    self.url = url
    self.format = format
    self.occasion = occasion
    self.secret = secret
    self.unsetVariables = unsetVariables
    self.place = place
  }
}

/// Links to the project's commits.
package struct BuildLinks: Sendable, Equatable {
  /// An http(s) URL with `{commit}` as a placeholder for the commit ID; nil if the project file has none.
  package var commit: String?

  package init(commit: String? = nil) {
    self.commit = commit
  }
}
