import Foundation
import Testing

@Suite("Merging branches that approved the same scenario", .endsHangs)
struct MergeConflictTests {
  /// A repository in which the branches `main` and `topic` have approved 24 and 28 MiB, on `main` of a changed scenario.
  private func repository() throws -> TemporaryProject {
    let project = try TemporaryProject.holding(20, keys: "history: off")
    try project.write(".highwater\nstarted\n", to: ".gitignore")
    let script = """
      set -e
      git init -q -b main && git config user.name Ada && git config user.email ada@example.com
      approve() { echo -n $1 > size; $HIGHWATER check > check.txt || true; $HIGHWATER approve --force; git add .; git commit -qm "hold $1 MiB"; }
      echo check.txt >> .gitignore
      approve 20
      git checkout -qb topic && approve 28
      git checkout -q main && sed -i 's/echo >/echo  >/' highwater.yml && approve 24
      """
    let outcome = try Highwater.shell(script, in: project)
    try #require(outcome.code == 0, "\(outcome.output)\(outcome.errors)")
    return project
  }

  @Test("A check of the merged program tells both approvals, and its approval settles the conflict")
  func conflict() throws {
    let project = try repository()
    let merge = try Highwater.shell(
      "git merge topic; echo -n 26 > size; git add size; git diff --name-only --diff-filter=U", in: project)
    #expect(merge.output.contains("baselines/load/"), "\(merge.output)\(merge.errors)")
    let check = try Highwater.run("check", in: project)
    #expect(check.code == 5)
    for side in ["ours is peak_rss 2", "theirs is peak_rss 3"] { #expect(check.text.contains(side), "\(check.text)") }
    #expect(try Highwater.run("validate", in: project).code == 2)
    #expect(try Highwater.run("approve", "load", in: project).code == 0)
    #expect(try Highwater.shell("git add . && git commit -qm merged", in: project).code == 0)
    #expect(try Highwater.run("check", in: project).code == 0)
    #expect(try Highwater.run("validate", in: project).code == 0)
  }

  @Test("A merge that takes their values with our definition of the scenario does not pass")
  func mixture() throws {
    let project = try repository()
    let merge = try Highwater.shell("git merge -q -X theirs topic", in: project)
    #expect(merge.code == 0, "\(merge.errors)")
    let check = try Highwater.run("check", in: project)
    #expect(check.code == 5 && check.text.contains("a merge took parts of two baselines"), "\(check.text)")
  }
}
