import GateCore
import Testing

@testable import GateProbe

@Suite("Kinds of memory", .timeLimit(.minutes(60)))
struct KindTotalsTests {
  /// Without the lines that older kernels lack.
  private static let text = """
    00400000-7fff5f5ac000 ---p 00000000 00:00 0                              [rollup]
    Rss:                1764 kB
    Pss:                 644 kB
    Pss_Dirty:           112 kB
    Pss_Anon:            120 kB
    Pss_File:            500 kB
    Shared_Clean:       1000 kB
    Private_Clean:        40 kB
    Private_Dirty:       112 kB
    Anonymous:           120 kB
    Swap:                300 kB
    SwapPss:             200 kB
    """

  @Test("The sums are those of the lines, and a kind without its line is missing")
  func sums() throws {
    let totals = try #require(Array(Self.text.utf8).withUnsafeBytes { KindTotals(inRollup: $0) })
    #expect(totals.own[.pss] == 644 * 1024 && totals.own[.swap] == 300 * 1024)
    #expect(totals.own[.private] == 152 * 1024 && totals.share[.private] == 152 * 1024)
    #expect(totals.share[.anonymous] == 120 * 1024 && totals.share[.swap] == 200 * 1024)
    #expect(totals.share[.shared] == nil && totals.own[.anonymous] == nil)
    let missing = try #require(KindMetric(MetricName("tree_peak_shared")))
    let shown = try #require(KindMetric(MetricName("tree_peak_file")))
    #expect(!totals.has(missing) && totals.has(shown))
    #expect(Array("Rss: 1 kB\n".utf8).withUnsafeBytes { KindTotals(inRollup: $0) } == nil)
  }

  @Test("A program's kinds are those that it maps, and a forked copy shares them in the tree")
  func program() throws {
    let harness = ScenarioHarness()
    let program = try harness.testProcesses.compiled(
      """
      #define _GNU_SOURCE
      #include <string.h>
      #include <sys/mman.h>
      #include <sys/wait.h>
      #include <unistd.h>
      int main(void) {
        int flags = MAP_ANONYMOUS | MAP_POPULATE, access = PROT_READ | PROT_WRITE;
        memset(mmap(0, 24 << 20, access, flags | MAP_PRIVATE, -1, 0), 1, 24 << 20);
        memset(mmap(0, 8 << 20, access, flags | MAP_SHARED, -1, 0), 1, 8 << 20);
        usleep(300000);
        if (fork() == 0) { sleep(2); _exit(0); }
        int failed = wait(NULL) < 0;
        sleep(2);
        return failed;
      }
      """)
    var scenario = harness.scenario(.arguments([program]))
    let names = [
      "peak_anonymous", "peak_shared", "peak_pss", "peak_private", "tree_peak_anonymous", "tree_steady_shared",
    ]
    scenario.gate = Gate(rules: names.map { GateRule(metric: MetricName($0), tolerance: .automatic) })
    let metrics = try harness.run(scenario).result().metrics
    func mebibytes(_ name: String) throws -> Double { try #require(metrics[MetricName(name)]) / 1_048_576 }
    #expect(try mebibytes("peak_shared") == 8)
    #expect(try (24..<24.5).contains(mebibytes("peak_anonymous")))
    // Nobody shares its pages before it forks and after the child has ended.
    #expect(try (32..<33).contains(mebibytes("peak_private")))
    // Half of it in between.
    #expect(try (16..<33).contains(mebibytes("peak_pss")))
    #expect(try (24..<24.8).contains(mebibytes("tree_peak_anonymous")))
    #expect(try mebibytes("tree_steady_shared") == 8)
  }
}
