import Statistics
import Testing

@testable import GateCore

/// Histories are levels of commits above the good end, in percent; the program of commit 0 holds 100.
@Suite("Choosing the commits to measure")
struct RiseSearchTests {
  /// Searches a history, and returns the search and the number of builds, those of the ends included.
  private func search(
    _ levels: [Double],
    broken: Set<Int> = [],
    depth: RiseSearch.Depth = .largestStep
  ) -> (search: RiseSearch, builds: Int) {
    let last = levels.count - 1
    var search = RiseSearch(from: .init(levels[0]), to: .init(levels[last]), last: last, depth: depth)
    var builds = 2
    while let next = search.next {
      builds += 1
      if broken.contains(next) { search.exclude(next) } else { search.record(.init(levels[next]), at: next) }
    }
    return (search, builds)
  }

  /// Levels of `count` commits after the good end, with these rises at these commits.
  private func history(_ count: Int, _ rises: [Int: Double]) -> [Double] {
    (1...count).reduce(into: [0]) { levels, index in levels.append(levels[index - 1] + rises[index, default: 0]) }
  }

  @Test("One step is found at every place, with at most log2(n) + 3 builds", arguments: [1, 2, 3, 7, 64, 200])
  func oneStep(count: Int) {
    var most = 0
    for place in 1...count {
      let found = search(history(count, [place: 10]))
      #expect(found.search.steps.map(\.upper) == [place] && found.search.steps.map(\.lower) == [place - 1])
      most = max(most, found.builds)
    }
    let log = Int.bitWidth - (count - 1).leadingZeroBitCount
    #expect(most <= log + 2, "\(most) builds")
  }

  @Test("Of two steps the larger is found, and all of them if all are wanted; falls do not hide them")
  func severalSteps() {
    var numbers = SeededNumbers(seed: 1)
    for _ in 1...200 {
      let places = [1 + numbers.next(below: 99), 100 + numbers.next(below: 100)].shuffled(by: &numbers)
      let levels = history(200, [places[0]: 7, places[1]: 3])
      let largest = search(levels)
      #expect(largest.search.steps.max { $0.share < $1.share }?.upper == places[0])
      #expect(largest.builds <= 13, "\(largest.builds) builds")
      #expect(search(levels, depth: .allSteps).search.steps.map(\.upper) == places.sorted())
    }
    let fallen = search(history(200, [20: 20, 150: -10]))
    #expect(fallen.search.steps.map(\.upper) == [20] && fallen.search.steps[0].share == 2)
  }

  @Test("Equal steps do not take turns: one is found with the builds of a bisection", arguments: [2, 3])
  func equalSteps(count: Int) {
    var numbers = SeededNumbers(seed: 2)
    for _ in 1...150 {
      let places = (0..<count).map { $0 * 60 + 1 + numbers.next(below: 50) }
      let found = search(history(200, Dictionary(uniqueKeysWithValues: places.map { ($0, 5) })))
      #expect(found.search.steps.contains { places.contains($0.upper) && $0.upper == $0.lower + 1 })
      #expect(found.builds <= 13, "\(found.builds) builds")
    }
  }

  @Test("Creep has no step, and is known after few builds")
  func creep() {
    let found = search((0...200).map { Double($0) * 0.1 })
    #expect(found.search.steps.isEmpty)
    #expect(found.builds <= 9, "\(found.builds) builds")
  }

  @Test("Commits that do not build leave the range between their neighbours")
  func broken() {
    var numbers = SeededNumbers(seed: 3)
    var builds: [Int] = []
    for _ in 1...400 {
      let place = 1 + numbers.next(below: 200)
      let broken = Set((1...199).filter { _ in numbers.next(below: 100) < 15 })
      let found = search(history(200, [place: 10]), broken: broken)
      let step = found.search.steps.first
      #expect(found.search.steps.count == 1)
      #expect(step.map { ($0.lower + 1...$0.upper).contains(place) } == true)
      #expect(step.map { (($0.lower + 1)..<$0.upper).allSatisfy(broken.contains) } == true)
      builds.append(found.builds)
    }
    #expect(builds.sorted()[200] <= 12, "\(builds.sorted())")
  }

  @Test("A long stretch that does not build is left quickly")
  func brokenStretch() {
    let found = search(history(200, [10: 10]), broken: Set(60...140))
    #expect(found.search.steps.map(\.upper) == [10])
    #expect(found.builds <= 25, "\(found.builds) builds")
  }

  @Test("A rise within the noise of its ends is no step")
  func noise() {
    var search = RiseSearch(from: .init(0, uncertainty: 2), to: .init(10, uncertainty: 2), last: 2, depth: .allSteps)
    search.record(.init(2.5, uncertainty: 2), at: 1)
    #expect(search.steps.map(\.upper) == [2] && search.next == nil)
  }
}

extension Array {
  fileprivate func shuffled(by numbers: inout SeededNumbers) -> [Element] {
    numbers.next(below: 2) == 0 ? self : reversed()
  }
}
