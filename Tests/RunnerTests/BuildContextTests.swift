import Testing

@testable import GateApplication

@Suite("Build context from CI variables")
struct BuildContextTests {
  @Test(
    "Commit, branch and build link come from the variables of common CI systems",
    arguments: [
      (
        [
          "GITHUB_SHA": "c1", "GITHUB_REF_NAME": "main", "GITHUB_SERVER_URL": "https://github.example",
          "GITHUB_REPOSITORY": "a/b", "GITHUB_RUN_ID": "7",
        ], "c1", "main", "https://github.example/a/b/actions/runs/7"
      ),
      (
        ["CI_COMMIT_SHA": "c2", "CI_COMMIT_REF_NAME": "topic", "CI_JOB_URL": "https://lab.example/1"], "c2", "topic",
        "https://lab.example/1"
      ),
      (
        ["GIT_COMMIT": "c3", "GIT_BRANCH": "x", "BUILD_URL": "https://j.example", "HIGHWATER_COMMIT": "own"], "own",
        "x",
        "https://j.example"
      ),
    ]
  )
  func systems(variables: [String: String], commit: String, branch: String, url: String) {
    let context = BuildContext(variables: variables, root: "/nowhere")
    #expect(context.commit == commit)
    #expect(context.branch == branch)
    #expect(context.buildURL == url)
  }

  @Test("The approver is named by the CI system, else by the checkout, else by the login")
  func person() throws {
    let project = try UseCaseProject(holding: 8)
    try project.commit()
    try project.shell("git config user.name 'Ada Lovelace'")
    func person(_ variables: [String: String], root: String) -> String {
      BuildContext(variables: variables, root: root).person
    }
    #expect(person(["USER": "ada", "GITHUB_ACTOR": "ada-l"], root: project.path) == "ada-l")
    #expect(person(["USER": "ada"], root: project.path) == "Ada Lovelace")
    #expect(person(["USER": "ada", "GIT_AUTHOR_NAME": "Ada L."], root: project.path) == "Ada L.")
    #expect(person(["USER": "ada"], root: "/nowhere") == "ada")
    #expect(person(["USER": "ada", "HIGHWATER_APPROVER": " \t"], root: "/nowhere") == "ada")
  }

  @Test("Without these variables nothing is known; an empty variable is ignored")
  func nothing() {
    let context = BuildContext(variables: ["GITHUB_SHA": ""], root: "/nowhere")
    #expect(context.commit == nil)
    #expect(context.branch == nil)
    #expect(context.buildURL == nil)
    #expect(context.person == "unknown")
  }
}
