import GateCore
import Testing

@testable import GateProbe

@Suite("Who sent SIGKILL", .timeLimit(.minutes(60)))
struct KillTests {
  @Test("The offsets come from the tracepoint's format")
  func format() {
    let text = """
      name: signal_generate
      ID: 188
      format:
      \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

      \tfield:int code;\toffset:16;\tsize:4;\tsigned:1;
      \tfield:char comm[16];\toffset:20;\tsize:16;\tsigned:1;
      \tfield:pid_t pid;\toffset:36;\tsize:4;\tsigned:1;
      """
    let format = KillFormat(parsing: text)
    #expect(format?.tracepoint == 188 && format?.target == 36 && format?.code == 16)
    #expect(KillFormat(parsing: "ID: 188\n") == nil)
  }

  @Test(
    "A process that SIGKILL ends has its sender where the kernel tells it, and no other",
    .enabled(if: LinuxCalls.canTrace, "requires ptrace(2)"))
  func killed() throws {
    let harness = ScenarioHarness()
    var scenario = harness.scenario("sleep 3600 & kill -9 $!; wait $!; exit 137")
    scenario.timeout = .seconds(3600)
    let recording = try harness.run(scenario)
    let kill = try #require(recording.kills.first)
    #expect(recording.kills.count == 1)
    // A busy machine may tell too late.
    if let sender = kill.sender {
      #expect(KillWatch.shared != nil && sender.isOfTarget && sender.process == recording.processes.first?.id)
    }
    #expect(kill.machine != nil && !kill.heaviest.isEmpty)
    #expect(recording.result().notes.contains(.killed(process: kill)))
  }

  @Test(
    "The killed process is among the heaviest with what it held, which counts for the whole tree",
    .enabled(if: LinuxCalls.canTrace, "requires ptrace(2)"))
  func heaviest() throws {
    let harness = ScenarioHarness()
    let holder = #"x=$(head -c 20000000 /dev/zero | tr "\\0" x); kill -9 $$"#
    var scenario = harness.scenario("sh -c '\(holder)'; sleep 0.1; exit 137")
    scenario.timeout = .seconds(3600)
    let kill = try #require(try harness.run(scenario).kills.first)
    let first = try #require(kill.heaviest.first)
    #expect(first.command == "sh" && first.resident > .mebibytes(19), "\(kill)")
    #expect(kill.tree >= first.resident, "\(kill)")
  }

  @Test("What Highwater itself kills is not told of")
  func own() throws {
    let harness = ScenarioHarness()
    var scenario = harness.scenario("trap '' TERM; sleep 3600 & wait; sleep 3600")
    scenario.steps = [Step(.wait(.milliseconds(1)))]
    scenario.stop.within = .milliseconds(1)
    #expect(try harness.run(scenario).kills == [])
  }
}
