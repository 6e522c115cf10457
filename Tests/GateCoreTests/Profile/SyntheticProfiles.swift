import GateCore
import Statistics

/// Stacks as text, such as `server!main;server!remember` (a script's function as `server.py:handle`), and what they hold.
typealias Stacks = [String: CallTree.Weight]

extension CallTree {
  init(_ stacks: Stacks) {
    var builder = Builder()
    for (stack, weight) in stacks.sorted(by: { $0.key < $1.key }) {
      builder.add(weight, stack: stack.split(separator: ";").map { Function(parsing: String($0)) })
    }
    self = builder.tree
  }
}

extension CallTree.Function {
  init(parsing text: String) {
    let name = (try? FunctionName(coded: text)) ?? FunctionName(module: "", name: text)
    let module = String(text.prefix { $0 != "!" && $0 != ":" })
    self.init(
      module: name.isScript ? "" : module, name: name.name, file: name.isScript ? "/srv/\(module)" : nil,
      line: name.isScript ? 12 : nil)
  }
}

extension MemoryProfile {
  /// A closed profile.
  init(_ stacks: Stacks, heapOverhead: Int64 = 0, method: Method = .stopsAndBlocks, interval: Bytes = .zero) {
    let calls = CallTree(stacks)
    let unattributed = Bytes.kibibytes(8)
    let anonymous = Bytes(calls.total.live + calls.total.touched + heapOverhead) + unattributed
    self.init(
      process: "server", method: method, peak: anonymous + .mebibytes(2), anonymous: anonymous, calls: calls,
      heapOverhead: heapOverhead, unattributed: [.noPageFault: unattributed], samplingInterval: interval)
  }
}

extension ProfileComparison {
  /// Three repetitions of each build, all alike.
  init(before: Stacks, now: Stacks) {
    self.init(before: [before, before, before].map { .init($0) }, now: [now, now, now].map { .init($0) })
  }

  init(before: [MemoryProfile], now: [MemoryProfile]) {
    guard let now = ProfileSummary(now) else { preconditionFailure("a test gives repetitions") }
    self.init(before: ProfileSummary(before), now: now)
  }
}

/// Profiles as instruments measure them: blocks are sampled, and pages vary by a few.
struct NoisyInstrument {
  /// The mean number of bytes between sampled allocations.
  var interval: Bytes
  private var numbers: SeededNumbers

  init(interval: Bytes, seed: UInt64) {
    (self.interval, numbers) = (interval, SeededNumbers(seed: seed))
  }

  mutating func repetitions(_ count: Int, of stacks: Stacks) -> [MemoryProfile] {
    (0..<count).map { _ in
      var seen = stacks
      for stack in stacks.keys.sorted() { seen[stack] = measured(stacks[stack] ?? .zero) }
      return MemoryProfile(seen, interval: interval)
    }
  }

  private mutating func measured(_ weight: CallTree.Weight) -> CallTree.Weight {
    let deviation = (Double(weight.live) * Double(interval.count)).squareRoot()
    let live = max(0, Double(weight.live) + normal() * deviation)
    let pages = weight.touched == 0 ? 0 : Int64(numbers.next(below: 3)) * 4096
    return CallTree.Weight(live: Int64(live), touched: weight.touched + pages)
  }

  /// A nearly normal number (the sum of 12 uniform ones).
  private mutating func normal() -> Double {
    (0..<12).reduce(-6.0) { sum, _ in sum + numbers.nextShare() }
  }
}
