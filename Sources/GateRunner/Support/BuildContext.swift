import GateCore
import GateFiles

/// The build under test, according to the CI system or the checkout.
struct BuildContext {
  private let variables: [String: String]
  private let root: String
  private let isInCheckout: Bool
  /// The commit of the checkout, which is not the tested one if a variable names another.
  let head: String?
  let commit: String?
  /// The first line of the commit's message.
  let subject: String?
  let branch: String?
  let buildURL: String?

  /// Reads the variables of common CI systems, then the checkout.
  init(variables: [String: String], root: String) {
    func first(_ names: String...) -> String? { Self.first(of: names, in: variables) }
    let checkout = GitCheckout(containing: root)
    (self.variables, self.root, isInCheckout) = (variables, root, checkout != nil)
    head = checkout?.commit
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
  }

  /// Whether tracked files differ from the commit now; false where the commit is not the checkout's.
  var isDirty: Bool {
    guard let commit, let head, CommitID.areSame(commit, head) else { return false }
    return GitQuery.hasUncommittedChanges(in: root) ?? false
  }

  /// The user, for approvals.
  var person: String {
    Self.first(
      of: ["HIGHWATER_APPROVER", "GITHUB_ACTOR", "GITLAB_USER_LOGIN", "BUILDKITE_BUILD_AUTHOR"], in: variables)
      ?? (isInCheckout ? GitQuery.userName(in: root) : nil) ?? Self.first(of: ["USER"], in: variables) ?? "unknown"
  }

  private static func first(of names: [String], in variables: [String: String]) -> String? {
    names.lazy.compactMap { variables[$0] }.first { !$0.isEmpty }.map { String($0.prefix(1000)) }
  }

  /// GitHub only provides the parts of the address.
  private static func gitHubRun(_ variables: [String: String]) -> String? {
    guard let server = variables["GITHUB_SERVER_URL"], let repository = variables["GITHUB_REPOSITORY"],
      let run = variables["GITHUB_RUN_ID"]
    else { return nil }
    return "\(server)/\(repository)/actions/runs/\(run)"
  }
}
