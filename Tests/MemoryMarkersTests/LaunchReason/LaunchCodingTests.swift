import FoundationEssentials
import GateCore
import Testing

@testable import MemoryMarkers

@Suite("Ends and reasons as text")
struct LaunchCodingTests {
  private static let ends: [(RunEnd, String)] = [
    (.exited(code: 3), "exited 3"),
    (.requested(signal: 15, sender: .process(7)), "requested 15 process 7"),
    (.requested(signal: 2, sender: .kernel), "requested 2 kernel"),
    (.requested(signal: 1, sender: .unknown), "requested 1 unknown"),
    (.swiftTrap(signal: 4, message: nil), "swift-trap 4"),
    (.swiftTrap(signal: 4, message: "Index out of range: 7"), "swift-trap 4 Index out of range: 7"),
    (.allocationFailure(bytes: nil), "allocation-failure"),
    (.allocationFailure(bytes: 1 << 40), "allocation-failure 1099511627776"),
    (.aborted, "aborted"),
    (.crashed(signal: 11, coreDumped: false), "crashed 11"),
    (.crashed(signal: 11, coreDumped: true), "crashed 11 core-dumped"),
    (.outOfMemory(.ownLimit, .cgroupCounter), "out-of-memory own-limit cgroup-counter"),
    (.outOfMemory(.userspaceDaemon, .supervisor), "out-of-memory userspace-daemon supervisor"),
    (.killed(by: .runnerTimeout), "killed runner-timeout"),
    (.hung(seconds: 3.5), "hung 3.5"),
    (.startFailed(errno: 2), "start-failed 2"),
    (.unknown("a debugger was attached"), "unknown a debugger was attached"),
    (.unknown(""), "unknown "),
  ]

  private static let reasons: [(StartupReason, String)] = [
    (.notEvaluated, "not-evaluated"), (.firstLaunch, "first-launch"), (.concurrentInstance, "concurrent-instance"),
    (.crash, "crash"), (.debug, "debug"), (.osUpgrade, "os-upgrade"), (.appUpgrade, "app-upgrade"),
    (.requested, "requested"), (.cleanExit, "clean-exit"), (.restartOfMachine, "restart-of-machine"),
    (.notMonitored, "not-monitored"), (.hang, "hang"),
    (.outOfMemory(.active, .kernelLogPid), "out-of-memory active kernel-log"),
    (.outOfMemory(.idle, .inferred), "out-of-memory idle inferred"),
    (.killedUnknown(.starting), "killed-unknown starting"),
    (.unknown("the record is damaged"), "unknown the record is damaged"),
  ]

  @Test("Each end is encoded as a string, and decoded unchanged", arguments: ends)
  func end(end: RunEnd, text: String) throws {
    let data = try JSONEncoder().encode([end])
    #expect(try JSONDecoder().decode([String].self, from: data) == [text])
    #expect(try JSONDecoder().decode([RunEnd].self, from: data) == [end])
  }

  @Test("Each reason is encoded as a string, and decoded unchanged", arguments: reasons)
  func reason(reason: StartupReason, text: String) throws {
    let data = try JSONEncoder().encode([reason])
    #expect(try JSONDecoder().decode([String].self, from: data) == [text])
    #expect(try JSONDecoder().decode([StartupReason].self, from: data) == [reason])
  }

  @Test("Highwater recognizes each reason that is sent", arguments: reasons.map(\.0).filter { $0 != .notEvaluated })
  func mark(reason: StartupReason) {
    let mark = Mark(time: .zero, event: .mark("launch.\(reason.word)"))
    let result = Recording(marks: [mark], end: End(.exited, code: 0), duration: .seconds(1)).result()
    #expect(result.events.map(\.kind) == [.launch(reason: reason.word)])
  }

  @Test(
    "Other strings are rejected",
    arguments: [
      "", "exited", "exited x", "requested 15", "requested 15 process", "killed", "hung", "out-of-memory idle",
    ]
  )
  func rejected(text: String) throws {
    let data = try JSONEncoder().encode([text])
    #expect(throws: DecodingError.self) { try JSONDecoder().decode([RunEnd].self, from: data) }
    #expect(throws: DecodingError.self) { try JSONDecoder().decode([StartupReason].self, from: data) }
  }
}
