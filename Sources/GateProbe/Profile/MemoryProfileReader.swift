import GateCore

/// Reads the text that the supervisor writes (CMemoryProfiler, result.c), which may have a hundred thousand lines.
struct MemoryProfileReader {
  /// 16 TiB, so that sums cannot overflow.
  private static let largest: UInt64 = 1 << 44

  /// More functions than any program has.
  private static let mostFunctions = 1 << 22

  private typealias Fields = [ArraySlice<UInt8>]

  private var profiles: [MemoryProfile] = []
  /// The functions of all processes by their numbers in the text, from 1.
  private var functions: [CallTree.Function] = []
  /// The process whose nodes are being read.
  private var process: Process?

  /// The profiles of all processes by name at each moment, largest first; lines that cannot be read are skipped.
  static func profiles(in text: [UInt8]) -> [MemoryProfile] {
    var reader = Self()
    for line in text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast() {
      reader.read(line.split(separator: UInt8(ascii: "\t"), omittingEmptySubsequences: false))
    }
    return reader.profiles.sorted { $0.anonymous > $1.anonymous }
  }

  private mutating func read(_ fields: Fields) {
    if fields[0].elementsEqual("node".utf8) {  // text from outside: the supervisor
      process?.add(fields, functions)
    } else if fields[0].elementsEqual("function".utf8) {  // text from outside: the supervisor
      addFunction(fields)
    } else {
      if let process { profiles.append(process.profile) }
      process = fields[0].elementsEqual("process".utf8) ? Process(fields) : nil  // text from outside: the supervisor
    }
  }

  /// Adds a function, which comes before the nodes that have it; their numbers ascend.
  private mutating func addFunction(_ fields: Fields) {
    guard fields.count == 7, Self.number(fields[1]) == Int64(functions.count + 1), functions.count < Self.mostFunctions
    else { return }
    functions.append(
      CallTree.Function(
        module: Self.text(fields[2]),
        name: Self.text(fields[3]),
        file: fields[4].isEmpty ? nil : Self.text(fields[4]),
        line: Self.number(fields[5]).flatMap { $0 > 0 ? Int($0) : nil },
        isInlined: Self.number(fields[6]) == 1
      ))
  }

  private static func text(_ field: ArraySlice<UInt8>) -> String { String(decoding: field, as: UTF8.self) }

  /// A decimal number of at most `largest`, which may be negative; nil for other text.
  private static func number(_ field: ArraySlice<UInt8>) -> Int64? {
    let digits = field.first == UInt8(ascii: "-") ? field.dropFirst() : field
    guard !digits.isEmpty else { return nil }
    var value: UInt64 = 0
    for byte in digits {
      let digit = UInt64(byte &- UInt8(ascii: "0"))
      guard digit <= 9 else { return nil }
      value = value * 10 + digit
      guard value <= largest else { return nil }
    }
    return digits.count < field.count ? -Int64(value) : Int64(value)
  }

  /// The processes of one name, whose nodes are being read.
  private struct Process {
    private var result: MemoryProfile
    private var calls = CallTree.Builder()
    /// The nodes of the tree by the numbers in the text.
    private var nodes: [Int64: Int] = [:]
    /// The functions of the tree by the numbers in the text.
    private var indexes: [Int64: Int] = [:]

    var profile: MemoryProfile {
      var profile = result
      profile.calls = calls.tree
      return profile
    }

    init?(_ fields: Fields) {
      let numbers = fields.dropFirst(4).compactMap(MemoryProfileReader.number)
      guard fields.count == 16, numbers.count == 12,
        let moment = MemoryProfile.Moment(rawValue: MemoryProfileReader.text(fields[3]))
      else { return nil }
      let hasBlocks = numbers[2] != 0
      result = MemoryProfile(
        process: MemoryProfileReader.text(fields[1]),
        method: Profiler.canStopAtFaults ? hasBlocks ? .stopsAndBlocks : .stops : hasBlocks ? .blocks : .mappings,
        peak: Bytes(numbers[5]),
        anonymous: Bytes(numbers[6]),
        calls: CallTree(),
        heapOverhead: numbers[7],
        samplingInterval: hasBlocks ? Bytes(numbers[3]) : .zero
      )
      (result.program, result.moment) = (MemoryProfileReader.text(fields[2]), moment)
      (result.rank, result.processes) = (numbers[0] > 0 ? Int(numbers[0]) : nil, Int(numbers[1]))
      result.allocated = Bytes(numbers[4])
      result.unattributed[.noPageFault] = Bytes(numbers[8])
      result.unattributed[.profiler] = Bytes(numbers[9])
      (result.files, result.shared) = (Bytes(numbers[10]), Bytes(numbers[11]))
    }

    /// Adds a node, whose caller comes before it; a number may come again, for another process.
    mutating func add(_ fields: Fields, _ functions: [CallTree.Function]) {
      let numbers = fields.dropFirst().compactMap(MemoryProfileReader.number)
      guard fields.count == 7, numbers.count == 6, functions.indices.contains(Int(numbers[5]) - 1) else { return }
      let parent = nodes[numbers[1]]
      let function = functions[Int(numbers[5]) - 1]
      // What the profiler's library allocates is its caller's.
      let isOwn = function.module == Profiler.libraryName && parent != nil
      let node = isOwn ? parent : calls.node(ofFunction: index(of: function, numbers[5]), below: parent)
      guard let node else { return }
      calls.add(CallTree.Weight(live: numbers[2], touched: numbers[3], sampled: numbers[4]), to: node)
      nodes[numbers[0]] = node
    }

    private mutating func index(of function: CallTree.Function, _ number: Int64) -> Int {
      if let index = indexes[number] { return index }
      let index = calls.index(of: function)
      indexes[number] = index
      return index
    }
  }
}
