import Testing

@testable import GateCore

@Suite("The process whose memory is explained")
struct ProfiledBuildTests {
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
    let before = ProfiledBuild(example.before.isEmpty ? [] : repetitions(example.before, noise: example.noise))
    let now = try #require(ProfiledBuild(repetitions(example.now, noise: example.noise)))
    let comparison = now.comparison(with: before)
    #expect(comparison.now.process == example.explained && comparison.now.repetitions == 3)
    #expect(comparison.before?.repetitions == before?.processes.first?.repetitions)
  }

  @Test("Main processes belong together whatever their names are, and so do processes without another counterpart")
  func renamed() throws {
    var repetitions = repetitions(["server-base": 10, "base-worker": 40, "logger": 5])
    for index in repetitions.indices { repetitions[index].main = "server-base" }
    let before = try #require(ProfiledBuild(repetitions))
    func comparison(_ sizes: [String: Int64]) throws -> ProfileComparison {
      try #require(ProfiledBuild(self.repetitions(sizes))).comparison(with: before)
    }
    let worker = try comparison(["master": 10, "worker": 60, "logger": 5])
    #expect(worker.before?.process == "base-worker" && worker.now.process == "worker")
    #expect(try comparison(["master": 20]).before?.process == "server-base")
    #expect(ProfiledBuild([]) == nil)
  }
}
