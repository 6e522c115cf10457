import Foundation
import Testing

@Suite("Programs and the page cache", .endsHangs)
struct PageCacheTests {
  /// The median peak of three repetitions of a program, after a warm-up.
  private func peak(of program: String, in project: TemporaryProject) throws -> Double {
    let outcome = try Highwater.run(
      "record", "--repetitions", "3", "--json", "-", "--", program, "--version", in: project)
    try #require(outcome.code == 0, "\(outcome.errors)")
    let scenario = try #require((try object(in: outcome.output)["scenarios"] as? [[String: Any]])?.first)
    let repetitions = try #require(scenario["repetitions"] as? [[String: Any]])
    return try repetitions.map { try #require(($0["metrics"] as? [String: Double])?["peak_rss"]) }.sorted()[1]
  }

  /// Without a warm-up that renews the page cache, these copies of Highwater had peaks of 21.6, 29.3 and 23.2 MiB.
  ///
  /// Linux 6.18, ext4, 2026-11. Medians are compared, as by the gate: beside other tests, which push files out of the
  /// cache, single repetitions differed by 276 KiB.
  @Test("Copies of a program have the same peak, whatever the block size they were written with")
  func copies() throws {
    let project = try TemporaryProject()
    let script = """
      dd if="$HIGHWATER" of=small bs=4k status=none && dd if="$HIGHWATER" of=large bs=1M status=none
      cp "$HIGHWATER" copy && chmod +x small large
      """
    #expect(try Highwater.shell(script, in: project).code == 0)
    let all = try ["small", "large", "copy"].map { try peak(of: "./\($0)", in: project) }
    let (low, high) = (try #require(all.min()), try #require(all.max()))
    #expect(high - low <= 256 * 1024, "\(all)")
  }
}
