import GateCore

/// Reads the text that the supervisor writes (CMemoryProfiler, result.c).
enum MemoryProfileReader {
  /// 16 TiB, so that sums cannot overflow.
  private static let largest: UInt64 = 1 << 44

  /// The profiles of all processes by name at each moment, largest first; lines that cannot be read are skipped.
  static func profiles(in text: String) -> [MemoryProfile] {
    var profiles: [MemoryProfile] = []
    var process: Process?
    for line in text.split(separator: "\n") {
      let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
      switch fields[0] {
      case "process": process = Process(fields)  // text from outside: the supervisor
      case "node": process?.add(fields)  // text from outside: the supervisor
      default:
        if let process { profiles.append(process.profile) }
        process = nil
      }
    }
    return profiles.sorted { $0.anonymous > $1.anonymous }
  }

  /// The processes of one name, whose nodes are being read.
  private struct Process {
    private var result: MemoryProfile
    private var calls = CallTree.Builder()
    /// The nodes of the tree by the numbers in the text.
    private var nodes: [Int: Int] = [:]

    var profile: MemoryProfile {
      var profile = result
      profile.calls = calls.tree
      return profile
    }

    init?(_ fields: [Substring]) {
      let numbers = fields.dropFirst(4).compactMap { Int64($0) }
      guard fields.count == 16, numbers.count == 12, let moment = MemoryProfile.Moment(rawValue: String(fields[3])),
        numbers.allSatisfy({ $0.magnitude <= MemoryProfileReader.largest })
      else { return nil }
      let hasBlocks = numbers[2] != 0
      result = MemoryProfile(
        process: String(fields[1]),
        method: Profiler.canStopAtFaults ? hasBlocks ? .stopsAndBlocks : .stops : hasBlocks ? .blocks : .mappings,
        peak: Bytes(numbers[5]),
        anonymous: Bytes(numbers[6]),
        calls: CallTree(),
        heapOverhead: numbers[7],
        samplingInterval: hasBlocks ? Bytes(numbers[3]) : .zero
      )
      (result.program, result.moment) = (String(fields[2]), moment)
      (result.rank, result.processes) = (numbers[0] > 0 ? Int(numbers[0]) : nil, Int(numbers[1]))
      result.allocated = Bytes(numbers[4])
      result.unattributed[.noPageFault] = Bytes(numbers[8])
      result.unattributed[.profiler] = Bytes(numbers[9])
      (result.files, result.shared) = (Bytes(numbers[10]), Bytes(numbers[11]))
    }

    /// Adds a node, whose caller comes before it; a number may come again, for another process.
    mutating func add(_ fields: [Substring]) {
      guard fields.count == 11, let number = Int(fields[1]), let parent = Int(fields[2]),
        let live = Int64(fields[3]), let touched = Int64(fields[4]), let sampled = Int64(fields[5]),
        max(live.magnitude, touched.magnitude, sampled.magnitude) <= MemoryProfileReader.largest
      else { return }
      let function = CallTree.Function(
        module: String(fields[6]),
        name: String(fields[7]),
        file: fields[8].isEmpty ? nil : String(fields[8]),
        line: Int(fields[9]).flatMap { $0 > 0 ? $0 : nil },
        isInlined: fields[10] == "1"  // text from outside: the supervisor
      )
      // What the profiler's library allocates is its caller's.
      let isOwn = function.module == Profiler.libraryName && nodes[parent] != nil
      let node = isOwn ? nodes[parent] : calls.node(of: function, below: nodes[parent])
      guard let node else { return }
      calls.add(CallTree.Weight(live: live, touched: touched, sampled: sampled), to: node)
      nodes[number] = node
    }
  }
}
