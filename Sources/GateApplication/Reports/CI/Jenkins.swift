extension CISystem.Row {
  static let jenkins = CISystem.Row(
    name: "Jenkins", variable: "JENKINS_URL", value: nil,
    commit: ["{GIT_COMMIT}"],
    subject: [],
    branch: ["{CHANGE_BRANCH}", "{BRANCH_NAME}", "{GIT_LOCAL_BRANCH}", "{GIT_BRANCH}"],
    pullRequest: ["{CHANGE_ID}"],
    targetBranch: ["{CHANGE_TARGET}"], targetCommit: [],
    buildURL: ["{BUILD_URL}"],
    person: [], shard: nil, folding: nil, summaryFile: [], annotations: nil,
    job: CISystem.Job(
      marker: "Jenkinsfile", host: nil, file: nil,
      advice: { job in
        "add to the Jenkinsfile a stage with "
          + Format.glued("`sh '\(job.check("--junit", "junit.xml"))'`") + " and, in `post { always { … } }`, "
          + Format.glued("`junit 'junit.xml'; archiveArtifacts 'result.json, .highwater/**'`")
      }))
}
