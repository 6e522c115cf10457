import GateFiles
import Testing

@Suite("What a word was meant to be")
struct NearMissTests {
  static let words = ["tolerance", "timeout", "on", "tcp", "memory-limit", "steps", "stop"]

  @Test(
    "Two slips at most lie between a word and what was meant",
    arguments: [
      ("tolerence", "tolerance"), ("tolreance", "tolerance"), ("Timeout", "timeout"), ("memoryLimit", "memory-limit"),
      ("memory_limit", "memory-limit"), ("tpc", "tcp"), ("step", "steps"), ("stps", "steps"), ("stp", "stop"),
    ]
  )
  func near(word: String, meant: String) {
    #expect(NearMiss.closest(to: word, among: Self.words) == meant)
  }

  @Test(
    "What is farther, or short, or right already is no slip",
    arguments: ["tolerating", "of", "udp2", "", "o", String(repeating: "x", count: 1_000_000)]
  )
  func far(word: String) {
    #expect(NearMiss.closest(to: word, among: Self.words) == nil)
    #expect(NearMiss.closest(to: "on", among: ["on"]) == nil)
  }
}
