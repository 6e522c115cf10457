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
      marker: ".gitlab-ci.yml", file: .init(path: "memory.gitlab-ci.yml", lines: lines),
      advice: { _ in
        "set HIGHWATER_PACKAGE in it to the address of the Debian package, and add to .gitlab-ci.yml: "
          + Format.glued("`include: {local: /memory.gitlab-ci.yml}`")
      }))

  /// A mark that GitLab hides: it erases itself from the line.
  private static func mark(_ text: String) -> String { "\u{1b}[0K\(text)\r\u{1b}[0K" }

  @Sendable private static func lines(_ job: JobContent) -> [String] {
    let steps = (job.folder.map { ["cd \(ShellWords.quoted($0))"] } ?? []) + [job.starter.build].compactMap(\.self)
    let quality = job.check("--junit", "junit.xml", "--report", "codequality=quality.json")
    let (junit, issues) = (YAMLText.word(job.below("junit.xml")), YAMLText.word(job.below("quality.json")))
    return [
      "memory:", "  image: \(job.starter.kind.image)",
      "  variables: {HIGHWATER_PACKAGE: \"\(JobContent.address)\"}   # the address of the Debian package", "  script:",
      "    - apt-get update -qq && apt-get install -y -qq curl ca-certificates",
      "    - curl --fail --silent --show-error --location --output /tmp/highwater.deb \"$HIGHWATER_PACKAGE\"",
      "    - apt-get install -y /tmp/highwater.deb",
    ] + (steps + [quality]).map { "    - \(YAMLText.line($0))" } + [
      "  artifacts:", "    when: always", "    paths: \(YAMLText.list([job.below("result.json"), ".highwater"]))",
      "    reports: {junit: \(junit), codequality: \(issues)}",
    ]
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
    case .cmake, .executable, .command: "debian:bookworm   # with what your build needs"
    }
  }
}
