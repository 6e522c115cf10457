import GateCore
import Testing

@testable import GateApplication

/// A repository whose `main` moved on after the branch `topic` left it.
@Suite("What a pull request edits of its own gate")
struct OwnEditsTests {
  private let project: UseCaseProject

  init() throws {
    project = try UseCaseProject(holding: 8, keys: "history: off\ninclude: [\"more/*.yml\"]")
    for name in ["a", "b"] {
      try project.write("scenarios: [{name: \(name), target: {shell: x}}]", to: "more/\(name).yml")
    }
    try project.write("{}", to: "baselines/old/ci.json")
    try project.write("int main;", to: "main.c")
    try project.commit("more", "baselines", "main.c")
    try project.shell("git branch -m main && git update-ref refs/remotes/origin/main HEAD && git checkout -q -b topic")
  }

  /// Checks what the branch changed with this command, in a job of the pull request.
  private func notes(after change: String, variables: [String: String] = [:]) throws -> [RunNote] {
    try project.shell(change)
    try project.commit(".")
    return try notes(variables: variables)
  }

  private func notes(variables: [String: String] = [:]) throws -> [RunNote] {
    let job = ["JENKINS_URL": "https://ci.example", "CHANGE_ID": "7", "CHANGE_TARGET": "main"]
    let outcome = try project.check(variables: job.merging(variables) { $1 })
    try #require(outcome.code != .usage, "\(outcome.text)")
    let run = try #require(try project.result()["run"] as? [String: Any])
    return (run["notes"] as? [[String: Any]] ?? []).map { note in
      guard let edits = note["editsOwnGate"] as? [String: [String]] else { return .unknownEdits }
      return .editsOwnGate(baselines: edits["baselines"] ?? [], files: edits["files"] ?? [])
    }
  }

  @Test(
    "Baselines and project files are named, those that were removed, too; other files are not",
    arguments: [
      ("echo x >main.c", [], []),
      ("mkdir -p baselines/load && echo {} >baselines/load/ci.json", ["load"], []),
      ("echo >>baselines/old/ci.json; echo '\\n#' >>highwater.yml", ["old"], ["highwater.yml"]),
      ("rm baselines/old/ci.json more/b.yml; echo >baselines/README", ["old"], ["more/b.yml"]),
      ("git mv more/b.yml more/c.yml", [], ["more/b.yml", "more/c.yml"]),
    ])
  func named(change: String, baselines: [String], files: [String]) throws {
    let expected = baselines + files == [] ? [] : [RunNote.editsOwnGate(baselines: baselines, files: files)]
    #expect(try notes(after: change) == expected)
  }

  @Test(
    "An edit behind a symbolic link is named, and so is a change of the link",
    arguments: [
      ("echo '{ }' >mem/old/ci.json", ["old"], []),
      ("rm baselines && ln -s other baselines", ["load", "a", "b", "c"].sorted(), []),
      ("echo '{ }' >elsewhere/ci.json", ["load"], []),
      ("rm mem/load && ln -s ../other mem/load", ["load"], []),
      ("echo '\\n#' >>hidden.yml", [], ["hidden.yml"]),
      ("rm more/c.yml && ln -s ../other/d.yml more/c.yml", [], ["more/c.yml"]),
    ])
  func links(change: String, baselines: [String], files: [String]) throws {
    try project.shell(
      """
      git checkout -q main && git mv baselines mem && ln -s mem baselines
      mkdir elsewhere other && echo {} >elsewhere/ci.json && ln -s ../elsewhere mem/load
      echo 'scenarios: [{name: c, target: {shell: x}}]' >hidden.yml && ln -s ../hidden.yml more/c.yml
      echo 'scenarios: [{name: d, target: {shell: x}}]' >other/d.yml && git add -A
      """)
    try project.commit(".")
    try project.shell("git update-ref refs/remotes/origin/main HEAD && git checkout -q -B topic")
    #expect(try notes(after: change) == [RunNote.editsOwnGate(baselines: baselines, files: files)])
  }

  @Test("A change of a baseline says from what to what, who approved it and why; the verdict stays")
  func moves() throws {
    try project.shell("git checkout -q main")
    try project.checkAndApprove()
    try project.commit("baselines")
    try project.shell("git update-ref refs/remotes/origin/main HEAD && git checkout -q -B topic")
    project.measurer.hold(12)
    _ = try project.check()
    #expect(
      try project.approve(variables: ["HIGHWATER_APPROVER": "Ada"]) { $0.request.reason = "headers are kept" }.code
        == .pass)
    try project.commit(".")
    let job = ["JENKINS_URL": "https://ci.example", "CHANGE_ID": "7", "CHANGE_TARGET": "main"]
    let outcome = try project.check(variables: job) {
      $0.options.reports = [ReportFile(.junit, path: "junit.xml"), ReportFile(.markdown, path: "c.md")]
    }
    #expect(outcome.code == .pass)
    let sentence =
      "baseline of load (linux-x86_64-2cpu): peak_rss 8.0 MiB → 12.0 MiB (+50.0 %); approved by Ada: "
      + "headers are kept"
    #expect(outcome.text.contains(sentence), "\(outcome.text)")
    #expect(try project.read("junit.xml").contains(sentence))
    #expect(try project.read("c.md").contains("headers are kept"))
  }

  @Test("What the target edited meanwhile does not count, also in a shallow clone of the merge commit")
  func target() throws {
    try project.shell("echo '\\n#' >>more/a.yml")
    let head = try project.commit(".")
    try project.shell("git checkout -q main && echo '{ }' >baselines/old/ci.json")
    try project.commit(".")
    try project.shell("git update-ref refs/remotes/origin/main HEAD")
    let expected = [RunNote.editsOwnGate(baselines: [], files: ["more/a.yml"])]
    try project.shell("git -c user.name=A -c user.email=a@x merge -q -m m topic")
    #expect(try notes(variables: ["GIT_COMMIT": head]) == expected)
    #expect(try notes(variables: ["GIT_COMMIT": ""]) == expected)
    try project.shell(
      "mv .git ../full && git init -q . && git fetch -q --depth 2 ../full HEAD && git reset -q FETCH_HEAD")
    #expect(try notes(variables: ["GIT_COMMIT": head]) == expected)
    #expect(try notes(variables: ["GIT_COMMIT": ""]) == [.unknownEdits])
  }

  @Test("An unknown target is said, and does not change the verdict; a build of no pull request has no note")
  func unknown() throws {
    #expect(try notes(variables: ["CHANGE_TARGET": "gone"]) == [.unknownEdits])
    #expect(try notes(after: "echo '\\n#' >>highwater.yml", variables: ["CHANGE_ID": ""]) == [])
  }
}
