import GateCore

extension CISystem.Row {
  static let gitHub = CISystem.Row(
    name: "GitHub", variable: "GITHUB_ACTIONS", value: nil,
    commit: [ofPullRequest("head"), "{GITHUB_SHA}"],
    subject: [],
    branch: ["{GITHUB_HEAD_REF}", "{GITHUB_REF_NAME}"],
    pullRequest: ["{GITHUB_REF}"],
    targetBranch: ["{GITHUB_BASE_REF}"],
    targetCommit: [ofPullRequest("base")],
    buildURL: ["{GITHUB_SERVER_URL}/{GITHUB_REPOSITORY}/actions/runs/{GITHUB_RUN_ID}"],
    person: ["{GITHUB_ACTOR}"],
    shard: nil,
    folding: LogFolding(
      begin: { section, _ in GitHubCommands.group(section.title) }, end: { _, _ in GitHubCommands.endGroup }),
    summaryFile: ["{GITHUB_STEP_SUMMARY}"],
    annotations: { GitHubCommands.annotations(for: $0, context: $1) },
    job: CISystem.Job(
      marker: ".github", host: "github.com", file: .init(path: ".github/workflows/memory.yml", text: text),
      advice: { _ in
        "in that file, replace OWNER and the zeros by the account and the commit of your copy of Highwater, and the address "
          + "and the SHA-256 by those of your Debian package; its ci/pipelines/github has two more files, for comments and "
          + "approvals"
      }))

  /// A commit of the pull request that started the job.
  private static func ofPullRequest(_ end: String) -> CISystem.Source {
    .json(
      file: "GITHUB_EVENT_PATH", keys: ["pull_request", end, "sha"], where: "GITHUB_EVENT_NAME", is: "pull_request")
  }

  /// The ready-made workflow, with the project file if `check` does not find it by itself.
  @Sendable private static func text(_ job: JobContent) -> String {
    let text = JobContent.pipeline("github")
    guard let options = job.options else { return text }
    // GitHub would replace an expression in the name of a file.
    let word = YAMLText.word(options).replacing("${{", with: "${{ '${{' }}")
    return text.replacing(#/(?m)^( +)sha256: .*$/#) { "\($0.output.0)\n\($0.output.1)options: \(word)" }
  }
}
