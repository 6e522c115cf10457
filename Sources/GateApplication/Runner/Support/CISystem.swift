/// A CI system, and where it tells what a job builds: by environment variables, and by files that these name.
struct CISystem: Sendable {
  /// The systems that read commands from the log.
  enum Name: Sendable, CaseIterable {
    case gitHub, gitLab, woodpecker, drone, buildkite, circleCI, azure, bitbucket, teamCity, jenkins
  }

  /// A value that a system may provide.
  enum Source: Sendable, Equatable, ExpressibleByStringLiteral {
    /// A text in which `{NAME}` is a variable; there is no value if one of them is unset.
    case text(String)
    /// A text in the JSON file that a variable names, if another variable has this value.
    case json(file: String, keys: [String], where: String, is: String)
    /// A build parameter in TeamCity's files of properties.
    case property(String)

    init(stringLiteral text: String) {
      self = .text(text)
    }
  }

  let name: Name
  /// A variable that the system sets in every job; it must have the value, if one is given.
  let variable: String
  var value: String?
  /// The head of a pull request comes before the merge commit that is built of it.
  var commit: [Source]
  /// The first line of the commit's message.
  var subject: [Source] = []
  /// The branch of a pull request comes before the one that it is to be merged into.
  var branch: [Source] = []
  var pullRequest: [Source] = []
  /// The branch that a pull request is to be merged into.
  var targetBranch: [Source] = []
  /// A commit of that branch, in which the pull request left it or later.
  var targetCommit: [Source] = []
  var buildURL: [Source] = []
  /// Who started the build.
  var person: [Source] = []
  /// The index and the number of the jobs that share the work.
  var shardIndex: [Source] = []
  var shardCount: [Source] = []
  /// The index of the first of these jobs.
  var firstShard = 0
}

extension CISystem {
  /// In the order in which they are recognised.
  static let all: [CISystem] = [
    CISystem(
      name: .gitHub, variable: "GITHUB_ACTIONS",
      commit: [
        .json(
          file: "GITHUB_EVENT_PATH", keys: ["pull_request", "head", "sha"], where: "GITHUB_EVENT_NAME",
          is: "pull_request"),
        "{GITHUB_SHA}",
      ],
      branch: ["{GITHUB_HEAD_REF}", "{GITHUB_REF_NAME}"],
      pullRequest: ["{GITHUB_REF}"],
      targetBranch: ["{GITHUB_BASE_REF}"],
      targetCommit: [
        .json(
          file: "GITHUB_EVENT_PATH", keys: ["pull_request", "base", "sha"], where: "GITHUB_EVENT_NAME",
          is: "pull_request")
      ],
      buildURL: ["{GITHUB_SERVER_URL}/{GITHUB_REPOSITORY}/actions/runs/{GITHUB_RUN_ID}"],
      person: ["{GITHUB_ACTOR}"]),
    CISystem(
      name: .gitLab, variable: "GITLAB_CI",
      commit: ["{CI_MERGE_REQUEST_SOURCE_BRANCH_SHA}", "{CI_COMMIT_SHA}"],
      subject: ["{CI_COMMIT_TITLE}"],
      branch: ["{CI_MERGE_REQUEST_SOURCE_BRANCH_NAME}", "{CI_COMMIT_REF_NAME}"],
      pullRequest: ["{CI_MERGE_REQUEST_IID}"],
      targetBranch: ["{CI_MERGE_REQUEST_TARGET_BRANCH_NAME}"], targetCommit: ["{CI_MERGE_REQUEST_DIFF_BASE_SHA}"],
      buildURL: ["{CI_JOB_URL}"],
      person: ["{GITLAB_USER_LOGIN}"],
      shardIndex: ["{CI_NODE_INDEX}"], shardCount: ["{CI_NODE_TOTAL}"], firstShard: 1),
    CISystem(
      name: .woodpecker, variable: "CI", value: "woodpecker",
      commit: ["{CI_COMMIT_SHA}"],
      branch: ["{CI_COMMIT_SOURCE_BRANCH}", "{CI_COMMIT_BRANCH}"],
      pullRequest: ["{CI_COMMIT_PULL_REQUEST}"],
      targetBranch: ["{CI_COMMIT_TARGET_BRANCH}"],
      buildURL: ["{CI_STEP_URL}", "{CI_PIPELINE_URL}"]),
    CISystem(
      name: .drone, variable: "DRONE",
      commit: ["{DRONE_COMMIT_SHA}", "{DRONE_COMMIT}"],
      branch: ["{DRONE_SOURCE_BRANCH}", "{DRONE_BRANCH}"],
      pullRequest: ["{DRONE_PULL_REQUEST}"],
      targetBranch: ["{DRONE_TARGET_BRANCH}"],
      buildURL: ["{DRONE_BUILD_LINK}"]),
    CISystem(
      name: .buildkite, variable: "BUILDKITE",
      commit: ["{BUILDKITE_COMMIT}"],
      branch: ["{BUILDKITE_BRANCH}"],
      pullRequest: ["{BUILDKITE_PULL_REQUEST}"],
      targetBranch: ["{BUILDKITE_PULL_REQUEST_BASE_BRANCH}"],
      buildURL: ["{BUILDKITE_BUILD_URL}"],
      person: ["{BUILDKITE_BUILD_AUTHOR}"],
      shardIndex: ["{BUILDKITE_PARALLEL_JOB}"], shardCount: ["{BUILDKITE_PARALLEL_JOB_COUNT}"]),
    CISystem(
      name: .circleCI, variable: "CIRCLECI",
      commit: ["{CIRCLE_SHA1}"],
      branch: ["{CIRCLE_BRANCH}"],
      pullRequest: ["{CIRCLE_PR_NUMBER}", "{CIRCLE_PULL_REQUEST}"],
      // The default branch, since the system does not name the target.
      targetBranch: ["HEAD"],
      buildURL: ["{CIRCLE_BUILD_URL}"],
      shardIndex: ["{CIRCLE_NODE_INDEX}"], shardCount: ["{CIRCLE_NODE_TOTAL}"]),
    CISystem(
      name: .azure, variable: "TF_BUILD",
      commit: ["{SYSTEM_PULLREQUEST_SOURCECOMMITID}", "{BUILD_SOURCEVERSION}"],
      branch: ["{SYSTEM_PULLREQUEST_SOURCEBRANCH}", "{BUILD_SOURCEBRANCH}"],
      pullRequest: ["{SYSTEM_PULLREQUEST_PULLREQUESTNUMBER}", "{SYSTEM_PULLREQUEST_PULLREQUESTID}"],
      targetBranch: ["{SYSTEM_PULLREQUEST_TARGETBRANCH}"],
      buildURL: [
        "{SYSTEM_COLLECTIONURI}{SYSTEM_TEAMPROJECT}/_build/results?buildId={BUILD_BUILDID}",
        "{SYSTEM_TEAMFOUNDATIONCOLLECTIONURI}{SYSTEM_TEAMPROJECT}/_build/results?buildId={BUILD_BUILDID}",
      ],
      shardIndex: ["{SYSTEM_JOBPOSITIONINPHASE}"], shardCount: ["{SYSTEM_TOTALJOBSINPHASE}"], firstShard: 1),
    CISystem(
      name: .bitbucket, variable: "BITBUCKET_BUILD_NUMBER",
      commit: ["{BITBUCKET_COMMIT}"],
      branch: ["{BITBUCKET_BRANCH}"],
      pullRequest: ["{BITBUCKET_PR_ID}"],
      targetBranch: ["{BITBUCKET_PR_DESTINATION_BRANCH}"], targetCommit: ["{BITBUCKET_PR_DESTINATION_COMMIT}"],
      buildURL: ["{BITBUCKET_GIT_HTTP_ORIGIN}/pipelines/results/{BITBUCKET_BUILD_NUMBER}"],
      shardIndex: ["{BITBUCKET_PARALLEL_STEP}"], shardCount: ["{BITBUCKET_PARALLEL_STEP_COUNT}"]),
    CISystem(
      name: .teamCity, variable: "TEAMCITY_VERSION",
      commit: ["{BUILD_VCS_NUMBER}"],
      branch: [.property("teamcity.pullRequest.source.branch"), .property("teamcity.build.branch")],
      pullRequest: [.property("teamcity.pullRequest.number")],
      targetBranch: [.property("teamcity.pullRequest.target.branch")],
      buildURL: ["{BUILD_URL}"],
      shardIndex: [.property("teamcity.build.parallelTests.currentBatch")],
      shardCount: [.property("teamcity.build.parallelTests.totalBatches")], firstShard: 1),
    CISystem(
      name: .jenkins, variable: "JENKINS_URL",
      commit: ["{GIT_COMMIT}"],
      branch: ["{CHANGE_BRANCH}", "{BRANCH_NAME}", "{GIT_LOCAL_BRANCH}", "{GIT_BRANCH}"],
      pullRequest: ["{CHANGE_ID}"],
      targetBranch: ["{CHANGE_TARGET}"],
      buildURL: ["{BUILD_URL}"]),
  ]
}
