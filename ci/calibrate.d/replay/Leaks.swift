package import GateCore
import Glibc

/// The resident memory of a simulated run, with or without a leak.
package struct SimulatedRun: Sendable {
  package let name: String
  /// Resident memory in bytes at equal time steps.
  private let make: @Sendable (_ steps: Int, _ chance: inout Chance) -> [Double]

  package init(_ name: String, make: @escaping @Sendable (_ steps: Int, _ chance: inout Chance) -> [Double]) {
    (self.name, self.make) = (name, make)
  }

  private static let mebibyte = 1_048_576.0

  /// Adds noise of a page or two, as every process has, in whole pages.
  private func levels(_ steps: Int, _ chance: inout Chance) -> [Double] {
    make(steps, &chance).map { (($0 / 4096) + chance.normal()).rounded() * 4096 }
  }

  /// A run of 200 iterations, each with a mark.
  package func perIteration(_ chance: inout Chance) -> RepetitionResult {
    let levels = levels(200, &chance)
    let marks = levels.enumerated().map { index, level in
      Mark(time: .milliseconds(index * 10), event: .iteration, resident: Bytes(Int64(level)))
    }
    return Self.recording(levels, marks: marks).result()
  }

  /// A run of four seconds, sampled every 10 ms.
  package func perSecond(_ chance: inout Chance) -> RepetitionResult {
    Self.recording(levels(400, &chance), marks: []).result()
  }

  private static func recording(_ levels: [Double], marks: [Mark]) -> Recording {
    var peak = Bytes.zero
    let samples = levels.enumerated().map { index, level in
      let resident = Bytes(Int64(level))
      peak = max(peak, resident)
      return Sample(
        time: .milliseconds(index * 10),
        main: MemoryReading(resident: resident, peak: peak, anonymous: resident, file: .zero, shared: .zero),
        tree: resident,
        processes: 1
      )
    }
    return Recording(
      samples: samples, marks: marks, end: End(.exited, code: 0), duration: .milliseconds(10 * levels.count)
    )
  }
}

extension SimulatedRun {
  /// Programs that do not leak.
  package static let withoutLeak: [SimulatedRun] = [
    SimulatedRun("plateau of 60 MiB") { steps, _ in [Double](repeating: 60 * mebibyte, count: steps) },
    SimulatedRun("exponential warm-up, 30 to 60 MiB") { steps, chance in
      let pace = 0.02 + 0.06 * chance.uniform()
      return share(steps) { (60 - 30 * exp(-$0 / pace)) * mebibyte }
    },
    SimulatedRun("warm-up by 2 to 6 stairs, to 60 MiB") { steps, chance in
      let (count, end) = (2 + Int(5 * chance.uniform()), 0.1 + 0.3 * chance.uniform())
      return share(steps) { (30 + 30 * min(1, Double(Int($0 / end * Double(count))) / Double(count))) * mebibyte }
    },
    SimulatedRun("collector's sawtooth of 30 MiB") { steps, chance in
      let (turns, phase) = (4 + 36 * chance.uniform(), chance.uniform())
      return share(steps) { at in
        let place = at * turns + phase
        return (45 + 30 * (place - place.rounded(.down))) * mebibyte
      }
    },
    SimulatedRun("wandering (AR(1) 0.95, 1 MiB)") { steps, chance in
      var value = chance.normal()
      return (0..<steps).map { _ in
        defer { value = 0.95 * value + (1 - 0.95 * 0.95).squareRoot() * chance.normal() }
        return (60 + value) * mebibyte
      }
    },
    SimulatedRun("cache that fills (logarithm), 30 to 60 MiB") { steps, chance in
      let pace = 20 + 180 * chance.uniform()
      return share(steps) { (30 + 30 * log(1 + pace * $0) / log(1 + pace)) * mebibyte }
    },
  ]

  /// A process of 30 MiB that leaks this many bytes per step; its allocator takes `piece` bytes at once.
  package static func leak(_ bytes: Double, piece: Double = 4096) -> SimulatedRun {
    SimulatedRun(Bytes(Int64(bytes)).description) { steps, _ in
      (0..<steps).map { 30 * mebibyte + (bytes * Double($0) / piece).rounded(.down) * piece }
    }
  }

  private static func share(_ steps: Int, _ level: (Double) -> Double) -> [Double] {
    (0..<steps).map { level(Double($0) / Double(steps)) }
  }
}

/// Leaks that are found and missed.
package enum LeakTables {
  package static let trials = 200

  /// The results of many checks of one kind of run.
  package struct Count: Equatable {
    /// The first repetitions by their kind of growth; `none` if growth was not measured.
    package var kinds: [String: Int] = [:]
    /// The number of checks that report a leak without a growth rule.
    package var reported = 0
    /// The verdicts at each of ``limits``.
    package var tallies = [Tally](repeating: Tally(), count: limits.count)
    package var slopes: [Double] = []
  }

  package static let limits: [Bytes] = [.kibibytes(1), Bytes(32)]

  /// Checks a kind of run `trials` times.
  package static func count(_ run: SimulatedRun, perIteration: Bool, trials: Int = trials) -> Count {
    var count = Count()
    for (index, limit) in limits.enumerated() {
      let gate = Gate(rules: [GateRule(metric: .growth, tolerance: nil, limit: .size(limit))])
      let replay = Replay(gate: gate, repetitions: Defaults.repetitions)
      var chance = Chance(for: "\(run.name), \(perIteration), \(limit)")
      for _ in 0..<trials {
        let result = replay.result([:]) {
          perIteration ? run.perIteration(&chance) : run.perSecond(&chance)
        }
        count.tallies[index].add(result)
        guard index == 0 else { continue }
        count.kinds[result.repetitions[0].growth?.kind.rawValue ?? "none", default: 0] += 1
        if Replay.reportsLeak(Array(result.repetitions.prefix(replay.repetitions.plan.min))) { count.reported += 1 }
        if let slope = result.repetitions[0].metrics[.growth] { count.slopes.append(slope) }
      }
    }
    return count
  }

  private static let kinds = ["continuous", "settling", "level", "none"]

  private static func cells(_ count: Count) -> [String] {
    kinds.map { "\(count.kinds[$0] ?? 0)" } + ["\(count.reported)"]
      + count.tallies.flatMap { tally in
        ["\(tally.count(of: .regression))", "\(tally.count(of: .inconclusive))", number(tally.meanRuns)]
      }
  }

  private static let columns =
    kinds + ["reported"] + limits.flatMap { limit in ["limit \(limit): alarms", "inconclusive", "mean runs"] }

  static func section() -> [String] {
    [
      "", "## D. Leaks", "",
      "Each row is \(trials) checks with adaptive repetitions: how many were a leak, settling or level by their first "
        + "repetition, or had no measured growth; how many reported a leak with the standard gate; and the verdicts of a "
        + "gate with `growth: {limit: …}`. Per iteration: 200 iterations; per second: 4 s read every 10 ms; in whole "
        + "pages, with a noise of one or two.", "",
    ] + withoutLeak() + [
      "",
      "A process of 30 MiB over 200 iterations; allocators take memory by the page, or in pieces of 132 KiB "
        + "(brk(2) by glibc). A leak below 1 MiB in all is not recognized by itself: a limit finds it.", "",
    ] + leaks()
  }

  private static func withoutLeak() -> [String] {
    var table = MarkdownTable(["no leak", "growth per"] + columns)
    for run in SimulatedRun.withoutLeak {
      for perIteration in [true, false] {
        let count = count(run, perIteration: perIteration)
        table.add([run.name, perIteration ? "iteration" : "second"] + cells(count))
      }
    }
    return table.lines
  }

  private static func leaks() -> [String] {
    var table = MarkdownTable(["kept of each iteration", "in pieces of"] + columns + ["median slope"])
    for bytes in [64.0, 256, 1024, 4096, 16_384, 65_536] {
      for piece in [4096.0, 135_168] {
        let count = count(.leak(bytes, piece: piece), perIteration: true)
        let slope = count.slopes.sorted().dropFirst(count.slopes.count / 2).first ?? 0
        table.add([Bytes(Int64(bytes)).description, Bytes(Int64(piece)).description] + cells(count) + [number(slope)])
      }
    }
    return table.lines
  }
}
