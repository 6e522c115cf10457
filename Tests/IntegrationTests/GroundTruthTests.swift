import Foundation
import Testing

@Suite(
  "The peak of a program of known size",
  .enabled(if: Ballast.mayTrace, "needs ptrace, without which peaks are sampled"),
  .endsHangs
)
struct GroundTruthTests {
  /// The largest error in bytes for a program that holds its memory until it exits.
  private func tolerance(_ mebibytes: Int) -> Double {
    max(65536, 0.001 * Double(mebibytes << 20))
  }

  @Test(
    "The peak of a program that exits at its peak is exact, whatever the size of the process that starts Highwater",
    arguments: [1, 16, 256], [nil, 400]
  )
  func held(mebibytes: Int, launcher: Int?) throws {
    let outcome = try Ballast.record("hold mib=\(mebibytes)", launcherOf: launcher)
    let (repetition, report) = try outcome.only()
    let peak = try repetition.metric("peak_rss")
    #expect(abs(peak - report.truth) <= tolerance(mebibytes), "\(peak) recorded, \(report.truth) held")
    #expect(outcome.method.hasPrefix("traced"))
  }

  @Test("Memory that was freed before the exit counts, within the error of the kernel's counters", arguments: [0, 50])
  func freed(milliseconds: Int) throws {
    let (repetition, report) = try Ballast.record("freed mib=64 ms=\(milliseconds) after=20").only()
    let peak = try repetition.metric("peak_rss")
    #expect(abs(peak - report.truth) <= Ballast.markError + 65536, "\(peak) recorded, \(report.truth) held")
  }

  @Test("Each spike of 30 MiB is in the peak and is measured above the steady level", arguments: [1, 5, 20])
  func spikes(milliseconds: Int) throws {
    // The level alone lasts longer than all spikes: the first half of a run may be warm-up.
    let command = "spikes mib=30 ms=\(milliseconds) level=5 lead=500 window=150 tail=50"
    let outcome = try Ballast.record(command, options: ["--repetitions", "5"])
    let reports = outcome.reports.suffix(5)
    let tolerance = max(Double(1 << 20), Ballast.markError)
    #expect(outcome.repetitions.count == 5 && outcome.reports.count == 6, "the first report is from the warm-up")
    for (repetition, report) in zip(outcome.repetitions, reports) {
      let peak = try repetition.metric("peak_rss")
      #expect(abs(peak - report.truth) <= tolerance, "\(peak) recorded, \(report.truth) held")
      // A very busy machine reads too seldom to see that the level is steady.
      guard let spike = repetition.metrics["spike"] else { continue }
      #expect(abs(spike - report.touched) <= tolerance, "a spike of \(spike) recorded, \(report.touched) held")
    }
    #expect(outcome.repetitions.contains { $0.metrics["spike"] != nil })
  }

  @Test("Memory still counts after the first thread exits before the others")
  func leader() throws {
    let (repetition, report) = try Ballast.record("leader mib=64 ms=20").only()
    let peak = try repetition.metric("peak_rss")
    // The second thread's stack and the exit of the first add pages: 64 KiB were measured.
    #expect(abs(peak - report.truth) <= 262_144, "\(peak) recorded, \(report.truth) held")
  }

  @Test("After an exec by another thread than the first, the larger peak of both programs counts")
  func threadExec() throws {
    for (before, after) in [(1, 64), (64, 1)] {
      let outcome = try Ballast.record("thread-exec before=\(before) mib=\(after) ms=20")
      let (repetition, report) = try outcome.only()
      let truth = report.base + Double(max(before, after) << 20)
      let peak = try repetition.metric("peak_rss")
      #expect(abs(peak - truth) <= 262_144, "\(before) MiB, then \(after): \(peak) recorded, \(truth) held")
      #expect(repetition.processes == 1)
    }
  }

  @Test("Many short-lived children are counted, and the largest is the main one, with its exact peak")
  func shortChild() throws {
    let script = "for i in 1 2 3 4 5 6 7 8 9; do \"$0\" hold mib=1; done; \"$0\" hold mib=24; exit 0"
    let outcome = try Ballast.record(["sh", "-c", script, try Ballast.program])
    let repetition = try #require(outcome.repetitions.first)
    let truth = try #require(outcome.reports.last).truth
    #expect(repetition.processes == 11)
    let table = try #require(repetition.processTable)
    let child = try #require(table.max { $0.peak < $1.peak })
    #expect(child.command == "ballast" && child.exact && child.main)
    #expect(abs(child.peak - truth) <= tolerance(24), "\(child.peak) recorded, \(truth) held")
    #expect(table.filter(\.main).count == 1)
  }
}
