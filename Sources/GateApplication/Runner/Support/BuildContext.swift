import GateCore

/// The build under test, according to the CI system or the checkout.
struct BuildContext {
  private let root: String
  private let isInCheckout: Bool
  /// Who started the build, and the user of this process.
  private let starter: String?
  /// As git has it for new commits.
  private let author: String?
  private let user: String?
  /// The commit of the checkout, which is not the tested one if a variable names another.
  let head: String?
  let commit: String?
  /// The first line of the commit's message.
  let subject: String?
  let branch: String?
  let buildURL: String?
  let pullRequest: String?
  let shard: RunInfo.Shard?

  /// Reads the variables of the CI system, then the checkout.
  init(variables: [String: String], root: String) {
    let checkout = GitCheckout(containing: root)
    let known = CIVariables(variables)
    (self.root, isInCheckout) = (root, checkout != nil)
    head = checkout?.commit
    commit = known.commit ?? checkout?.commit
    subject = known.subject ?? commit.flatMap { GitQuery.subject(of: $0, in: root) }
    branch = known.branch ?? checkout?.branch
    (buildURL, pullRequest, shard) = (known.buildURL, known.pullRequest, known.shard)
    starter = known.person
    func value(_ name: String) -> String? { variables[name].flatMap { $0.isEmpty ? nil : $0 } }
    (author, user) = (value("GIT_AUTHOR_NAME"), value("USER"))
  }

  /// Whether tracked files differ from the commit now; false where the commit is not the checkout's.
  var isDirty: Bool {
    guard let commit, let head, CommitID.areSame(commit, head) else { return false }
    return GitQuery.hasUncommittedChanges(in: root) ?? false
  }

  /// The tree of the checkout's files; nil if they are those of the commit, or if it is unknown.
  func treeOfFiles(usingFolder folder: String) -> String? {
    guard let scratch = try? ScratchFolder(in: folder) else { return nil }
    let tree = GitQuery.treeOfFiles(in: root, usingFolder: scratch.path)
    return tree == treeOfHead ? nil : tree
  }

  /// The tree of the checkout's commit.
  var treeOfHead: String? { head.flatMap { GitQuery.tree(of: $0, in: root) } }

  /// The user, for approvals.
  var person: String {
    starter ?? author ?? (isInCheckout ? GitQuery.userName(in: root) : nil) ?? user ?? "unknown"
  }
}

extension RunNote {
  /// The notes on what the pull request edits that this job tests; empty for another build, and if there is nothing to
  /// say.
  static func notes(onChangeTestedBy invocation: Invocation, of project: Project, usingFolder folder: String)
    -> [RunNote]
  {
    let ci = invocation.ci
    guard !ci.targets.isEmpty else { return [] }
    guard let edits = GitQuery.files(editedBy: ci.commit, since: ci.targets, in: project.root) else {
      return [.unknownEdits]
    }
    let own = [RunNote(onEditsOf: edits.names, in: project)].compactMap(\.self)
    guard let scratch = try? ScratchFolder(in: folder) else { return own }
    return own + BaselineEdits(project: project, base: edits.base, folder: scratch.path).notes(on: edits.names)
  }
}
