import GateCore
import Testing

@testable import GateApplication

@Suite("Memory limits as JSON")
struct LimitFileTests {
  @Test("The file matches the golden file")
  func golden() throws {
    let usual = LimitSearch.Usual(
      durations: [.milliseconds(480), .milliseconds(500)], treePeak: .mebibytes(60), peak: .mebibytes(62))
    let machine = MemoryLimiting(swap: .forbidden, batches: .kibibytes(512), largest: .mebibytes(512))
    var search = LimitSearch(usual: usual, on: machine)
    while let level = search.next {
      let end = End(
        .oom, signal: .kill, proof: .ownCgroup(kills: .init(before: 0, after: 1), limit: level), oomKills: 1)
      search.add(
        LimitedRun(
          limit: level, outcome: level < .mebibytes(61) ? .killed(end: end) : .survived, duration: .milliseconds(510),
          usage: CgroupUsage(peak: level, limitHits: 12, refaults: 3)))
    }
    var found = LimitStudy(
      ScenarioName("redis-load"), in: DocumentExamples.environment, ownLimit: .mebibytes(512))
    (found.search, found.runCount, found.duration) = (search, 11, .seconds(21))
    var failed = LimitStudy(ScenarioName("crasher"), in: DocumentExamples.environment, ownLimit: nil)
    failed.failure = Failure(part: .init(.stop, text: "repetition 1 of 5"), problem: .interrupted)
    let result = LimitResult(run: DocumentExamples.result.run, studies: [found, failed])
    try DocumentGolden.expect(
      LimitFile.encode(result, words: .examples) { $0.survived ? "survives" : "is killed" }, toBe: "limit.json")
  }
}
