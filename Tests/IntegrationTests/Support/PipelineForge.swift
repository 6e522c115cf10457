import Foundation
import LoopbackServers
import Testing

enum PipelineSystem: String, CaseIterable {
  case gitHub = "github"
  case gitLab = "gitlab"
  case jenkins
}

/// A repository on a forge, whose jobs run the steps of a ready-made pipeline, each in a checkout of its own.
///
/// With `HIGHWATER_TRANSCRIPTS`, a folder, each forge writes there what its jobs print, for people to read.
final class PipelineForge {
  private static let program = """
    #include <stdlib.h>
    #include <string.h>
    #include <unistd.h>
    #define SIZE 4
    char *fill_cache(void) { return memset(malloc(SIZE << 20), 1, SIZE << 20); }
    int main(void) { char *cache = fill_cache(); usleep(20000); return cache[1] - 1; }
    """
  private static let projectFile = """
    version: 1
    build: make
    scenarios:
      - {name: load, target: {command: [./hold]}, repetitions: 2, warmup: 0, gate: {peak_rss: [3%, 256KiB]}}
    """

  /// The change that adds the project file.
  static let adoption = "cp ~/highwater.yml ."

  private let system: PipelineSystem
  /// Everything lies in its folder, which is the home of the jobs.
  private let home: TemporaryProject
  private let server: LoopbackServer
  private var jobs = 0
  private var commit = ""
  private var transcript = ""

  init(_ system: PipelineSystem) throws {
    self.system = system
    (home, server) = (try TemporaryProject(), try LoopbackServer())
    try home.write(Self.program, to: "start/hold.c")
    try home.write("all:: hold\nhold: hold.c\n\tcc -g -O0 -o hold hold.c\n", to: "start/Makefile")
    try home.write("hold\n.highwater\n", to: "start/.gitignore")
    try home.write("hello\n", to: "start/README")
    try home.write(Self.projectFile, to: "highwater.yml")
    try FileManager.default.createDirectory(atPath: home.url("bin").path, withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(
      atPath: home.url("bin/highwater").path,
      withDestinationPath: URL(fileURLWithPath: Highwater.binary).standardizedFileURL.path)
    try shell(
      """
      git config --global user.name Ann; git config --global user.email ann@example.org
      git config --global init.defaultBranch main; git init -q --bare origin
      git init -q start && cd start && git add . && git commit -qm start && git push -q ../origin main
      """)
  }

  // MARK: Git

  /// Pushes a branch of main with one commit, made by a shell command.
  func branch(_ name: String, from start: String = "main", _ change: String) throws {
    try shell(
      """
      rm -rf edit && git clone -q origin edit && cd edit && git checkout -q -b \(name) origin/\(start)
      \(change); git add -A; git commit -qm 'change \(name)' || true; git push -q origin \(name)
      """)
  }

  /// Merges a branch into main, as the forge does.
  func merge(_ name: String) throws {
    try shell(
      """
      rm -rf edit && git clone -q origin edit && cd edit
      git merge -q --no-ff -m 'merge \(name)' origin/\(name) && git push -q origin main
      """)
  }

  /// The files of baselines on a branch.
  func baselines(_ branch: String) throws -> [Substring] {
    try shell("git -C origin ls-tree -r --name-only \(branch) baselines").split(separator: "\n")
  }

  // MARK: Jobs

  /// The job that checks a branch: main, or that of a pull request.
  func check(_ branch: String) throws -> Highwater.Outcome {
    let folder = try checkout(branch, merged: system == .gitHub)
    let outcome =
      switch system {
      case .gitHub: try run("github/memory.yml", "check", [:], branch, in: folder)
      case .gitLab: try run("gitlab/memory.yml", "memory", gitLabInputs, branch, in: folder)
      case .jenkins: try run("jenkins/Jenkinsfile", "check", jenkinsContexts(branch), branch, in: folder)
      }
    if system == .gitLab { try serve("projects/3/jobs/5/artifacts", "store/artifacts.zip") }
    return outcome
  }

  /// The job that approves the artifact of the last check of a branch.
  func approve(_ branch: String, because reason: String) throws -> Highwater.Outcome {
    let folder = try checkout(system == .gitHub ? "main" : branch)
    switch system {
    case .gitHub:
      try serveRun(of: branch)
      return try run(
        "github/memory-approve.yml", "approve", ["inputs": ["branch": branch, "reason": reason]], "main", in: folder)
    case .gitLab:
      try serveJobs()
      return try run(
        "gitlab/memory.yml", "memory-approve", gitLabInputs, branch, in: folder, ["HIGHWATER_REASON": reason])
    case .jenkins:
      return try run("jenkins/Jenkinsfile", "approve", jenkinsContexts(branch, approving: reason), branch, in: folder)
    }
  }

  /// The job of the schedule.
  func fold() throws -> Highwater.Outcome {
    let folder = try checkout("main")
    switch system {
    case .gitHub:
      try serveRun(of: "main")
      let contexts = ["github": ["event": ["repository": ["default_branch": "main"]]]]
      return try run(
        "github/memory-approve.yml", "approve", contexts, "main", in: folder, ["GITHUB_EVENT_NAME": "schedule"])
    case .gitLab: return try run("gitlab/memory.yml", "memory-fold", gitLabInputs, "main", in: folder)
    case .jenkins: return try run("jenkins/Jenkinsfile", "approve", jenkinsContexts("main"), "main", in: folder)
    }
  }

  /// The job that comments on the pull request of a branch.
  func comment(_ branch: String) throws -> Highwater.Outcome {
    let folder = try checkout("main")
    switch system {
    case .gitHub:
      try shell(#"echo '[{"number": 7, "head": {"label": "ann:\#(branch)"}}]' >pulls"#)
      try serve("repos/ann/project/pulls", "pulls")
      let run: [String: Any] = [
        "id": runID(branch), "head_branch": branch, "head_repository": ["owner": ["login": "ann"]],
      ]
      return try self.run(
        "github/memory-comment.yml", "comment", ["github": ["event": ["workflow_run": run]]], "main", in: folder)
    case .gitLab: return try run("gitlab/memory.yml", "memory-comment", gitLabInputs, branch, in: folder)
    case .jenkins: return try run("jenkins/Jenkinsfile", "comment", jenkinsContexts(branch), branch, in: folder)
    }
  }

  var lastComment: String {
    get throws {
      let bodies = try server.readLog().filter { $0.method != "GET" && $0.body.first == UInt8(ascii: "{") }
      let texts = bodies.compactMap { try? object(in: String(decoding: $0.body, as: UTF8.self))["body"] as? String }
      return try #require(texts.last)
    }
  }

  /// The names of the files that the jobs of a branch keep for later ones.
  func kept(_ branch: String) throws -> String {
    let folder =
      switch system {
      case .gitHub: "cache/\(branch)"
      case .gitLab: "cache/\(branch == "main" ? "protected" : "others")"
      case .jenkins: "builds/project/\(branch)"
      }
    return try shell("find store/\(folder) -type f")
  }

  private func runID(_ branch: String) -> String { "run-\(branch)" }

  // MARK: What the systems give

  private let gitLabInputs = ["inputs": ["package": "https://example.org/h.deb", "sha256": "0"]]

  private func jenkinsContexts(_ branch: String, approving reason: String = "") -> [String: Any] {
    var variables = ["JOB_NAME": "project/\(branch)", "BRANCH_NAME": branch, "ORIGIN": home.url("origin").path]
    if branch != "main" {
      variables.merge(["CHANGE_ID": "7", "CHANGE_BRANCH": branch, "CHANGE_TARGET": "main"]) { $1 }
    }
    return ["params": ["APPROVE": reason], "env": variables, "user": reason.isEmpty ? "" : "ann"]
  }

  private func variables(_ branch: String) -> [String: String] {
    switch system {
    case .gitHub:
      let shared = [
        "GITHUB_ACTIONS": "true", "GITHUB_REPOSITORY": "ann/project", "GITHUB_API_URL": server.url("/forge"),
        "GITHUB_ACTOR": "ann", "GITHUB_RUN_ID": runID(branch), "GITHUB_OUTPUT": home.url("output").path,
        "GITHUB_STEP_SUMMARY": home.url("summary.md").path, "GITHUB_EVENT_PATH": home.url("event.json").path,
        "RUNNER_TEMP": home.url("temporary").path, "GITHUB_SHA": commit,
      ]
      let own =
        branch == "main"
        ? ["GITHUB_EVENT_NAME": "push", "GITHUB_REF": "refs/heads/main", "GITHUB_REF_NAME": "main"]
        : [
          "GITHUB_EVENT_NAME": "pull_request", "GITHUB_REF": "refs/pull/7/merge", "GITHUB_BASE_REF": "main",
          "GITHUB_HEAD_REF": branch,
        ]
      return shared.merging(own) { $1 }
    case .gitLab:
      let shared = [
        "GITLAB_CI": "true", "CI_API_V4_URL": server.url("/forge"), "CI_PROJECT_ID": "3", "CI_PIPELINE_ID": "9",
        "CI_COMMIT_SHA": commit, "GITLAB_USER_LOGIN": "ann",
      ]
      let own =
        branch == "main"
        ? ["CI_COMMIT_BRANCH": "main"]
        : [
          "CI_MERGE_REQUEST_IID": "7", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
          "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME": branch,
        ]
      return shared.merging(own) { $1 }
    case .jenkins:
      return [
        "JENKINS_URL": "https://ci.example", "GITHUB_REPOSITORY": "ann/project", "GITHUB_API_URL": server.url("/forge"),
        "GIT_COMMIT": commit,
      ]
    }
  }

  /// A new checkout, of the merge with main if the system builds that.
  private func checkout(_ branch: String, merged: Bool = false) throws -> String {
    jobs += 1
    let folder = "work/\(jobs)"
    let merge = merged && branch != "main" ? "git merge -q --no-ff -m merge origin/main" : ":"
    commit = try shell(
      """
      git clone -q origin \(folder) && cd \(folder) && git checkout -q --detach origin/\(branch)
      echo '{"pull_request": {"head": {"sha": "'"$(git rev-parse HEAD)"'"}}}' >~/event.json
      rm -rf ~/temporary ~/output && mkdir ~/temporary
      git rev-parse HEAD; \(merge)
      """)
    return folder
  }

  private func serveJobs() throws {
    try shell(#"echo '[{"name": "memory", "id": 5}]' >jobs.json"#)
    try serve("projects/3/pipelines/9/jobs", "jobs.json")
  }

  private func serveRun(of branch: String) throws {
    try shell(
      """
      echo '{"workflow_runs": [{"id": "\(runID(branch))", "head_repository": {"full_name": "ann/project"}}]}' >runs
      echo '{"object": {"sha": "'"$(git -C origin rev-parse \(branch))"'"}}' >head
      """)
    try serve("repos/ann/project/git/ref/heads/\(branch)", "head")
    try serve("repos/ann/project/actions/workflows/memory.yml/runs", "runs")
  }

  private func serve(_ path: String, _ file: String) throws {
    try shell("curl -sf --data-binary @\(file) '\(server.url("/forge/\(path)"))' >/dev/null")
  }

  // MARK: Processes

  private var common: [String: String] {
    [
      "HOME": home.path, "PATH": "\(home.url("bin").path):/usr/bin:/bin", "HIGHWATER_TOKEN": "bot", "CI": "true",
      "CI_STORE": home.url("store").path,
    ]
  }

  private func run(
    _ file: String, _ job: String, _ contexts: [String: Any], _ branch: String, in folder: String,
    _ more: [String: String] = [:]
  ) throws -> Highwater.Outcome {
    let json = String(decoding: try JSONSerialization.data(withJSONObject: contexts), as: UTF8.self)
    let all = common.merging(variables(branch)) { $1 }.merging(["CI_SCOPE": branch]) { $1 }.merging(more) { $1 }
    let outcome = try Highwater.Running(
      [
        "python3", "\(ExampleTests.root)/Tests/IntegrationTests/Support/run-steps.py", system.rawValue,
        "\(ExampleTests.root)/ci/pipelines/\(file)", job, json,
      ], in: home, from: home.url(folder).path, variables: all, program: "/usr/bin/env"
    ).wait()
    let comment = job.contains("comment") ? (try? lastComment) ?? "" : ""
    try record("\(job) of \(branch): exit code \(outcome.code)\n\n\(outcome.output)\(outcome.errors)\(comment)")
    return outcome
  }

  private func record(_ text: String) throws {
    transcript += "# \(text)\n\n"
    guard let folder = ProcessInfo.processInfo.environment["HIGHWATER_TRANSCRIPTS"] else { return }
    let name = "\(system.rawValue)-\(home.url(".").standardizedFileURL.lastPathComponent).md"
    try Data(transcript.utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
  }

  @discardableResult
  private func shell(_ script: String) throws -> String {
    let outcome = try Highwater.Running(["-euc", script], in: home, variables: common, program: "/bin/bash").wait()
    try #require(outcome.code == 0, "\(script): \(outcome.text)")
    return outcome.output.trimmingCharacters(in: .whitespacesAndNewlines)
  }
}
