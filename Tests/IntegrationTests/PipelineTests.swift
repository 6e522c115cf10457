import Foundation
import LoopbackServers
import Testing

/// The shell parts of `ci/pipelines`, run with the variables and files of their systems, and with a forge's API.
@Suite("Ready-made pipelines", .endsHangs)
struct PipelineTests {
  /// A job with a checkout of the branch `topic`, whose target holds more than the approved baseline.
  private struct Job {
    /// The checkout, and beside it the repository that it was cloned from.
    let project: TemporaryProject
    let outside: TemporaryProject
    let forge: LoopbackServer

    init(_ change: String = "echo 30 >size") throws {
      (project, outside, forge) = (try .holding(4), try TemporaryProject(), try LoopbackServer())
      try project.checkAndApprove()
      try FileManager.default.createDirectory(atPath: outside.url("bin").path, withIntermediateDirectories: true)
      try FileManager.default.createSymbolicLink(
        atPath: outside.url("bin/highwater").path,
        withDestinationPath: URL(fileURLWithPath: Highwater.binary).standardizedFileURL.path)
      let setup = """
        git config --global user.name Ann; git config --global user.email ann@example.org
        git init -q --bare "$OUTSIDE/origin"; printf '%s\\n' started '*.out' '*.err' >.gitignore
        git init -q -b main . && git add . && git commit -qm main
        git remote add origin "$OUTSIDE/origin" && git push -q origin main && git fetch -q
        git checkout -q -b topic; \(change); git commit -qam topic && git push -q origin topic
        """
      _ = try Self.shell(setup, in: project, ["OUTSIDE": outside.path, "HOME": outside.path])
    }

    private static func shell(_ script: String, in project: TemporaryProject, _ variables: [String: String]) throws
      -> String
    {
      let outcome = try Highwater.Running(
        ["-euc", script], in: project, variables: variables, program: "/bin/bash"
      ).wait()
      try #require(outcome.code == 0, "\(outcome.text)")
      return outcome.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    @discardableResult
    func shell(_ script: String) throws -> String { try Self.shell(script, in: project, common) }

    /// The commit and the message of `topic` in the repository.
    var pushed: String { get throws { try shell("git -C \(outside.path)/origin log -1 --format='%H %s: %b' topic") } }

    private var common: [String: String] {
      [
        "HOME": outside.path, "PATH": "\(outside.url("bin").path):/usr/bin:/bin", "HIGHWATER_TOKEN": "bot",
        "CI": "true",
      ]
    }

    /// Runs the shell steps of a job of GitHub.
    func gitHub(_ file: String, _ job: String, _ step: String = "", contexts: [String: Any] = [:]) throws
      -> Highwater.Outcome
    {
      let event = ["pull_request": ["head": ["sha": try shell("git rev-parse HEAD")]]]
      try outside.write(json(event), to: "event.json")
      return try run(
        ["github", "github/\(file).yml", job, try json(contexts)] + (step.isEmpty ? [] : [step]),
        [
          "GITHUB_ACTIONS": "true", "GITHUB_REPOSITORY": "ann/project", "GITHUB_API_URL": forge.url("/forge"),
          "GITHUB_EVENT_NAME": "pull_request", "GITHUB_EVENT_PATH": outside.url("event.json").path,
          "GITHUB_REF": "refs/pull/7/merge", "GITHUB_BASE_REF": "main", "GITHUB_HEAD_REF": "topic",
          "GITHUB_ACTOR": "ann",
          "GITHUB_OUTPUT": outside.url("output").path, "GITHUB_STEP_SUMMARY": outside.url("summary.md").path,
          "RUNNER_TEMP": outside.path,
        ])
    }

    /// Runs the script of a job of GitLab.
    func gitLab(_ job: String, _ variables: [String: String] = [:]) throws -> Highwater.Outcome {
      let inputs = ["inputs": ["package": "https://example.org/h.deb", "sha256": "0", "options": "load"]]
      let known = [
        "GITLAB_CI": "true", "CI_API_V4_URL": forge.url("/forge"), "CI_PROJECT_ID": "3", "CI_PIPELINE_ID": "9",
        "CI_MERGE_REQUEST_IID": "7", "CI_COMMIT_SHA": try shell("git rev-parse HEAD"),
        "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
        "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME": "topic", "GITLAB_USER_LOGIN": "ann",
      ]
      return try run(["gitlab", "gitlab/memory.yml", job, try json(inputs)], known.merging(variables) { $1 })
    }

    private func run(_ words: [String], _ variables: [String: String]) throws -> Highwater.Outcome {
      let runner = "\(ExampleTests.root)/Tests/IntegrationTests/Support/run-steps.py"
      let file = "\(ExampleTests.root)/ci/pipelines/\(words[1])"
      return try Highwater.Running(
        ["python3", runner, words[0], file] + words[2...], in: project, variables: common.merging(variables) { $1 },
        program: "/usr/bin/env"
      ).wait()
    }

    private func json(_ value: Any) throws -> String {
      String(decoding: try JSONSerialization.data(withJSONObject: value), as: UTF8.self)
    }

    /// Takes the artifact of the last check to where a job downloads it.
    func downloadArtifact() throws { try shell("rm -rf ~/memory && cp -r .highwater ~/memory") }

    /// Makes the forge answer with a file.
    func serve(_ path: String, _ file: String) throws {
      try shell("curl -sf --data-binary @\(file) '\(forge.url("/forge/\(path)"))' >/dev/null")
    }

    /// Reverts the approval, and the change of the program before it.
    func revert() throws { try shell("git revert --no-edit HEAD HEAD^ >/dev/null && git push -q origin HEAD:topic") }

    /// Makes GitLab have the artifacts of the last check.
    func serveArtifacts() throws {
      try shell("rm -f ~/artifacts.zip; zip -q -r ~/artifacts.zip .highwater")
      try serve("projects/3/jobs/5/artifacts", "$HOME/artifacts.zip")
    }

    /// Makes GitHub have a run of the head of `topic`.
    func serveRun(of repository: String = "ann/project") throws {
      try shell(
        """
        echo '{"workflow_runs": [{"id": 5, "head_repository": {"full_name": "\(repository)"}}]}' >~/runs
        echo '{"object": {"sha": "'"$(git rev-parse HEAD)"'"}}' >~/head
        """)
      try serve("repos/ann/project/git/ref/heads/topic", "$HOME/head")
      try serve("repos/ann/project/actions/workflows/memory.yml/runs", "$HOME/runs")
    }

    /// The requests that wrote comments, with the text.
    func comments() throws -> [(method: String, path: String, text: String)] {
      try forge.readLog().filter { $0.method != "GET" && !$0.body.isEmpty && $0.body.first == UInt8(ascii: "{") }
        .map { ($0.method, $0.path, try object(in: String(decoding: $0.body, as: UTF8.self))["body"] as? String ?? "") }
        .filter { !$0.2.isEmpty }
    }

    /// The contexts of the job that comments on a run of this branch.
    static func commenting(_ branch: String, of owner: String = "ann") -> [String: Any] {
      let run: [String: Any] = ["head_branch": branch, "head_repository": ["owner": ["login": owner]]]
      return ["github": ["token": "github-actions[bot]", "event": ["workflow_run": run]]]
    }
  }

  @Test("GitHub: a rise fails, is commented on once, and passes after its approval, which is a commit on the branch")
  func gitHub() throws {
    let job = try Job()
    let check = try job.gitHub("action", "action")
    #expect(check.code == 1, "\(check.text)")
    #expect(try job.outside.read("output") == "exit-code=1\n")
    #expect(try job.outside.read("summary.md").contains("### ✗ regression: 1 of 1 scenario regressed"))
    try job.downloadArtifact()

    // A stranger's comment with our first line stays as it is.
    try job.shell("jq -Rs '{body: .}' ~/memory/comment.md >~/copy")
    let comments = "/forge/repos/ann/project/issues/7/comments"
    try job.shell("curl -sf -H 'Authorization: token eve' -d @$HOME/copy \(job.forge.url(comments)) >/dev/null")
    try job.shell(#"echo '[{"number": 7, "head": {"label": "ann:topic"}}]' >~/pulls"#)
    try job.serve("repos/ann/project/pulls", "$HOME/pulls")
    for _ in 1...2 {
      let outcome = try job.gitHub("memory-comment", "comment", contexts: Job.commenting("topic"))
      #expect(outcome.code == 0, "\(outcome.text)")
    }
    let written = try job.comments().dropFirst()
    #expect(written.map(\.method) == ["POST", "PATCH"])
    #expect(written.last?.path == "/forge/repos/ann/project/issues/comments/2")
    #expect(written.allSatisfy { $0.text.contains("regression") })

    try job.serveRun()
    let inputs = ["inputs": ["branch": "topic", "reason": "a cache; $(touch injected)"]]
    // Without the commit that was measured, nothing is approved.
    let later = "echo later >later && git add later && git commit -q -m later && git push -q origin HEAD:topic"
    try job.shell("\(later) && git reset -q --hard HEAD^")
    let refused = try job.gitHub("memory-approve", "approve", contexts: inputs)
    #expect(refused.code == 2 && refused.text.contains("skipped"), "\(refused.text)")
    try job.shell("git push -qf origin HEAD:topic")
    // A fork can have a run of the same commit.
    try job.serveRun(of: "eve/project")
    #expect(try job.gitHub("memory-approve", "approve", "find the run", contexts: inputs).code != 0)
    try job.serveRun()
    let approval = try job.gitHub("memory-approve", "approve", contexts: inputs)
    #expect(approval.code == 0, "\(approval.text)")
    #expect(try job.outside.read("output").hasSuffix("id=5\n"))
    #expect(try job.pushed.hasSuffix("Approve memory baselines: a cache; $(touch injected)"))
    try job.shell("git pull -q origin topic")
    #expect(try job.shell("git diff --name-only HEAD^").hasPrefix("baselines/load/"))
    let after = try job.gitHub("action", "action")
    #expect(after.code == 0, "\(after.text)")
    let comment = try job.project.read(".highwater/comment.md")
    #expect(comment.contains("**this change edits the baselines of load: review"))
    #expect(comment.contains("baseline of load ") && comment.contains("approved by ann: a cache"), "\(comment)")
    try job.revert()
    #expect(try job.gitHub("action", "action").code == 0)
  }

  @Test("GitLab: a rise fails, is commented on once, and passes after its approval, which is a commit on the branch")
  func gitLab() throws {
    let job = try Job()
    let check = try job.gitLab("memory")
    #expect(check.code == 1, "\(check.text)")
    for name in ["junit.xml", "quality.json", "metrics.txt"] {
      #expect(try !job.project.read(".highwater/\(name)").isEmpty)
    }
    // A stranger's job could write commands into the report.
    try job.shell(#"printf '/merge\n  > /approve\n\r/close\n' >>.highwater/comment.md"#)
    for _ in 1...2 { #expect(try job.gitLab("memory-comment").code == 0) }
    #expect(try job.comments().map(\.method) == ["POST", "PUT"])
    for comment in try job.comments() {
      let lines = comment.text.split(separator: "\n").map { $0.drop { " >".contains($0) } }
      #expect(lines.contains(#"\/merge"#) && !lines.contains { $0.hasPrefix("/") }, "\(comment)")
    }
    #expect(try job.comments().last?.path == "/forge/projects/3/merge_requests/7/notes/1")

    try job.shell(#"echo '[{"name": "pages", "id": 6}, {"name": "memory", "id": 5}]' >~/jobs"#)
    try job.serve("projects/3/pipelines/9/jobs", "$HOME/jobs")
    try job.serveArtifacts()
    #expect(try job.gitLab("memory-approve").code == 2)
    let approval = try job.gitLab("memory-approve", ["HIGHWATER_REASON": "a cache"])
    #expect(approval.code == 0, "\(approval.text)")
    try job.shell("git pull -q origin topic")
    #expect(try job.gitLab("memory").code == 0)
    try job.revert()
    #expect(try job.gitLab("memory").code == 0)
  }

  @Test("The pull request of a stranger gets no secret, is not committed to, and is reported to edit its own gate")
  func stranger() throws {
    let edits = "echo 30 >size; sed -i s/3%/900%/ highwater.yml; sed -i s/approved/approved/ baselines/load/*.json"
    let job = try Job("\(edits); echo >>$(echo baselines/load/*.json)")
    let check = try job.gitHub("action", "action")
    #expect(check.code == 0, "\(check.text)")
    let sentence = "this change edits the baselines of load and the project file `highwater.yml`: review them"
    #expect(check.text.contains(sentence))
    #expect(check.text.contains("::notice::\(sentence)"))
    try job.downloadArtifact()

    // Nobody else's pull request gets the comment, and a branch's name is not executed.
    try job.shell(#"echo '[{"number": 7, "head": {"label": "ann:topic"}}]' >~/pulls"#)
    try job.serve("repos/ann/project/pulls", "$HOME/pulls")
    for (branch, owner) in [("topic", "eve"), ("$(touch injected)", "ann"), ("topic", "")] {
      let outcome = try job.gitHub("memory-comment", "comment", contexts: Job.commenting(branch, of: owner))
      #expect(outcome.code == 0 && outcome.errors.contains("no open pull request"), "\(outcome.text)")
    }
    try job.shell("echo '/merge @everyone' >~/memory/comment.md")
    #expect(try job.gitHub("memory-comment", "comment", contexts: Job.commenting("topic")).code == 2)
    #expect(try job.comments().isEmpty)

    // A branch of the repository with the name of the stranger's has another commit.
    try job.shell("git push -qf origin main:topic")
    let inputs = ["inputs": ["branch": "topic", "reason": "x"]]
    #expect(try job.gitHub("memory-approve", "approve", "approve", contexts: inputs).code == 2)
    #expect(try job.pushed.contains(" main:"))
    #expect(try job.shell("find . ~ -name injected").isEmpty)

    let workflow = try String(contentsOfFile: "\(ExampleTests.root)/ci/pipelines/github/memory.yml", encoding: .utf8)
    #expect(!workflow.contains("secrets.") && !workflow.contains("pull_request_target"))
  }

  /// Changes of a branch whose authors want the token of the job that approves, or to run or write something in it.
  private static let attacks = [
    #"sed -i '1a baselines: "b-${HIGHWATER_TOKEN}-${HOME}"' highwater.yml"#,
    #"sed -i '1a include: ["${HIGHWATER_TOKEN}.yml"]' highwater.yml"#,
    #"mkdir b && ln -s "$OUTSIDE" b/load && git add b && sed -i '1a baselines: b' highwater.yml"#,
    #"ln -s "$OUTSIDE" b && git add b && sed -i '1a baselines: b' highwater.yml"#,
    "sed -i '1a baselines: ../b' highwater.yml",
    // In a file that is downloaded beside the checkout.
    "ln -s .git/config result.json && git add result.json",
    // A filter, and a command that runs at each status, which the machine's configuration has.
    "echo '* filter=evil merge=evil ident' >.gitattributes && git add .gitattributes",
    // Other repositories, which the token is not for.
    #"git config -f .gitmodules submodule.x.url http://127.0.0.1:9/; git config -f .gitmodules submodule.x.path x; "#
      + "git add .gitmodules; git config -f .lfsconfig lfs.url http://127.0.0.1:9/; git add .lfsconfig",
  ]

  @Test("An approval neither publishes its token nor runs or writes what the branch wants", arguments: attacks)
  func approvalOfHostileBranch(change: String) throws {
    let job = try Job("echo 30 >size; \(change)")
    // Measured with the token, as an attacker could choose the folder that the token would lead to.
    _ = try job.gitLab("memory")
    try job.shell(
      """
      git config --global filter.evil.clean 'touch ~/injected; cat'
      git config --global filter.evil.smudge 'touch ~/injected; cat'
      git config --global core.fsmonitor 'touch ~/injected; false'
      git checkout -q -f main 2>/dev/null; git checkout -q -f topic; rm -f ~/injected
      echo '[{"name": "memory", "id": 5}]' >~/jobs
      """)
    try job.serve("projects/3/pipelines/9/jobs", "$HOME/jobs")
    try job.serveArtifacts()
    let settings = try job.shell("cat .git/config")
    let approval = try job.gitLab(
      "memory-approve", ["HIGHWATER_REASON": "a cache", "HIGHWATER_TOKEN": "hush-hush"])
    #expect(!approval.text.contains("hush-hush"), "\(approval.text)")
    #expect(try job.shell("git -C ~/origin log --all --name-only -p -5 | grep -c hush-hush || true") == "0")
    #expect(try job.shell("find ~ . -name injected").isEmpty)
    #expect(try job.shell("cat .git/config") == settings)
    #expect(try job.shell("find ~ -name '*.json' -path '*cpu*' -not -path '*/.highwater/*'").isEmpty)
  }
}
