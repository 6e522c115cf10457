import Foundation
import LoopbackServers
import Testing

/// What a team does with a gate over weeks, in each CI system, with no command but those of its ready-made pipeline and git.
@Suite("The life of a gate in ready-made pipelines", .endsHangs)
struct PipelineLifeTests {
  /// A repository whose main branch has its first baseline.
  private func adopted(_ system: PipelineSystem) throws -> PipelineForge {
    let forge = try PipelineForge(system)
    try forge.branch("gate", PipelineForge.adoption)
    #expect(try forge.check("gate").code == 5)
    #expect(try forge.approve("gate", because: "first baseline").code == 0)
    #expect(try forge.check("gate").code == 0)
    try forge.merge("gate")
    return forge
  }

  @Test(
    "First baseline, green, red, approval, green, revert, green: with the commands of the pipeline alone",
    arguments: PipelineSystem.allCases)
  func life(system: PipelineSystem) throws {
    let forge = try adopted(system)
    #expect(try forge.check("main").code == 0)

    // Green: now the approved build is profiled, since it has a history.
    try forge.branch("docs", "echo more >>README")
    #expect(try forge.check("docs").code == 0)
    try forge.merge("docs")
    #expect(try forge.check("main").code == 0)

    // Red, with the function that the kept profile of the approved build does not have.
    try forge.branch("rise", "sed -i 's/SIZE 4/SIZE 6/' hold.c")
    let red = try forge.check("rise")
    #expect(red.code == 1 && red.text.contains("by fill_cache"), "\(red.text)")
    #expect(try forge.comment("rise").code == 0)
    let comment = try forge.lastComment
    #expect(comment.contains("regression") && comment.contains("cache"), "\(comment)")
    #expect(try forge.approve("rise", because: "a larger cache").code == 0)
    let approved = try forge.check("rise")
    #expect(approved.code == 0 && approved.text.contains("approved by ann: a larger cache"), "\(approved.text)")
    try forge.merge("rise")
    #expect(try forge.check("main").code == 0)

    // A revert of the code alone is an improvement, and one of the merge also reverts the expectation.
    try forge.branch("code", "sed -i 's/SIZE 6/SIZE 4/' hold.c")
    let improved = try forge.check("code")
    #expect(improved.code == 0 && improved.text.contains("improved"), "\(improved.text)")
    try forge.branch("revert", "git revert --no-edit -m 1 HEAD >/dev/null")
    let reverted = try forge.check("revert")
    #expect(reverted.code == 0 && !reverted.text.contains("improved"), "\(reverted.text)")
    try forge.merge("revert")
    #expect(try forge.check("main").code == 0)
    try forge.branch("again", "sed -i 's/SIZE 4/SIZE 6/' hold.c")
    #expect(try forge.check("again").code == 1)
  }

  @Test("The weekly job folds approved changes into the baseline of main", arguments: PipelineSystem.allCases)
  func fold(system: PipelineSystem) throws {
    let forge = try adopted(system)
    try forge.branch("rise", "sed -i 's/SIZE 4/SIZE 6/' hold.c")
    #expect(try forge.check("rise").code == 1)
    #expect(try forge.approve("rise", because: "a larger cache").code == 0)
    try forge.merge("rise")
    #expect(try forge.check("main").code == 0)
    #expect(try forge.baselines("main").count { $0.contains("/changes/") } == 1)
    let fold = try forge.fold()
    // Nobody clicked on Jenkins.
    let approver = system == .jenkins ? "Jenkins" : "ann"
    #expect(fold.code == 0 && fold.text.contains("approved by \(approver):"), "\(fold.text)")
    #expect(try forge.baselines("main").count { $0.contains("/changes/") } == 0)
    #expect(try forge.check("main").code == 0)
    // A revert of the rise after the fold merges, and is an improvement, which can be approved.
    try forge.branch("revert", "git revert --no-edit -m 1 HEAD^ >/dev/null")
    let reverted = try forge.check("revert")
    #expect(reverted.code == 0 && reverted.text.contains("improved"), "\(reverted.text)")
    #expect(try forge.approve("revert", because: "the cache is small again").code == 0)
    #expect(try forge.check("revert").code == 0)
  }

  @Test(
    "Neither history nor profiles that a pull request wrote get into the jobs of main",
    arguments: PipelineSystem.allCases)
  func cacheOfPullRequest(system: PipelineSystem) throws {
    let forge = try adopted(system)
    _ = try forge.check("main")
    // Its build writes into the folder that the pipeline keeps.
    let plant = "mkdir -p .highwater/approved-profiles/load; echo planted >.highwater/approved-profiles/load/x.json"
    try forge.branch("evil", #"printf '\nall:: ; \#(plant)\n' >>Makefile"#)
    let evil = try forge.check("evil")
    #expect(evil.code == 0, "\(evil.text)")
    #expect(try forge.kept("evil").contains("x.json"))
    _ = try forge.check("main")
    #expect(try !forge.kept("main").contains("x.json"))
  }
}
