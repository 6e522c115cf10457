import Foundation
import GateCore
import Testing

@testable import GateApplication

@Suite("Texts of launch records")
struct LaunchReportTests {
  private let style = TerminalStyle(width: 80, colour: false)

  private func summary(_ ending: LaunchSummary.Ending) -> LaunchSummary {
    LaunchSummary(
      ending: ending, activity: "active", appVersion: "1.4.2", process: 4711,
      lastSeen: Date(timeIntervalSince1970: 1_767_225_600), resident: .mebibytes(20), peak: .mebibytes(31),
      kernel: "6.18.2")
  }

  private func text(_ summary: LaunchSummary?) -> String {
    LaunchReport.text(summary, of: "server.launch", style: style).replacing("\u{a0}", with: " ")
  }

  @Test("Each known value has a line; unknown values have none")
  func whole() {
    var full = summary(.requested(.term, sender: 1))
    full.hungFor = .seconds(30)
    full.isStopped = true
    full.limit = .mebibytes(64)
    full.oomKills = 1
    full.launchFailures = 2
    full.cgroup = "/sys/fs/cgroup/app"
    #expect(
      text(full) == """
        server.launch
          latest run  stopped by SIGTERM from process 1
          was         active; launch recording was stopped
          hung for    30 s
          version     1.4.2
          process     4711, Linux 6.18.2
          last seen   2026-01-01T00:00:00Z
          memory      20.0 MiB resident, peak 31.0 MiB, limit 64.0 MiB
          killed      1 process of its cgroup, by the OOM killer
          cgroup      /sys/fs/cgroup/app
          failures    2 launches before it failed during startup

        """)
    #expect(
      text(summary(.exited(code: 3))) == """
        server.launch
          latest run  exited with code 3
          was         active
          version     1.4.2
          process     4711, Linux 6.18.2
          last seen   2026-01-01T00:00:00Z
          memory      20.0 MiB resident, peak 31.0 MiB

        """)
  }

  @Test("Unknown endings and empty records are reported")
  func unmarked() {
    #expect(text(summary(.unmarked)).contains("unknown: still running or killed"))
    #expect(text(summary(.crashed(.segv))).contains("crashed by SIGSEGV"))
    #expect(text(nil).contains("no record: none was stored, or a later start has reported the end"))
  }

  @Test("Control characters in the version are escaped")
  func hostile() {
    var hostile = summary(.unmarked)
    hostile.appVersion = "1\u{1b}[31m\n2"
    #expect(!text(hostile).contains("\u{1b}"))
  }
}
