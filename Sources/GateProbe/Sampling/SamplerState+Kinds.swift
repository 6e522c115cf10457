import GateCore
import Synchronization

/// The readings of kinds of memory in one repetition, and when the next one is due.
struct KindReadings {
  private(set) var all: [KindReading] = []
  private var next: Int64 = 0
  private let interval: Int64

  /// Enough for a reading every 10 ms for half a minute; when full, the smaller one of each pair is dropped.
  private static let most = 4096

  /// The pause after a reading, as a multiple of the time that it took: at most 5 %, since the kernel locks the mappings.
  private static let pausePerCost: Int64 = 20

  init(interval: Duration) {
    self.interval = interval.nanoseconds
  }

  func isDue(at time: Int64) -> Bool { time >= next }

  /// Takes a reading, which took that many nanoseconds.
  mutating func note(_ reading: KindReading, took: Int64) {
    next = reading.time.nanoseconds + max(interval, took * Self.pausePerCost)
    if all.count >= Self.most {
      all = stride(from: 0, to: all.count - 1, by: 2).map { at in
        let pair = all[at...at + 1]
        return pair.max { ($0.tree[.pss] ?? 0) < ($1.tree[.pss] ?? 0) } ?? all[at]
      }
    }
    all.append(reading)
  }
}

extension SamplerState {
  /// The folders of all processes, if a reading of kinds of memory is due, with whether it is the main one's.
  func kindsToRead(at time: Int64) -> [(folder: String, isMain: Bool)]? {
    guard kinds?.isDue(at: time) == true else { return nil }
    return tracked.filter { !$0.borrowsMemory }.map { ($0.folder, $0 === main) }
  }
}

extension Sampler {
  /// Reads how much of each kind of memory all processes have, if that is due; returns the CPU time that it took.
  func readKinds() -> Int64 {
    let begin = age
    guard let due = state.withLock({ $0.kindsToRead(at: begin) }), !due.isEmpty else { return 0 }
    return ThreadTime.nanoseconds {
      var reading = KindReading(time: .nanoseconds(begin), program: nil, tree: [:])
      for (folder, isMain) in due {
        guard let totals = KindTotals(inFolder: folder) else { continue }
        reading.tree.merge(totals.share, uniquingKeysWith: +)
        if isMain { reading.program = totals.own }
      }
      let took = age - begin
      state.withLock { if !reading.tree.isEmpty { $0.kinds?.note(reading, took: took) } }
    }
  }
}
