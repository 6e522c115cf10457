import Foundation
import Testing

/// Counts the instances of programs that know nothing of it.
@Suite("Living instances by class, in a check", .endsHangs)
struct InstancesTests {
  /// Keeps `NODES` nodes and `OTHERS` others until it gets a line, and releases them all before its end.
  private static let source = """
    import Glibc
    final class Node { var next: Node? }
    final class Other { var text = "" }
    final class Box<Value> { var value: Value; init(_ value: Value) { self.value = value } }
    @inline(never) func number(_ name: String) -> Int { getenv(name).flatMap { Int(String(cString: $0)) } ?? 0 }
    var kept: [AnyObject] = []
    for _ in 0..<number("NODES") { kept.append(Node()) }
    for at in 0..<number("OTHERS") { kept.append(Box(at)) }
    print("counted", kept.count)
    fflush(nil)
    _ = readLine()
    kept.removeAll()
    """
  private static let program = CompiledProgram("instances", in: .swift, flags: ["-module-name", "server"], source)
  private static let stripped = CompiledProgram(
    "instances-stripped", in: .swift, flags: ["-static-stdlib", "-Xlinker", "-s"], source)
  private static let fullyStatic = CompiledProgram(
    "instances-static", in: .swift, flags: ["-static-executable"], source)

  private func harness(_ program: CompiledProgram, nodes: Int, others: Int = 0) throws -> ScenarioHarness {
    let scenario = try ScenarioHarness("")
    try write(program, nodes: nodes, others: others, to: scenario)
    return scenario
  }

  private func write(
    _ program: CompiledProgram, nodes: Int, others: Int = 0, rule: String = "{}", to scenario: ScenarioHarness
  ) throws {
    let gate = rule == "{}" ? "{peak_rss: 50%, instances.server.Node: {tolerance: [20%, 50]}}" : rule
    try scenario.write(
      """
      target: {command: ["\(program.command[0])"], env: {NODES: "\(nodes)", OTHERS: "\(others)"}}
      until: exit
      steps: [{expect: {output: counted, within: 60s}}, {mark: full}, {send: "go\\n"}]
      gate: \(gate)
      """)
  }

  @Test("The instances at a mark are compared with the baseline's: 119 of 100 pass, and 151 are a regression")
  func rise() throws {
    let scenario = try harness(Self.program, nodes: 100)
    try scenario.approve()
    for (nodes, code) in [(119, Int32(0)), (151, 1)] {
      try write(Self.program, nodes: nodes, to: scenario)
      let outcome = try scenario.run(["check"])
      #expect(outcome.code == code, "\(outcome.text)")
      let metric = try scenario.metric("instances.server.Node")
      #expect((metric["current"] as? [String: Any])?["median"] as? Int == nodes)
      #expect((metric["baseline"] as? [String: Any])?["median"] as? Int == 100)
    }
  }

  @Test("A class without a rule that has 60 instances instead of none is named, with its generic arguments")
  func newClass() throws {
    let scenario = try harness(Self.program, nodes: 100)
    try scenario.approve()
    try write(Self.program, nodes: 100, others: 60, to: scenario)
    let outcome = try scenario.run(["check"])
    let rise = "instances.server.Box<Swift.Int> 0 instances → 60 instances"
    #expect(outcome.code == 0 && outcome.text.contains(rise), "\(outcome.text)")
  }

  @Test("A program that cannot be counted runs as ever, and the check says why it is inconclusive")
  func refusals() throws {
    for (program, words) in [
      (Self.stripped, "the program has no symbols"), (Self.fullyStatic, "or it is fully static"),
    ] {
      let scenario = try harness(program, nodes: 100)
      let outcome = try scenario.check()
      #expect(outcome.code == 4 && outcome.text.contains(words), "\(outcome.text)")
    }
  }

  @Test("A class that does not exist is not taken for one without instances")
  func unknownClass() throws {
    let scenario = try harness(Self.program, nodes: 100)
    try write(Self.program, nodes: 100, rule: "{instances.server.Nod: 20%}", to: scenario)
    let outcome = try scenario.check()
    #expect(outcome.code == 4 && outcome.text.contains("did you mean `server.Node`?"), "\(outcome.text)")
  }
}

extension ScenarioHarness {
  /// A metric of the last check.
  fileprivate func metric(_ name: String) throws -> [String: Any] {
    let scenarios = try project.result()["scenarios"] as? [[String: Any]]
    let metrics = try #require(scenarios?.first?["metrics"] as? [[String: Any]])
    return try #require(metrics.first { $0["name"] as? String == name })
  }
}
