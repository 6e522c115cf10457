import GateCore
import Testing

@testable import GateApplication

/// A repository whose baselines were approved on a machine with two CPUs, and a machine with one.
@Suite("Moving baselines to another kind of machine")
struct MoveBaselinesTests {
  /// A project with an approved level of 100 MiB, to which the last commit adds 5 MiB; here programs need a tenth less.
  private func project(committing isCommitted: Bool = true) throws -> UseCaseProject {
    let project = try UseCaseProject(holding: 100, repetitions: "{min: 5, max: 20}")
    try project.write(".highwater\n", to: ".gitignore")
    try project.commit(".gitignore")
    try project.checkAndApprove()
    if isCommitted { try project.commit("baselines") }
    try project.commit()
    project.measurer.fingerprint.cpus = 1
    project.measurer.follow { scenario, _ in .holding(scenario.root.contains("worktree") ? 90 : 94.5) }
    return project
  }

  private func move(_ project: UseCaseProject, _ configure: (inout MoveBaselines) -> Void = { _ in }) throws
    -> UseCaseProject.Outcome
  {
    var move = MoveBaselines()
    configure(&move)
    return try project.run { try move.run(in: $0) }
  }

  @Test("What was approved elsewhere is measured at its commit, so that the next check finds what was added since")
  func moved() throws {
    let project = try project()
    let approved = try project.shell("git rev-parse HEAD^")
    #expect(try project.check().code == .noBaseline)
    let move = try move(project)
    #expect(move.code == .pass, "\(move.text)")
    #expect(move.text.contains("moved load metric from to change peak_rss 100.0 MiB → 90.0 MiB"), "\(move.output)")
    #expect(move.text.contains("commit \(approved.prefix(9)), which has what was approved for linux-x86_64-2cpu"))
    #expect(move.text.contains("cpus 2 → 1"))
    let baseline = try project.object("baselines/load/linux-x86_64-1cpu.json")
    #expect((baseline["approved"] as? [String: Any])?["commit"] as? String == approved)
    #expect((baseline["metrics"] as? [String: [Double]])?["peak_rss"]?.count == 10)
    let check = try project.check()
    #expect(check.code == .regression && check.text.contains("+5.0 %"), "\(check.text)")
    // Also from a moved baseline that is committed with a program that has risen.
    try project.commit("baselines")
    project.measurer.fingerprint.cpus = 4
    let second = try self.move(project)
    #expect(second.text.contains("commit \(approved.prefix(9)), which has what was approved for linux-x86_64-2cpu"))
    let again = try self.move(project)
    #expect(again.code == .pass && again.text.contains("it has a baseline for this machine"), "\(again.text)")
  }

  @Test("The commit is the one that merged the last approval, not that of the merged branch")
  func merge() throws {
    let project = try project()
    try project.shell("git branch -m main; git checkout -q -b topic HEAD^")
    project.measurer.fingerprint.cpus = 2
    project.measurer.hold(110)
    #expect(try project.check().code == .regression)
    #expect(try project.approve().code == .pass)
    try project.commit("baselines")
    try project.shell("git checkout -q main; git -c user.name=A -c user.email=a@x merge -q --no-ff -m merge topic")
    let merge = try project.shell("git rev-parse HEAD")
    try project.commit()
    project.measurer.fingerprint.cpus = 1
    project.measurer.hold(108)
    #expect(try move(project).text.contains("commit \(merge.prefix(9))"))
    #expect(try project.baselines().keys.contains("load/linux-x86_64-1cpu.json"))
  }

  @Test("A baseline that no commit has is refused, and a scenario without one is left alone")
  func unknown() throws {
    let uncommitted = try project(committing: false)
    let refused = try move(uncommitted)
    #expect(refused.code == .failed && refused.text.contains("git does not know the commit"), "\(refused.text)")
    let new = try UseCaseProject(holding: 8)
    let nothing = try move(new)
    #expect(nothing.code == .pass && nothing.text.contains("no environment has a baseline of it"), "\(nothing.text)")
    #expect(try new.baselines().isEmpty)
  }

  @Test("A scenario that fails at the approved commit gets no baseline")
  func failing() throws {
    let project = try project()
    project.measurer.follow { scenario, _ in
      .holding(90, end: End(.exited, code: scenario.root.contains("worktree") && scenario.name.text == "load" ? 9 : 0))
    }
    let move = try move(project)
    #expect(move.code == .failed && move.text.contains("exited with code 9"), "\(move.text)")
    #expect(try project.baselines().count == 1)
  }

  @Test("The baseline of a named environment is not replaced from another kind of machine without `--force`")
  func named() throws {
    let project = try UseCaseProject(holding: 100, repetitions: "{min: 5, max: 20}", keys: "environment: {name: fleet}")
    try project.commit()
    try project.checkAndApprove()
    try project.commit("baselines")
    project.measurer.fingerprint.cpus = 1
    let refused = try move(project)
    #expect(refused.code == .usage && refused.text.contains("from another kind of machine"), "\(refused.text)")
    #expect(try move(project) { $0.request.forces = true }.text.contains("baselines: 1 moved"))
  }

  @Test("An interruption keeps what was moved, says so, and the same command moves the rest")
  func interrupted() throws {
    let project = try UseCaseProject(
      """
      version: 1
      history: off
      defaults: {repetitions: 2, warmup: 0, gate: {peak_rss: 3%}}
      scenarios: [{name: one, target: {command: [a]}}, {name: two, target: {command: [a]}}]
      """, holding: 8)
    try project.commit()
    try project.checkAndApprove()
    try project.commit("baselines")
    project.measurer.fingerprint.cpus = 1
    project.measurer.follow { scenario, _ in scenario.name.text == "two" ? nil : .holding(8) }
    let stopped = try move(project)
    #expect(stopped.code == .interrupted && stopped.text.contains("baselines: 1 moved"), "\(stopped.text)")
    #expect(stopped.errors.contains("run the same command for the scenarios that are left"), "\(stopped.errors)")
    #expect(!stopped.errors.contains("unchanged"), "\(stopped.errors)")
    project.measurer.hold(8)
    #expect(try move(project).text.contains("baselines: 1 moved, 1 unchanged"))
  }
}
