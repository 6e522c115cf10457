import GateCore
import Testing

@testable import GateApplication

@Suite("Changes of the code behind a regression")
struct CodeChangeTests {
  private static let source = """
    static void remember(int key) {
      table[key] = block(key);
    }
    int main(void) {
      for (int key = 0; key < 100; key++) remember(key), trim(key);
    }
    static void trim(int key) {
      free(table[key - 9]);
    }
    """

  /// A repository with an approved baseline, whose program then holds more.
  private func regressed(
    _ change: String, onMain earlier: String? = nil, calling called: String? = nil
  ) throws -> UseCaseProject {
    let project = try UseCaseProject(holding: 8, keys: "history: off")
    try project.write(Self.source, to: "src/server.c")
    try project.write("key\n", to: "data.txt")
    try project.commit("src", "data.txt")
    try project.shell("git branch -m main")
    profile(project, held: .mebibytes(1))
    try project.checkAndApprove()
    // It takes the profile of the approved build.
    #expect(try project.check().code == .pass)
    try project.commit("baselines")
    if let earlier {
      try project.shell(earlier)
      try project.commit("src")
    }
    try project.shell("git update-ref refs/remotes/origin/main HEAD && git checkout -q -b topic")
    try project.shell(change)
    try project.shell(
      "git -c user.name=Ada -c user.email=ada@example.org -c commit.gpgsign=false commit -qam 'Keep more' --allow-empty"
    )
    project.measurer.hold(12)
    profile(project, held: .mebibytes(5), calling: called)
    return project
  }

  private func profile(_ project: UseCaseProject, held: Bytes, calling called: String? = nil) {
    let path = "\(project.path)/src/server.c"
    project.measurer.profile { _, _ in [.server(held: held, file: path, calling: called)] }
  }

  private static let pullRequest = ["JENKINS_URL": "https://ci.example", "CHANGE_ID": "7", "CHANGE_TARGET": "main"]

  @Test("The changed function on the stack is named with its commit, and annotations stand at its line")
  func onStack() throws {
    let project = try regressed("sed -i 's/block(key)/block(2 * key)/' src/server.c")
    let check = try project.check { $0.options.reports = [ReportFile(.agent, path: "agent.txt")] }
    let commit = try project.shell("git rev-parse HEAD").prefix(9)
    let base = try project.shell("git rev-parse main~1").prefix(9)
    let place = "remember() at src/server.c:2 was changed"
    #expect(check.code == .regression)
    #expect(
      check.text.contains("by change: \(place) since the approved commit \(base): \(commit) Keep more (Ada)"),
      "\(check.text)")
    let agent = try project.read("agent.txt")
    #expect(agent.contains("changed: remember() at src/server.c:2, since the approved commit \(base)\n"), "\(agent)")
    #expect(agent.contains("\n  - table[key] = block(key);\n  + table[key] = block(2 * key);\n"), "\(agent)")

    let inBranch = try project.check(variables: Self.pullRequest)
    #expect(inBranch.text.contains("\(place) in this branch: \(commit) Keep more (Ada)"), "\(inBranch.text)")
    let gitHub = try project.check(variables: ["GITHUB_ACTIONS": "true"])
    #expect(gitHub.errors.contains("::error file=src/server.c,line=2,title=load%3A regression::"), "\(gitHub.errors)")
  }

  @Test("A changed function that one on the stack calls is named, and annotations stand at its line")
  func called() throws {
    let project = try regressed("sed -i 's/free(.*);/return;/' src/server.c")
    let check = try project.check(variables: ["GITHUB_ACTIONS": "true"])
    let place = "by change: trim() at src/server.c:8 (called by main()) was changed since the approved commit"
    #expect(check.text.contains(place), "\(check.text)")
    #expect(check.text.contains("Keep more (Ada)"), "\(check.text)")
    #expect(check.errors.contains("::error file=src/server.c,line=8,title=load%3A regression::"), "\(check.errors)")
  }

  @Test(
    "A function that the program's start calls is as likely as another changed file, so both are listed",
    arguments: ["data.txt", "src/limit.c"])
  func calledByStart(file: String) throws {
    let change = "sed -i 's/free(.*);/return;/' src/server.c && echo 'int limit = 4;' >>\(file) && git add \(file)"
    let project = try regressed(change)
    let check = try project.check()
    #expect(check.text.contains("by change: nothing on the call stack was changed"), "\(check.text)")
    let words = check.text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    #expect(words.contains("trim") && words.contains(file), "\(check.text)")
  }

  @Test("Beside a change of the innermost function, what it calls and changed as well is named")
  func besideInnermost() throws {
    let edit = "sed -i 's/block(key)/block(key + 0)/' src/server.c"
    let file = "printf 'void *block(int key) {\\n  return large;\\n}\\n' >src/block.c && git add src/block.c"
    let words = try regressed("\(edit) && \(file)").check().text.split(whereSeparator: \.isWhitespace).joined(
      separator: " ")
    #expect(words.contains("by change: remember() at src/server.c:2 was changed since"), "\(words)")
    #expect(words.contains("; also block() at src/block.c:1 (called by remember()) (added)"), "\(words)")
  }

  @Test("A function on the stack that changed since the approval comes before one that the branch changed elsewhere")
  func onStackOfOtherBase() throws {
    let project = try regressed(
      "sed -i 's/free(.*);/return;/' src/server.c", onMain: "sed -i 's/block(key)/block(2 * key)/' src/server.c")
    let inBranch = try project.check(variables: Self.pullRequest)
    let place = "by change: remember() at src/server.c:2 was changed since the approved commit"
    #expect(inBranch.text.contains(place), "\(inBranch.text)")
  }

  @Test("Changes elsewhere are listed, without the baselines")
  func elsewhere() throws {
    let project = try regressed("echo more >>data.txt")
    let check = try project.check()
    #expect(
      check.text.contains("by change: nothing on the call stack was changed since the approved commit"), "\(check.text)"
    )
    #expect(check.text.contains("; changed elsewhere: data.txt:"))
    let scenario = try #require(try project.scenario()["explanation"] as? [String: Any])
    let changes = try #require(scenario["changes"] as? [String: Any])
    #expect((changes["elsewhere"] as? [[String: Any]])?.compactMap { $0["file"] as? String } == ["data.txt"])
  }

  @Test("A file in which only comments changed is counted but not listed, and each listed one has its commit")
  func commentsElsewhere() throws {
    let change = "sed -i '7i // more words' src/server.c && echo 'int limit = 4;' >src/b.c && cp src/b.c src/c.c"
    let project = try regressed("\(change) && git add src/b.c src/c.c")
    let commit = try project.shell("git rev-parse HEAD").prefix(9)
    let words = try project.check().text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    let expected = "src/b.c:1: \(commit) Keep more (Ada), src/c.c:1: \(commit) and 1 other file"
    #expect(words.contains(expected), "\(words)")
  }

  @Test("A new comment in another file does not hide what the program's start calls")
  func usedByStart() throws {
    let change = "sed -i 's/free(.*);/return;/' src/server.c"
    let comment = "echo '// none' >src/limit.c && git add src/limit.c"
    let called = try regressed("\(change) && \(comment)").check().text
    #expect(called.contains("by change: trim() at src/server.c:8 (called by main()) was changed"), "\(called)")
  }

  @Test("Beside a change of what the stack only uses, other files of the program are listed with their commits")
  func besideUsed() throws {
    let file = "printf 'void *block(int key) {\\n  return 0;\\n}\\n' >src/block.c && git add src/block.c"
    let project = try regressed("\(file) && echo more >>data.txt")
    let commit = try project.shell("git rev-parse HEAD").prefix(9)
    let words = try project.check().text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    let place = "by change: not certain which: block() at src/block.c:1 (called by remember()) was added since"
    #expect(words.contains(place), "\(words)")
    #expect(words.contains("Keep more (Ada); changed elsewhere: data.txt: \(commit)"), "\(words)")
  }

  @Test(
    "Where nothing on the stack changed, what the named function was seen to call does, though no text shows the call")
  func seenBeneath() throws {
    let project = try regressed("sed -i 's/free(.*);/return;/' src/server.c && echo more >>data.txt", calling: "trim")
    let words = try project.check().text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    #expect(
      words.contains("by change: not certain which: trim() at src/server.c:8 (called by remember()) was"), "\(words)")
    #expect(words.contains("; changed elsewhere: data.txt"), "\(words)")
  }

  @Test("Uncommitted changes are called so")
  func uncommitted() throws {
    let project = try regressed("true")
    try project.shell("sed -i '2a\\  note(key);' src/server.c")
    let check = try project.check()
    #expect(check.text.contains("by change: remember() at src/server.c:3 has uncommitted changes"), "\(check.text)")
  }

  @Test("After a squashed merge, the code is compared with the commit that brought the baseline")
  func squashed() throws {
    let project = try regressed("true")
    try project.shell("rm -rf .git")
    let base = try project.commit("src", "baselines").prefix(9)
    try project.shell("sed -i 's/block(key)/block(2 * key)/' src/server.c")
    try project.commit("src")
    let check = try project.check()
    #expect(
      check.text.contains("remember() at src/server.c:2 was changed since the approved commit \(base)"), "\(check.text)"
    )
  }

  @Test("A checkout without the approved commit says so in a verbose note only")
  func shallow() throws {
    let project = try regressed("true")
    try project.shell("rm -rf .git")
    try project.commit("src")
    let check = try project.check()
    #expect(check.code == .regression && !check.text.contains("by change:") && !check.text.contains("are unknown"))
    let verbose = try project.check(.verbose)
    #expect(verbose.text.contains("are unknown: the checkout does not have it; fetch more history"), "\(verbose.text)")
  }
}

extension MemoryProfile {
  /// A program whose function `remember` holds some of its memory.
  fileprivate static func server(held: Bytes, file: String, calling called: String? = nil) -> MemoryProfile {
    let stack = [("main", 5), ("remember", 2)].map { name, line in
      CallTree.Function(module: "server", name: name, file: file, line: line)
    }
    var calls = CallTree.Builder()
    calls.add(.init(live: held.count), stack: stack)
    if let called {
      let inner = CallTree.Function(module: "server", name: called, file: file, line: 8)
      calls.add(.init(live: 4096), stack: stack + [inner])
    }
    return MemoryProfile(
      process: "target", method: .stopsAndBlocks, peak: held, anonymous: held, calls: calls.tree)
  }
}
