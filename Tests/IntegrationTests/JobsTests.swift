import Foundation
import Testing

@Suite("Scenarios that are measured at the same time", .endsHangs)
struct JobsTests {
  private static func project(_ script: String) throws -> TemporaryProject {
    let scenarios = (1...3).map { "  - {name: s\($0), target: {shell: '\(script)'}, repetitions: 1, warmup: 0}\n" }
    return try TemporaryProject("version: 1\njobs: 3\nscenarios:\n\(scenarios.joined())")
  }

  @Test("All run at one time, and each has its own memory, output and FIFO for marks")
  func together() throws {
    let project = try Self.project(
      """
      echo $HIGHWATER_MARKS; : >up.$$; n=0;
      until [ $(ls up.* | wc -l) -ge 3 ]; do sleep 0.05; n=$((n + 1)); [ $n -lt 400 ] || exit 1; done
      """.replacing("\n", with: " "))
    let check = try Highwater.run("check", "--allow-missing-baseline", in: project)
    #expect(check.code == 0, "\(check.output)\(check.errors)")
    let outputs = try (1...3).map { try project.read(".highwater/output/s\($0)/1.log") }
    #expect(Set(outputs).count == 3, "\(outputs)")
    #expect(project.cgroups() == [])
  }

  @Test("An interruption stops all of them")
  func interruption() throws {
    let project = try Self.project("touch up.$$; sleep 1000")
    let running = try Highwater.start(["check"], in: project)
    let end = ContinuousClock.now + .seconds(60)
    func targets() throws -> [Int32] {
      let names = try FileManager.default.contentsOfDirectory(atPath: project.path)
      return names.filter { $0.hasPrefix("up.") }.compactMap { Int32($0.dropFirst(3)) }
    }
    while try targets().count < 3, ContinuousClock.now < end { usleep(20_000) }
    #expect(try targets().count == 3)
    running.send(SIGINT)
    #expect(try running.wait().code == 130)
    #expect(try targets().filter { kill($0, 0) == 0 } == [])
    #expect(project.cgroups() == [])
  }
}
