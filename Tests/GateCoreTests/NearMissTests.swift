import GateCore
import Testing

@Suite("Suggestions for misspelled words")
struct NearMissTests {
  static let words = ["tolerance", "timeout", "on", "tcp", "memory-limit", "steps", "stop"]

  @Test(
    "A word with at most two typos is suggested",
    arguments: [
      ("tolerence", "tolerance"), ("tolreance", "tolerance"), ("Timeout", "timeout"), ("memoryLimit", "memory-limit"),
      ("memory_limit", "memory-limit"), ("tpc", "tcp"), ("step", "steps"), ("stps", "steps"), ("stp", "stop"),
    ]
  )
  func near(word: String, meant: String) {
    #expect(NearMiss.closest(to: word, among: Self.words) == meant)
  }

  @Test(
    "Distant, short or correct words get no suggestion",
    arguments: ["tolerating", "of", "udp2", "", "o", String(repeating: "x", count: 1_000_000)]
  )
  func far(word: String) {
    #expect(NearMiss.closest(to: word, among: Self.words) == nil)
    #expect(NearMiss.closest(to: "on", among: ["on"]) == nil)
  }
}
