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
      marker: ".github", file: .init(path: ".github/workflows/memory.yml", lines: lines),
      advice: { _ in "set HIGHWATER_PACKAGE in it to the address of the Debian package" }))

  /// A commit of the pull request that started the job.
  private static func ofPullRequest(_ end: String) -> CISystem.Source {
    .json(
      file: "GITHUB_EVENT_PATH", keys: ["pull_request", end, "sha"], where: "GITHUB_EVENT_NAME", is: "pull_request")
  }

  @Sendable private static func lines(_ job: JobContent) -> [String] {
    let place = job.folder.map { ["    defaults: {run: {working-directory: \(YAMLText.word($0))}}"] } ?? []
    let build = job.starter.build.map { ["      - run: \(YAMLText.line($0))"] } ?? []
    let artifacts = [job.below("result.json"), job.below("run.html"), ".highwater"].joined(separator: "\n")
    let check = job.check("--html", "run.html")
    let lines =
      [
        "name: memory", "on: [push, pull_request]", "jobs:", "  memory:", "    runs-on: ubuntu-latest",
        "    env:", "      HIGHWATER_PACKAGE: \(JobContent.address)   # the address of the Debian package",
      ] + place + [
        "    steps:", "      - uses: actions/checkout@v4", "      - run: |",
        "          curl --fail --silent --show-error --location --output /tmp/highwater.deb \"$HIGHWATER_PACKAGE\"",
        "          sudo apt-get install -y /tmp/highwater.deb",
      ] + build + [
        "      - run: \(check)", "      - if: always()", "        uses: actions/upload-artifact@v4",
        "        with: {name: memory, path: \(YAMLText.word(artifacts)), include-hidden-files: true}",
      ]
    // GitHub would replace an expression in the name of a file.
    return lines.map { $0.replacing("${{", with: "${{ '${{' }}") }
  }
}
