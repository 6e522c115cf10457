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
      Case(
        testDescription: "a new process", now: ["master": 10, "worker": 40, "other": 9, "logger": 5], explained: "other"
      ),
      Case(testDescription: "the main process", now: ["master": 20, "worker": 50, "logger": 5], explained: "master"),
      Case(testDescription: "none", now: ["master": 10, "worker": 39, "logger": 5], explained: "master"),
      Case(
        testDescription: "noise", now: ["master": 10, "worker": 42, "logger": 5], noise: 1024, explained: "master"),
      Case(testDescription: "only one build", before: [:], now: ["master": 10, "worker": 11], explained: "worker"),
    ])
  func chosen(_ example: Case) throws {
    let before = ProfiledBuild(example.before.isEmpty ? [] : repetitions(example.before, noise: example.noise))
    let now = try #require(ProfiledBuild(repetitions(example.now, noise: example.noise)))
    let comparison = try #require(now.comparison(with: before))
    #expect(comparison.now.process == example.explained && comparison.now.repetitions == 3)
    #expect(comparison.before?.repetitions == before?.processes.first?.repetitions)
  }

  @Test("Main processes belong together whatever their names are, and so do processes without another counterpart")
  func renamed() throws {
    var repetitions = repetitions(["server-base": 10, "base-worker": 40, "logger": 5])
    for index in repetitions.indices { repetitions[index].main = "server-base" }
    let before = try #require(ProfiledBuild(repetitions))
    func comparison(_ sizes: [String: Int64]) throws -> ProfileComparison {
      try #require(ProfiledBuild(self.repetitions(sizes))?.comparison(with: before))
    }
    let worker = try comparison(["master": 10, "worker": 60, "logger": 5])
    #expect(worker.before?.process == "base-worker" && worker.now.process == "worker")
    #expect(try comparison(["master": 20]).before?.process == "server-base")
    #expect(ProfiledBuild([]) == nil)
  }

  @Test("Each rise compares its own moments: growth those of one build")
  func moments() throws {
    func build(_ sizes: [MemoryProfile.Moment: Int64]) throws -> ProfiledBuild {
      let all = sizes.flatMap { moment, size in
        repetitions(["master": size]).map { repetition in
          var profile = repetition.profiles[0]
          profile.moment = moment
          return ProfiledRepetition(main: "master", profiles: [profile])
        }
      }
      return try #require(ProfiledBuild(all))
    }
    let (before, now) = (try build([.peak: 20, .end: 5, .early: 4]), try build([.peak: 21, .end: 9, .early: 6]))
    for (rise, mebibytes) in [(ExplainedRise.peak, 1), (.steady, 4), (.growth, 3)] as [(ExplainedRise, Int64)] {
      #expect(now.comparison(with: before, of: MeasuredRise(rise))?.rise == .mebibytes(mebibytes))
    }
    #expect(try build([.peak: 1]).comparison(with: before, of: MeasuredRise(.growth)) == nil)
    func growth(middle: Int64) throws -> CulpritFinding? {
      try build([.early: 10, .middle: middle, .end: 30]).comparison(with: nil, of: MeasuredRise(.growth))?.finding
    }
    // 4 of 20 MiB are the least that is growth in its second half.
    #expect(try growth(middle: 26)?.culprit != nil)
    #expect(try growth(middle: 27) == .ended(rise: .mebibytes(20)))
    #expect(ExplainedRise(of: [.growth]) == .growth && ExplainedRise(of: [.steadyRSS, .growth]) == .steady)
    #expect(ExplainedRise(of: [.steadyRSS, .peakRSS]) == .peak)
    #expect(ExplainedRise(of: [.value("items"), .faultRate]) == nil)
  }

  /// Three repetitions of processes of one name, each of which holds so many MiB; in the second one two of them never lived
  /// at the same time.
  private func workers(_ sizes: [Int64]) throws -> ProfiledBuild {
    let repetitions = (0..<3).map { number in
      let together = number == 1 ? sizes.max() ?? 0 : sizes.reduce(0, +)
      let ranked = [together] + sizes.sorted(by: >)
      let profiles = ranked.enumerated().map { rank, size in
        var profile = MemoryProfile(["a!main;a!load": .init(live: size << 20)])
        (profile.process, profile.rank) = ("worker", rank == 0 ? nil : rank)
        return profile
      }
      return ProfiledRepetition(main: "sh", profiles: profiles)
    }
    return try #require(ProfiledBuild(repetitions))
  }

  @Test("Where one process of several does not show a function clearly, all of its name do")
  func allOfOneName() throws {
    /// Two workers, of which in turn another one does what comes first; both together always do the same.
    func build(_ first: Int64, _ second: Int64, load: Int64) throws -> ProfiledBuild {
      try #require(
        ProfiledBuild(
          (0..<3).map { number in
            let sizes = number == 1 ? [first + 6, second - 6] : [first, second]
            let profiles = ([first + second] + sizes).enumerated().map { rank, size in
              let loaded = rank == 0 ? 2 * load : load + (number == 1 ? 12 : 0) * (rank == 1 ? 1 : -1)
              var profile = MemoryProfile([
                "a!main;a!load": .init(live: loaded << 20), "a!main;a!rest": .init(live: (size - loaded) << 20),
              ])
              (profile.process, profile.rank) = ("worker", rank == 0 ? nil : rank)
              return profile
            }
            return ProfiledRepetition(main: "worker", profiles: profiles)
          }))
    }
    let (before, now) = (try build(40, 40, load: 20), try build(60, 60, load: 40))
    let comparison = try #require(now.comparison(with: before, of: MeasuredRise(.peak, amount: .mebibytes(20))))
    #expect(comparison.finding?.culprit?.change.function == FunctionName(module: "a", name: "load"))
    #expect(comparison.now.rank == nil)
  }

  @Test("One of several processes that rose is explained, though all together differ from run to run")
  func oneOfSeveral() throws {
    let before = try workers([60, 60, 60])
    let largest = try #require(try workers([60, 80, 60]).comparison(with: before))
    #expect(largest.now.rank == 1 && largest.rise == .mebibytes(20))
    #expect(largest.finding?.culprit?.change.change == .mebibytes(20))
    // The second one by size.
    let second = try #require(
      try workers([100, 80, 60]).comparison(with: try workers([100, 60, 60]), of: MeasuredRise(.peak, isOfTree: true)))
    #expect(second.now.rank == 2 && second.rise == .mebibytes(20))
    // In a single repetition the sum shows no noise: the rise of the tree is nearer to that of the one.
    func once(_ sizes: [Int64], together: Int64) throws -> ProfiledBuild {
      let profiles = ([together] + sizes).enumerated().map { rank, size in
        var profile = MemoryProfile(["a!main;a!load": .init(live: size << 20)])
        (profile.process, profile.rank) = ("worker", rank == 0 ? nil : rank)
        return profile
      }
      return try #require(ProfiledBuild([ProfiledRepetition(main: "sh", profiles: profiles)]))
    }
    let tree = MeasuredRise(.peak, amount: .mebibytes(20), isOfTree: true)
    let base = try once([60, 60, 60], together: 140)
    let single = try once([80, 60, 60], together: 200).comparison(with: base, of: tree)
    #expect(single?.now.rank == 1 && single?.rise == .mebibytes(20))
    // A profile that lacks the single ones is not one of a single process.
    let summed = base.processes.filter { $0.rank == nil }.map { sum in
      var several = sum
      several.processes = 3
      return several
    }
    let lacking = try #require(ProfiledBuild(main: "sh", processes: summed))
    #expect(try once([80, 60, 60], together: 200).comparison(with: lacking, of: tree)?.now.rank == nil)
    // One more process of the name.
    let further = try #require(try workers([60, 60, 60, 60]).comparison(with: before))
    #expect(further.now.rank == 4 && further.before?.anonymous == .zero)
  }

  @Test("Several processes that rose count together, unless the metric is of one process")
  func severalRose() throws {
    func build(_ sizes: [Int64]) throws -> ProfiledBuild {
      let profiles = ([sizes.reduce(0, +)] + sizes).enumerated().map { rank, size in
        var profile = MemoryProfile(["a!main;a!load": .init(live: size << 20)])
        (profile.process, profile.rank) = ("worker", rank == 0 ? nil : rank)
        return profile
      }
      let repetition = ProfiledRepetition(main: "worker", profiles: profiles)
      return try #require(ProfiledBuild([repetition, repetition]))
    }
    let (before, now) = (try build([10, 10]), try build([13, 13]))
    #expect(now.comparison(with: before)?.rise == .mebibytes(6))
    #expect(
      now.comparison(with: before, of: MeasuredRise(.peak, amount: .mebibytes(6), isOfTree: true))?.rise
        == .mebibytes(6))
    #expect(now.comparison(with: before, of: MeasuredRise(.peak, amount: .mebibytes(3)))?.rise == .mebibytes(3))
  }
}
