// The systems for which `init` has no job.

extension CISystem.Row {
  static let woodpecker = CISystem.Row(
    name: "Woodpecker", variable: "CI", value: "woodpecker",
    commit: ["{CI_COMMIT_SHA}"],
    subject: [],
    branch: ["{CI_COMMIT_SOURCE_BRANCH}", "{CI_COMMIT_BRANCH}"],
    pullRequest: ["{CI_COMMIT_PULL_REQUEST}"],
    targetBranch: ["{CI_COMMIT_TARGET_BRANCH}"], targetCommit: [],
    buildURL: ["{CI_STEP_URL}", "{CI_PIPELINE_URL}"],
    person: [], shard: nil, folding: nil, summaryFile: [], annotations: nil, job: nil)

  static let drone = CISystem.Row(
    name: "Drone", variable: "DRONE", value: nil,
    commit: ["{DRONE_COMMIT_SHA}", "{DRONE_COMMIT}"],
    subject: [],
    branch: ["{DRONE_SOURCE_BRANCH}", "{DRONE_BRANCH}"],
    pullRequest: ["{DRONE_PULL_REQUEST}"],
    targetBranch: ["{DRONE_TARGET_BRANCH}"], targetCommit: [],
    buildURL: ["{DRONE_BUILD_LINK}"],
    person: [], shard: nil, folding: nil, summaryFile: [], annotations: nil, job: nil)

  static let buildkite = CISystem.Row(
    name: "Buildkite", variable: "BUILDKITE", value: nil,
    commit: ["{BUILDKITE_COMMIT}"],
    subject: [],
    branch: ["{BUILDKITE_BRANCH}"],
    pullRequest: ["{BUILDKITE_PULL_REQUEST}"],
    targetBranch: ["{BUILDKITE_PULL_REQUEST_BASE_BRANCH}"], targetCommit: [],
    buildURL: ["{BUILDKITE_BUILD_URL}"],
    person: ["{BUILDKITE_BUILD_AUTHOR}"],
    shard: CISystem.Shard(index: "{BUILDKITE_PARALLEL_JOB}", count: "{BUILDKITE_PARALLEL_JOB_COUNT}", first: 0),
    folding: nil, summaryFile: [], annotations: nil, job: nil)

  static let circleCI = CISystem.Row(
    name: "CircleCI", variable: "CIRCLECI", value: nil,
    commit: ["{CIRCLE_SHA1}"],
    subject: [],
    branch: ["{CIRCLE_BRANCH}"],
    pullRequest: ["{CIRCLE_PR_NUMBER}", "{CIRCLE_PULL_REQUEST}"],
    // The default branch, since the system does not name the target.
    targetBranch: ["HEAD"], targetCommit: [],
    buildURL: ["{CIRCLE_BUILD_URL}"],
    person: [],
    shard: CISystem.Shard(index: "{CIRCLE_NODE_INDEX}", count: "{CIRCLE_NODE_TOTAL}", first: 0),
    folding: nil, summaryFile: [], annotations: nil, job: nil)

  static let azure = CISystem.Row(
    name: "Azure Pipelines", variable: "TF_BUILD", value: nil,
    commit: ["{SYSTEM_PULLREQUEST_SOURCECOMMITID}", "{BUILD_SOURCEVERSION}"],
    subject: [],
    branch: ["{SYSTEM_PULLREQUEST_SOURCEBRANCH}", "{BUILD_SOURCEBRANCH}"],
    pullRequest: ["{SYSTEM_PULLREQUEST_PULLREQUESTNUMBER}", "{SYSTEM_PULLREQUEST_PULLREQUESTID}"],
    targetBranch: ["{SYSTEM_PULLREQUEST_TARGETBRANCH}"], targetCommit: [],
    buildURL: [
      "{SYSTEM_COLLECTIONURI}{SYSTEM_TEAMPROJECT}/_build/results?buildId={BUILD_BUILDID}",
      "{SYSTEM_TEAMFOUNDATIONCOLLECTIONURI}{SYSTEM_TEAMPROJECT}/_build/results?buildId={BUILD_BUILDID}",
    ],
    person: [],
    shard: CISystem.Shard(index: "{SYSTEM_JOBPOSITIONINPHASE}", count: "{SYSTEM_TOTALJOBSINPHASE}", first: 1),
    folding: LogFolding(
      begin: { section, _ in "##[group]\(TerminalText.withoutCommands(section.title))\n" },
      end: { _, _ in "##[endgroup]\n" }),
    summaryFile: [], annotations: nil, job: nil)

  static let bitbucket = CISystem.Row(
    name: "Bitbucket Pipelines", variable: "BITBUCKET_BUILD_NUMBER", value: nil,
    commit: ["{BITBUCKET_COMMIT}"],
    subject: [],
    branch: ["{BITBUCKET_BRANCH}"],
    pullRequest: ["{BITBUCKET_PR_ID}"],
    targetBranch: ["{BITBUCKET_PR_DESTINATION_BRANCH}"], targetCommit: ["{BITBUCKET_PR_DESTINATION_COMMIT}"],
    buildURL: ["{BITBUCKET_GIT_HTTP_ORIGIN}/pipelines/results/{BITBUCKET_BUILD_NUMBER}"],
    person: [],
    shard: CISystem.Shard(index: "{BITBUCKET_PARALLEL_STEP}", count: "{BITBUCKET_PARALLEL_STEP_COUNT}", first: 0),
    folding: nil, summaryFile: [], annotations: nil, job: nil)

  static let teamCity = CISystem.Row(
    name: "TeamCity", variable: "TEAMCITY_VERSION", value: nil,
    commit: ["{BUILD_VCS_NUMBER}"],
    subject: [],
    branch: [.property("teamcity.pullRequest.source.branch"), .property("teamcity.build.branch")],
    pullRequest: [.property("teamcity.pullRequest.number")],
    targetBranch: [.property("teamcity.pullRequest.target.branch")], targetCommit: [],
    buildURL: ["{BUILD_URL}"],
    person: [],
    shard: CISystem.Shard(
      index: .property("teamcity.build.parallelTests.currentBatch"),
      count: .property("teamcity.build.parallelTests.totalBatches"), first: 1),
    folding: nil, summaryFile: [], annotations: nil, job: nil)
}
