import Testing

@testable import GateCore

@Suite("The process whose memory is explained")
struct ExplainedProcessTests {
  /// Three repetitions with processes of these sizes in MiB, the main one `master`; they differ by so many KiB.
  private func repetitions(_ sizes: [String: Int64], noise: Int64 = 4) -> [ProfiledRepetition] {
    (0..<3).map { (number: Int64) in
      let profiles = sizes.map { name, size in
        var profile = MemoryProfile(["server!main": .init(live: size << 20 + number * noise << 10)])
        profile.process = name
        return profile
      }
      return ProfiledRepetition(main: "master", profiles: profiles)
    }
  }

  struct Case: CustomTestStringConvertible {
    let testDescription: String
    var before: [String: Int64] = ["master": 10, "worker": 40, "logger": 5]
    let now: [String: Int64]
    var noise: Int64 = 4
    let explained: String
  }

  @Test(
    "It is the one that rose most, and the main process where it rose itself",
    arguments: [
      Case(testDescription: "a worker", now: ["master": 11, "worker": 60, "logger": 5], explained: "worker"),
      Case(testDescription: "a new process", now: ["master": 10, "worker": 40, "other": 9, "logger": 5], explained: "other"),
      Case(testDescription: "the main process", now: ["master": 20, "worker": 50, "logger": 5], explained: "master"),
      Case(testDescription: "none", now: ["master": 10, "worker": 39, "logger": 5], explained: "master"),
      Case(
        testDescription: "noise", now: ["master": 10, "worker": 42, "logger": 5], noise: 1024, explained: "master"),
      Case(testDescription: "only one build", before: [:], now: ["master": 10, "worker": 11], explained: "worker"),
    ])
  func chosen(_ example: Case) throws {
    let before = example.before.isEmpty ? [] : repetitions(example.before, noise: example.noise)
    let process = try #require(
      ExplainedProcess(before: before, now: repetitions(example.now, noise: example.noise)))
    #expect(Set(process.now.map(\.process)) == [example.explained] && process.now.count == 3)
    #expect(process.before.count == before.count)
  }

  @Test("Main processes belong together whatever their names are, and so do processes without another counterpart")
  func renamed() throws {
    var before = repetitions(["server-base": 10, "base-worker": 40, "logger": 5])
    for index in before.indices { before[index].main = "server-base" }
    let now = repetitions(["master": 10, "worker": 60, "logger": 5])
    let worker = try #require(ExplainedProcess(before: before, now: now))
    #expect(worker.before.first?.process == "base-worker" && worker.now.first?.process == "worker")
    let main = try #require(ExplainedProcess(before: before, now: repetitions(["master": 20])))
    #expect(main.before.first?.process == "server-base")
  }

  @Test("An earlier profile is compared with the process of its name")
  func base() {
    let now = repetitions(["master": 10, "worker": 60])
    #expect(ExplainedProcess(before: [], now: now, base: "master")?.now.first?.process == "master")
    #expect(ExplainedProcess(before: [], now: now, base: "gone")?.now.first?.process == "master")
    #expect(ExplainedProcess(before: [], now: []) == nil)
  }
}
