import Foundation
import GateCore
import Testing

@testable import GateApplication

@Suite("CI systems by their variables")
struct CIVariablesTests {
  /// The variables that a system documents, and what they tell.
  struct Build: Sendable, CustomTestStringConvertible {
    let system: CISystem
    let variables: [String: String]
    let commit: String
    let branch: String?
    var pullRequest: String?
    let buildURL: String?
    var shard: RunInfo.Shard?

    var testDescription: String { "\(system)" + (pullRequest.map { " pull request \($0)" } ?? "") }
  }

  private static let head = "4f2a91c0d6e8b7a5f3c1d2e4b6a8c0d2e4f6a8b0"
  private static let merge = "9437a5f0c0ffee00000000000000000000000000"

  private static let builds = [
    Build(
      system: .gitHub,
      variables: [
        "CI": "true", "GITHUB_ACTIONS": "true", "GITHUB_SHA": head, "GITHUB_REF": "refs/heads/pull/3",
        "GITHUB_REF_NAME": "pull/3", "GITHUB_HEAD_REF": "", "GITHUB_SERVER_URL": "https://github.com",
        "GITHUB_REPOSITORY": "octo/hello", "GITHUB_RUN_ID": "1658821493", "GITHUB_EVENT_NAME": "push",
      ], commit: head, branch: "pull/3", buildURL: "https://github.com/octo/hello/actions/runs/1658821493"),
    Build(
      system: .gitHub,
      variables: [
        "GITHUB_ACTIONS": "true", "GITHUB_SHA": merge, "GITHUB_REF": "refs/pull/7/merge", "GITHUB_REF_NAME": "7/merge",
        "GITHUB_HEAD_REF": "topic", "GITHUB_EVENT_NAME": "pull_request",
      ], commit: merge, branch: "topic", pullRequest: "7", buildURL: nil),
    Build(
      system: .gitLab,
      variables: [
        "CI": "true", "GITLAB_CI": "true", "CI_COMMIT_SHA": head, "CI_COMMIT_REF_NAME": "main",
        "CI_JOB_URL": "https://gitlab.com/g/p/-/jobs/1", "CI_NODE_INDEX": "2", "CI_NODE_TOTAL": "4",
      ], commit: head, branch: "main", buildURL: "https://gitlab.com/g/p/-/jobs/1", shard: .init(index: 2, count: 4)),
    Build(
      system: .gitLab,
      variables: [
        "GITLAB_CI": "true", "CI_COMMIT_SHA": merge, "CI_MERGE_REQUEST_SOURCE_BRANCH_SHA": head,
        "CI_COMMIT_REF_NAME": "refs/merge-requests/7/merge", "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME": "topic",
        "CI_MERGE_REQUEST_IID": "7", "CI_NODE_TOTAL": "1",
      ], commit: head, branch: "topic", pullRequest: "7", buildURL: nil),
    Build(
      system: .jenkins,
      variables: [
        "JENKINS_URL": "https://ci.example/", "GIT_COMMIT": head, "GIT_BRANCH": "origin/main",
        "BUILD_URL": "https://ci.example/job/a/15/",
      ], commit: head, branch: "main", buildURL: "https://ci.example/job/a/15/"),
    Build(
      system: .jenkins,
      variables: [
        "JENKINS_URL": "https://ci.example/", "GIT_COMMIT": head, "GIT_BRANCH": "PR-7", "BRANCH_NAME": "PR-7",
        "CHANGE_ID": "7", "CHANGE_BRANCH": "topic",
      ], commit: head, branch: "topic", pullRequest: "7", buildURL: nil),
    Build(
      system: .buildkite,
      variables: [
        "CI": "true", "BUILDKITE": "true", "BUILDKITE_COMMIT": head, "BUILDKITE_BRANCH": "main",
        "BUILDKITE_PULL_REQUEST": "false", "BUILDKITE_BUILD_URL": "https://buildkite.com/o/p/builds/1514",
        "BUILDKITE_PARALLEL_JOB": "0", "BUILDKITE_PARALLEL_JOB_COUNT": "5",
      ], commit: head, branch: "main", buildURL: "https://buildkite.com/o/p/builds/1514",
      shard: .init(index: 1, count: 5)),
    Build(
      system: .buildkite,
      variables: [
        "BUILDKITE": "true", "BUILDKITE_COMMIT": head, "BUILDKITE_BRANCH": "topic", "BUILDKITE_PULL_REQUEST": "7",
      ], commit: head, branch: "topic", pullRequest: "7", buildURL: nil),
    Build(
      system: .circleCI,
      variables: [
        "CI": "true", "CIRCLECI": "true", "CIRCLE_SHA1": head, "CIRCLE_BRANCH": "topic",
        "CIRCLE_PULL_REQUEST": "https://github.com/octo/hello/pull/7",
        "CIRCLE_BUILD_URL": "https://circleci.com/gh/octo/hello/42", "CIRCLE_NODE_INDEX": "3", "CIRCLE_NODE_TOTAL": "4",
      ], commit: head, branch: "topic", pullRequest: "7", buildURL: "https://circleci.com/gh/octo/hello/42",
      shard: .init(index: 4, count: 4)),
    Build(
      system: .azure,
      variables: [
        "TF_BUILD": "True", "BUILD_SOURCEVERSION": head, "BUILD_SOURCEBRANCH": "refs/heads/release/1",
        "BUILD_SOURCEBRANCHNAME": "1", "SYSTEM_COLLECTIONURI": "https://dev.azure.com/fabrikam/",
        "SYSTEM_TEAMPROJECT": "Fiber Suite", "BUILD_BUILDID": "99", "SYSTEM_JOBPOSITIONINPHASE": "1",
        "SYSTEM_TOTALJOBSINPHASE": "3",
      ], commit: head, branch: "release/1",
      buildURL: "https://dev.azure.com/fabrikam/Fiber%20Suite/_build/results?buildId=99",
      shard: .init(index: 1, count: 3)),
    Build(
      system: .azure,
      variables: [
        "TF_BUILD": "True", "BUILD_SOURCEVERSION": merge, "SYSTEM_PULLREQUEST_SOURCECOMMITID": head,
        "BUILD_SOURCEBRANCH": "refs/pull/7/merge", "SYSTEM_PULLREQUEST_SOURCEBRANCH": "refs/heads/topic",
        "SYSTEM_PULLREQUEST_PULLREQUESTID": "1234", "SYSTEM_PULLREQUEST_PULLREQUESTNUMBER": "7",
      ], commit: head, branch: "topic", pullRequest: "7", buildURL: nil),
    Build(
      system: .bitbucket,
      variables: [
        "CI": "true", "BITBUCKET_BUILD_NUMBER": "9", "BITBUCKET_COMMIT": head, "BITBUCKET_BRANCH": "topic",
        "BITBUCKET_PR_ID": "7", "BITBUCKET_GIT_HTTP_ORIGIN": "https://bitbucket.org/o/p",
        "BITBUCKET_PARALLEL_STEP": "1", "BITBUCKET_PARALLEL_STEP_COUNT": "2",
      ], commit: head, branch: "topic", pullRequest: "7", buildURL: "https://bitbucket.org/o/p/pipelines/results/9",
      shard: .init(index: 2, count: 2)),
    Build(
      system: .drone,
      variables: [
        "CI": "true", "DRONE": "true", "DRONE_COMMIT_SHA": head, "DRONE_BRANCH": "main",
        "DRONE_SOURCE_BRANCH": "topic", "DRONE_PULL_REQUEST": "7", "DRONE_BUILD_LINK": "https://drone.example/o/p/42",
      ], commit: head, branch: "topic", pullRequest: "7", buildURL: "https://drone.example/o/p/42"),
    Build(
      system: .woodpecker,
      variables: [
        "CI": "woodpecker", "CI_COMMIT_SHA": head, "CI_COMMIT_BRANCH": "main", "CI_COMMIT_SOURCE_BRANCH": "topic",
        "CI_COMMIT_PULL_REQUEST": "7", "CI_PIPELINE_URL": "https://ci.example/repos/7/pipeline/8",
      ], commit: head, branch: "topic", pullRequest: "7", buildURL: "https://ci.example/repos/7/pipeline/8"),
    Build(
      system: .teamCity,
      variables: [
        "TEAMCITY_VERSION": "2025.03", "BUILD_VCS_NUMBER": head, "BUILD_URL": "https://tc.example/build/1",
        "TEAMCITY_BUILD_PROPERTIES_FILE": "(properties)",
      ], commit: head, branch: "topic", pullRequest: "7", buildURL: "https://tc.example/build/1",
      shard: .init(index: 2, count: 3)),
  ]

  @Test("Commit, branch, pull request, build link and shard come from what each system documents", arguments: builds)
  func systems(build: Build) throws {
    let project = try UseCaseProject(holding: 8)
    try project.write("teamcity.configuration.properties.file=\(project.path)/all\\=1\n", to: "build.properties")
    try project.write(
      """
      #Parameters
      teamcity.build.branch=<default>
      teamcity.pullRequest.number=7
      teamcity.pullRequest.source.branch=topic
      teamcity.build.parallelTests.currentBatch=2
      teamcity.build.parallelTests.totalBatches=3
      """, to: "all=1")
    let variables = build.variables.mapValues { $0 == "(properties)" ? "\(project.path)/build.properties" : $0 }
    let known = CIVariables(variables)
    #expect(known.system == build.system && known.isInCI)
    let context = BuildContext(variables: variables, root: "/nowhere")
    #expect(context.commit == build.commit)
    #expect(context.branch == build.branch)
    #expect(context.pullRequest == build.pullRequest)
    #expect(context.buildURL == build.buildURL)
    #expect(context.shard == build.shard)
  }

  @Test("Every system has a test")
  func allSystems() {
    #expect(Set(Self.builds.map(\.system)) == Set(CISystem.allCases))
  }

  @Test("A pull request on GitHub is the commit at its head, not the merge commit that GitHub builds")
  func gitHubHead() throws {
    let project = try UseCaseProject(holding: 8)
    try project.write(
      #"{"number": 7, "pull_request": {"head": {"sha": "\#(Self.head)", "ref": "topic"}, "labels": [1, null]}}"#,
      to: "event.json")
    var variables = [
      "GITHUB_ACTIONS": "true", "GITHUB_SHA": Self.merge, "GITHUB_EVENT_NAME": "pull_request",
      "GITHUB_EVENT_PATH": "\(project.path)/event.json",
    ]
    #expect(CIVariables(variables).commit == Self.head)
    // Its checkout is the base branch, unless the job asks for another.
    variables["GITHUB_EVENT_NAME"] = "pull_request_target"
    #expect(CIVariables(variables).commit == Self.merge)
    variables["GITHUB_EVENT_NAME"] = "pull_request"
    try project.write("{", to: "event.json")
    #expect(CIVariables(variables).commit == Self.merge)
  }

  @Test(
    "The target of a pull request is a commit or a branch of `origin`; a build without one has no target",
    arguments: [
      (["GITHUB_ACTIONS": "true", "GITHUB_REF": "refs/pull/7/merge", "GITHUB_BASE_REF": "release/1"], ["release/1"]),
      (["GITHUB_ACTIONS": "true", "GITHUB_REF": "refs/heads/main", "GITHUB_BASE_REF": ""], []),
      (
        [
          "GITLAB_CI": "true", "CI_MERGE_REQUEST_IID": "7", "CI_MERGE_REQUEST_DIFF_BASE_SHA": head,
          "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
        ], [head, "main"]
      ),
      (["JENKINS_URL": "x", "CHANGE_ID": "7", "CHANGE_TARGET": "main"], ["main"]),
      (["BUILDKITE": "1", "BUILDKITE_PULL_REQUEST": "7", "BUILDKITE_PULL_REQUEST_BASE_BRANCH": "main"], ["main"]),
      (
        [
          "TF_BUILD": "1", "SYSTEM_PULLREQUEST_PULLREQUESTNUMBER": "7",
          "SYSTEM_PULLREQUEST_TARGETBRANCH": "refs/heads/main",
        ], ["main"]
      ),
      (["CIRCLECI": "1", "CIRCLE_PR_NUMBER": "7"], ["HEAD"]),
      (["DRONE": "1", "DRONE_TARGET_BRANCH": "main"], []),
      (["CI": "woodpecker", "CI_COMMIT_PULL_REQUEST": "7", "CI_COMMIT_TARGET_BRANCH": "main"], ["main"]),
      (
        ["BITBUCKET_BUILD_NUMBER": "1", "BITBUCKET_PR_ID": "7", "BITBUCKET_PR_DESTINATION_BRANCH": "main"], ["main"]
      ),
      (["GITLAB_CI": "1", "HIGHWATER_TARGET_BRANCH": "main"], ["main"]),
    ])
  func targets(variables: [String: String], expected: [String]) {
    let revisions = expected.map { $0 == Self.head ? $0 : "refs/remotes/origin/\($0)" }
    #expect(CIVariables(variables).targets == revisions)
  }

  @Test("A result names the pull request and the shard")
  func result() throws {
    let project = try UseCaseProject(holding: 8)
    let variables = try #require(Self.builds.first { $0.system == .bitbucket }).variables
    _ = try project.check(variables: variables)
    let run = try #require(try project.result()["run"] as? [String: Any])
    #expect(run["pullRequest"] as? String == "7" && run["shard"] as? [String: Int] == ["index": 2, "count": 2])
  }

  @Test("Highwater's own variables come first; what is empty or not a commit is ignored")
  func own() {
    let own = [
      "HIGHWATER_COMMIT": "own", "HIGHWATER_BRANCH": "mine", "HIGHWATER_PULL_REQUEST": "12",
      "HIGHWATER_BUILD_URL": "https://own.example",
    ]
    let variables = own.merging(["BUILDKITE": "true", "BUILDKITE_COMMIT": "HEAD", "BUILDKITE_BRANCH": "b"]) { $1 }
    let known = CIVariables(variables)
    #expect([known.commit, known.branch] == ["own", "mine"])
    #expect([known.pullRequest, known.buildURL] == ["12", "https://own.example"])
    #expect(CIVariables(["BUILDKITE": "true", "BUILDKITE_COMMIT": "HEAD"]).commit == nil)
    #expect(CIVariables(["GITHUB_ACTIONS": "false"]).system == nil && !CIVariables(["CI": "false"]).isInCI)
    for (index, count) in [("9", "4"), ("0", "4"), ("\(Int.min)", "4"), ("\(Int.max)", "\(Int.max)"), ("1", "-4")] {
      let known = CIVariables(["GITLAB_CI": "true", "CI_NODE_INDEX": index, "CI_NODE_TOTAL": count])
      #expect(known.shard == (index == "\(Int.max)" ? .init(index: Int.max, count: Int.max) : nil))
    }
  }
}
