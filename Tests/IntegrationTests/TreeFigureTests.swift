import Foundation
import Testing

@Suite("What a tree of processes of known size held", .timeLimit(.minutes(10)))
struct TreeFigureTests {
  private static let needsCgroup: Comment = "no memory cgroup can be made here, so pages are not counted once"

  /// The height of the tree in a cgroup of its own, and what was taken in truth.
  private func inCgroup(_ words: String) throws -> (height: Double, truth: Double) {
    let outcome = try Ballast.record(words)
    let (repetition, report) = try outcome.only()
    #expect(outcome.method.hasSuffix("+cgroup"))
    #expect(repetition.treeMethod == "cgroup")
    return (try repetition.metric("tree_peak"), report.touched)
  }

  @Test("Children that hold memory at once are added up, whatever the figures count")
  func sum() throws {
    let (repetition, report) = try Ballast.record("children count=8 mib=20 ms=1000").only()
    let height = try repetition.metric("tree_peak")
    // The programs themselves count, or not, depending on the basis.
    #expect(height >= 0.99 * report.touched && height <= 1.01 * (report.touched + 9 * report.base), "\(height)")
    #expect(repetition.processes == 9)
  }

  @Test(
    "In a cgroup, what children hold of their own is right within 1 %",
    .enabled(if: Ballast.hasMemoryCgroup, needsCgroup)
  )
  func children() throws {
    let (height, truth) = try inCgroup("children count=8 mib=20 ms=1000")
    #expect(abs(height - truth) <= 0.01 * truth, "\(height) recorded, \(truth) held")
  }

  @Test(
    "In a cgroup, a segment that four processes share counts once, within 2 %",
    .enabled(if: Ballast.hasMemoryCgroup, needsCgroup), arguments: ["memfd", "sysv", "shm"]
  )
  func sharedSegment(kind: String) throws {
    let (height, truth) = try inCgroup("shared count=4 mib=50 ms=1000 kind=\(kind)")
    #expect(abs(height - truth) <= 0.02 * truth, "\(height) recorded, \(truth) held")
  }

  @Test(
    "In a cgroup, pages that forked copies share count once, and those that they wrote count each, within 2 %",
    .enabled(if: Ballast.hasMemoryCgroup, needsCgroup), arguments: [0, 10]
  )
  func copies(rewrittenPercent: Int) throws {
    let (height, truth) = try inCgroup("forked count=30 mib=50 share=\(rewrittenPercent) ms=1000")
    // Each copy has a few pages of its own: its stack, its counters of allocation.
    let own = Double(31 * 25 * sysconf(Int32(_SC_PAGESIZE)))
    #expect(height >= 0.98 * truth && height <= 1.02 * truth + own, "\(height) recorded, \(truth) held")
  }
}
