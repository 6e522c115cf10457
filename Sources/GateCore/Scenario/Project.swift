/// What one project file says, with every path made absolute and every default filled in.
package struct Project: Sendable, Equatable {
  /// The project file itself, for messages.
  package var file: String
  /// The folder that relative paths start from: the one with `.git`, else the file's own.
  package var root: String
  package var baselines: String
  /// The history database; nil is `history: off`.
  package var history: String?
  package var artifacts: String
  package var environment: EnvironmentRule
  package var links: BuildLinks
  package var webhooks: [Webhook]
  /// In the order of the file; matrices are expanded.
  package var scenarios: [Scenario]

  package init(
    file: String,
    root: String,
    baselines: String,
    history: String?,
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

/// Where a finished check is announced.
package struct Webhook: Sendable, Equatable {
  package enum Format: String, Sendable, CaseIterable {
    case json, slack, teams, discord
  }

  package enum Occasion: String, Sendable, CaseIterable {
    case always, failure, change
  }

  /// The URL as the project file spells it, before `${NAME}` is replaced: tells webhooks apart without their secrets.
  package var reference: String
  package var url: Secret
  package var format: Format
  package var occasion: Occasion
  package var secret: Secret?
  package var place: SourcePlace?

  package init(
    reference: String,
    url: Secret,
    format: Format = .json,
    occasion: Occasion = .always,
    secret: Secret? = nil,
    place: SourcePlace? = nil
  ) {
    self.reference = reference
    self.url = url
    self.format = format
    self.occasion = occasion
    self.secret = secret
    self.place = place
  }
}

/// Where the project's commits can be read.
package struct BuildLinks: Sendable, Equatable {
  /// An http(s) address in which `{commit}` stands for the commit's id; nil where the project file names none.
  package var commit: String?

  package init(commit: String? = nil) {
    self.commit = commit
  }
}
