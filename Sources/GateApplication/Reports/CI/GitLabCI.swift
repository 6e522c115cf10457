import GateCore

extension CISystem.Row {
  static let gitLab = CISystem.Row(
    name: "GitLab", variable: "GITLAB_CI", value: nil,
    commit: ["{CI_MERGE_REQUEST_SOURCE_BRANCH_SHA}", "{CI_COMMIT_SHA}"],
    subject: ["{CI_COMMIT_TITLE}"],
    branch: ["{CI_MERGE_REQUEST_SOURCE_BRANCH_NAME}", "{CI_COMMIT_REF_NAME}"],
    pullRequest: ["{CI_MERGE_REQUEST_IID}"],
    targetBranch: ["{CI_MERGE_REQUEST_TARGET_BRANCH_NAME}"],
    targetCommit: ["{CI_MERGE_REQUEST_DIFF_BASE_SHA}"],
    buildURL: ["{CI_JOB_URL}"],
    person: ["{GITLAB_USER_LOGIN}"],
    shard: CISystem.Shard(index: "{CI_NODE_INDEX}", count: "{CI_NODE_TOTAL}", first: 1),
    folding: LogFolding(
      begin: { section, seconds in
        mark("section_start:\(seconds):\(section.name)[collapsed=true]")
          + TerminalText.withoutCommands(section.title) + "\n"
      }, end: { section, seconds in mark("section_end:\(seconds):\(section.name)") + "\n" }),
    summaryFile: [], annotations: nil,
    job: CISystem.Job(
      marker: ".gitlab-ci.yml", host: "gitlab",
      file: .init(path: "memory.gitlab-ci.yml") { _ in JobContent.pipeline("gitlab") },
      advice: { "add to .gitlab-ci.yml, with the address and the SHA-256 of the Debian package: \(include($0))" }))

  /// A mark that GitLab hides: it erases itself from the line.
  private static func mark(_ text: String) -> String { "\u{1b}[0K\(text)\r\u{1b}[0K" }

  /// The lines that include the file, with its inputs.
  private static func include(_ job: JobContent) -> String {
    let inputs =
      ["package: \"https://…\"", "sha256: \"…\"", "image: \"\(job.starter.kind.image)\""]
      + (job.options.map { ["options: \(YAMLText.word($0))"] } ?? [])
    return "`include: {local: /memory.gitlab-ci.yml, inputs: {\(inputs.joined(separator: ", "))}}`"
  }
}

extension Starter.Kind {
  /// A Debian image that can build it.
  fileprivate var image: String {
    switch self {
    case .swift: "swift:6.2-bookworm"
    case .cargo: "rust:bookworm"
    case .node: "node:22-bookworm"
    case .go: "golang:bookworm"
    case .python: "python:3.12-bookworm"
    case .make: "gcc:bookworm"
    case .cmake, .meson, .maven, .gradle, .jar, .executable, .command: "debian:bookworm"
    }
  }
}
