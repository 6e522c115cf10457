import GateCore
import GateFiles

/// The build under test, according to the CI system or the checkout.
struct BuildContext {
  let commit: String?
  /// The first line of the commit's message.
  let subject: String?
  let branch: String?
  let buildURL: String?
  /// The user, for approvals.
  let person: String

  /// Reads the variables of common CI systems, then the checkout.
  init(variables: [String: String], root: String) {
    func first(_ names: String...) -> String? {
      names.lazy.compactMap { variables[$0] }.first { !$0.isEmpty }.map { String($0.prefix(1000)) }
    }
    let checkout = GitCheckout(containing: root)
    commit =
      first("HIGHWATER_COMMIT", "GITHUB_SHA", "CI_COMMIT_SHA", "BUILDKITE_COMMIT", "GIT_COMMIT") ?? checkout?.commit
    subject =
      first("HIGHWATER_SUBJECT", "CI_COMMIT_TITLE").map { String($0.prefix { !$0.isNewline }) }
      ?? commit.flatMap { GitQuery.subject(of: $0, in: root) }
    branch =
      first(
        "HIGHWATER_BRANCH", "GITHUB_HEAD_REF", "GITHUB_REF_NAME", "CI_COMMIT_REF_NAME", "BUILDKITE_BRANCH", "GIT_BRANCH"
      ) ?? checkout?.branch
    buildURL =
      first("HIGHWATER_BUILD_URL", "CI_JOB_URL", "BUILDKITE_BUILD_URL", "BUILD_URL") ?? Self.gitHubRun(variables)
    person =
      first("HIGHWATER_APPROVER", "GITHUB_ACTOR", "GITLAB_USER_LOGIN", "BUILDKITE_BUILD_AUTHOR", "USER") ?? "unknown"
  }

  /// GitHub only provides the parts of the address.
  private static func gitHubRun(_ variables: [String: String]) -> String? {
    guard let server = variables["GITHUB_SERVER_URL"], let repository = variables["GITHUB_REPOSITORY"],
      let run = variables["GITHUB_RUN_ID"]
    else { return nil }
    return "\(server)/\(repository)/actions/runs/\(run)"
  }
}
