import FoundationEssentials
import GateCore
import Synchronization
import Testing

@testable import GateApplication

/// Bisects real repositories with scripted builds and targets.
@Suite("Bisecting with scripted builds")
struct BisectUseTests {
  /// A repository of 41 commits, and what its builds do.
  private final class Repository {
    let project: UseCaseProject
    /// From the first to the last.
    let commits: [String]
    private let state = Builds()
    /// The MiB that a scenario holds at a commit.
    private let level: @Sendable (_ scenario: String, _ commit: Int) -> Double

    init(
      scenarios: [String] = ["load"],
      keys: String = "history: off",
      level: @escaping @Sendable (_ scenario: String, _ commit: Int) -> Double
    ) throws {
      let listed = scenarios.map { "  - {name: \($0), target: {command: [server]}, warmup: 0, gate: {peak_rss: 3%}}\n" }
      project = try UseCaseProject("version: 1\n\(keys)\nscenarios:\n\(listed.joined())", holding: 1)
      let messages = (0...40).map { index in
        "commit refs/heads/main\ncommitter Ada <ada@example.org> \(1_767_225_600 + index * 60) +0000\n"
          + "data <<END\nCommit \(index)\nEND\n"
      }
      try project.write(messages.joined(), to: "import")
      try project.shell("git init -q -b main . && git fast-import --quiet < import")
      try project.shell("git rev-list --reverse main > list")
      commits = try project.read("list").split(separator: "\n").map(String.init)
      self.level = level
      follow()
    }

    /// The commits in order of their builds, without those of the good end.
    var builds: [Int] { state.built.compactMap(commits.firstIndex) }

    /// Lets builds fail, and interrupts the given one, counting from 1.
    func follow(broken: Set<Int> = [], interruptedAt last: Int? = nil) {
      let (commits, level, state) = (commits, level, state)
      project.measurer.follow { scenario, _ in
        guard scenario.name.text == "build" else {
          return .holding(level(scenario.name.text, state.commit(in: scenario.root, of: commits)))
        }
        let commit = scenario.setup.lazy.flatMap(\.words).first(where: commits.contains) ?? ""
        state.build(commit, in: scenario.target.workingDirectory)
        if state.built.count == last { return nil }
        let isBroken = commits.firstIndex(of: commit).map(broken.contains) ?? false
        return .holding(1, end: End(.exited, code: isBroken ? 2 : 0))
      }
    }

    func bisect(_ configure: (inout Bisect) -> Void = { _ in }) throws -> UseCaseProject.Outcome {
      var bisect = Bisect(good: "main~40")
      (bisect.bad, bisect.search.build, bisect.options.json) = ("main", "make", "answer.json")
      configure(&bisect)
      return try project.run { try bisect.run(in: $0) }
    }

    /// The only scenario of the answer.
    func answer() throws -> [String: Any] {
      let scenarios = try #require(try project.object("answer.json")["scenarios"] as? [[String: Any]])
      return try #require(scenarios.first)
    }
  }

  /// The commits that are checked out in worktrees.
  private final class Builds: Sendable {
    private let state = Mutex<(folders: [String: String], built: [String])>(([:], []))

    var built: [String] { state.withLock { $0.built } }

    func build(_ commit: String, in folder: String) {
      state.withLock { state in
        state.folders[folder] = commit
        if folder.hasSuffix("/bisect-test") { state.built.append(commit) }
      }
    }

    func commit(in folder: String, of all: [String]) -> Int {
      state.withLock { $0.folders[folder] }.flatMap(all.firstIndex) ?? 0
    }
  }

  @Test("The guilty commit is named with its subject, author and figures, and a second run knows the answer")
  func guilty() throws {
    let repository = try Repository { _, commit in commit < 23 ? 24 : 26.4 }
    let found = try repository.bisect()
    let commit = repository.commits[23].prefix(9)
    #expect(found.code == .pass && found.verdict == "pass", "\(found.text)")
    #expect(
      found.text.contains("load: first bad commit: \(commit)") && found.text.contains("Commit 23 Ada, 2026-01-01"))
    #expect(found.text.contains("peak_rss 24.0 MiB to 26.4 MiB (+10.0 %), 95 % interval +2.4 MiB to +2.4 MiB"))
    #expect(found.errors.contains("about 5 builds left"), "\(found.errors)")
    #expect(repository.builds.count <= 7 && Set(repository.builds).count == repository.builds.count)
    #expect(found.output.split(separator: "\n").allSatisfy { $0.count <= 80 }, "\(found.output)")
    let answer = try repository.answer()
    #expect(answer["outcome"] as? String == "commit" && answer["metric"] as? String == "peak_rss")
    let count = repository.builds.count
    let again = try repository.bisect()
    #expect(again.text.contains("first bad commit: \(commit)") && repository.builds.count == count, "\(again.text)")
  }

  @Test("Interrupted at any build, the same command resumes where it stopped")
  func interrupted() throws {
    for last in 1...6 {
      let repository = try Repository { _, commit in commit < 23 ? 24 : 26.4 }
      repository.follow(interruptedAt: last)
      let stopped = try repository.bisect()
      #expect(
        stopped.code == .interrupted && stopped.errors.contains("run the same command to resume"), "\(stopped.errors)")
      let before = repository.builds
      repository.follow()
      let found = try repository.bisect()
      #expect(found.text.contains("first bad commit: \(repository.commits[23].prefix(9))"), "\(found.text)")
      // Only the interrupted build is repeated.
      #expect(repository.builds.count { before.dropLast().contains($0) } == last - 1, "\(repository.builds)")
    }
  }

  @Test("Commits that do not build are skipped, and the answer names the range")
  func broken() throws {
    let repository = try Repository { _, commit in commit < 23 ? 24 : 26.4 }
    repository.follow(broken: [21, 22, 23, 30])
    let found = try repository.bisect()
    #expect(found.code == .pass && found.text.contains("first bad commit is one of 4 commits"), "\(found.text)")
    let steps = try #require(try repository.answer()["steps"] as? [[String: Any]])
    let commits = try #require(steps.first?["commits"] as? [[String: Any]])
    #expect(commits.compactMap { $0["commit"] as? String } == Array(repository.commits[21...24]))
  }

  @Test("Scenarios share the builds of the ends, and each is told its own commit")
  func several() throws {
    let repository = try Repository(scenarios: ["load", "save"]) { scenario, commit in
      commit < (scenario == "load" ? 9 : 31) ? 24 : 26.4
    }
    let found = try repository.bisect()
    #expect(found.text.contains("load: first bad commit: \(repository.commits[9].prefix(9))"), "\(found.text)")
    #expect(found.text.contains("save: first bad commit: \(repository.commits[31].prefix(9))"))
    #expect(Set(repository.builds).count == repository.builds.count)
  }

  @Test("Ends that cannot be searched are refused, with the reason")
  func refused() throws {
    let repository = try Repository { _, _ in 24 }
    let same = try repository.bisect()
    #expect(same.code == .inconclusive && same.text.contains("use the same memory"), "\(same.text)")
    #expect(same.text.contains("peak_rss 24.0 MiB to 24.0 MiB (0.0 %)"))
    let swapped = try repository.bisect { ($0.good, $0.bad) = ("main", "main~3") }
    #expect(swapped.code == .usage && swapped.text.contains("--good is newer than --bad"), "\(swapped.text)")
    let unknown = try repository.bisect { $0.good = "v9" }
    #expect(unknown.code == .usage && unknown.text.contains("`v9` is not a commit of this checkout"))
    repository.follow(broken: [40])
    let unbuilt = try repository.bisect { $0.search.build = "make all" }
    #expect(unbuilt.code == .usage && unbuilt.text.contains("cannot build main"), "\(unbuilt.text)")
  }

  @Test("A step in the history is searched first; if it has gone, the whole range is", arguments: [23, 35])
  func history(place: Int) throws {
    let repository = try Repository(keys: "history: history.sqlite") { _, commit in commit < place ? 24 : 26.4 }
    for (commit, mebibytes) in [(2, 24), (20, 24), (28, 26.4), (40, 26.4)] {
      try repository.project.shell("git update-ref refs/heads/main \(repository.commits[commit])")
      repository.project.measurer.follow { _, _ in .holding(mebibytes) }
      _ = try repository.project.check { $0.allowsMissingBaseline = true }
    }
    repository.follow()
    let found = try repository.bisect()
    #expect(found.errors.contains("the history shows the step in 8 of the 40 commits"), "\(found.errors)")
    #expect(found.errors.contains("was not reproduced") == (place == 35))
    #expect(found.text.contains("first bad commit: \(repository.commits[place].prefix(9))"), "\(found.text)")
    #expect(place == 35 || repository.builds.count == 4, "\(repository.builds)")
  }
}
