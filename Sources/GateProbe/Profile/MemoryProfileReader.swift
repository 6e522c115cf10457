import GateCore

/// Reads the text that the supervisor writes (CMemoryProfiler, result.c), which may have a hundred thousand lines.
struct MemoryProfileReader {
  /// More functions than any program has.
  private static let mostFunctions = 1 << 22

  private typealias Fields = [ArraySlice<UInt8>]

  private var profiles: [MemoryProfile] = []
  /// The functions of all processes by their numbers in the text, from 1; nil for those that are left out.
  private var functions: [CallTree.Function?] = []
  /// The process whose nodes are being read.
  private var process: Process?
  private let heaps: HeapLogs

  private init(heaps: HeapLogs) { self.heaps = heaps }

  /// The profiles of all processes by name at each moment, largest first; lines that cannot be read are skipped.
  ///
  /// Their live blocks include the objects that samplers have seen in collected heaps.
  static func profiles(in text: [UInt8], heaps: HeapLogs = HeapLogs()) -> [MemoryProfile] {
    var reader = Self(heaps: heaps)
    for line in text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast() {
      reader.read(line.split(separator: UInt8(ascii: "\t"), omittingEmptySubsequences: false))
    }
    return reader.profiles.sorted { $0.anonymous > $1.anonymous }
  }

  private mutating func read(_ fields: Fields) {
    if fields[0].elementsEqual("node".utf8) {  // text from outside: the supervisor
      process?.add(fields, functions)
    } else if fields[0].elementsEqual("member".utf8) {  // text from outside: the supervisor
      process?.addMember(fields)
    } else if fields[0].elementsEqual("objects".utf8) {  // text from outside: the supervisor
      process?.addObjects(fields)
    } else if fields[0].elementsEqual("function".utf8) {  // text from outside: the supervisor
      addFunction(fields)
    } else {
      if let process { profiles.append(process.profile(heaps)) }
      process = fields[0].elementsEqual("process".utf8) ? Process(fields) : nil  // text from outside: the supervisor
    }
  }

  /// Adds a function, which comes before the nodes that have it; their numbers ascend.
  private mutating func addFunction(_ fields: Fields) {
    guard fields.count == 7, LineField.number(fields[1]) == Int64(functions.count + 1),
      functions.count < Self.mostFunctions
    else { return }
    let name = LineField.text(fields[3])
    guard !name.hasPrefix(Self.javaPrefix) else { return functions.append(javaFunction(name)) }
    functions.append(
      CallTree.Function(
        module: LineField.text(fields[2]),
        name: name,
        file: fields[4].isEmpty ? nil : LineField.text(fields[4]),
        line: LineField.number(fields[5]).flatMap { $0 > 0 ? Int($0) : nil },
        isInlined: LineField.number(fields[6]) == 1
      ))
  }

  /// `HW_JAVA_NAME`.
  private static let javaPrefix = "[java] "

  /// The function that the log of a Java heap names, for a name as in `[java] PROCESS KEY`.
  private func javaFunction(_ name: String) -> CallTree.Function? {
    let parts = name.dropFirst(Self.javaPrefix.count).split(separator: " ")
    guard parts.count == 2, let process = Int64(parts[0]) else { return nil }
    return heaps.function(ofPlace: String(parts[1]), in: process)
  }

  /// The processes of one name, whose nodes are being read.
  private struct Process {
    private var result: MemoryProfile
    private let startedAs: String
    private var calls = CallTree.Builder()
    /// The nodes of the tree by the numbers in the text.
    private var nodes: [Int64: Int] = [:]
    /// The functions of the tree by the numbers in the text.
    private var indexes: [Int64: Int] = [:]

    /// The processes, and when each held what is read.
    private var members: [(process: Int64, time: Int64)] = []

    /// The profile with what its processes had in collected heaps then.
    func profile(_ heaps: HeapLogs) -> MemoryProfile {
      var (profile, calls) = (result, calls)
      profile.add(
        heaps.objects(of: members, at: profile.moment, addedTo: &calls, interval: profile.samplingInterval))
      profile.calls = calls.tree
      profile.name(asStarted: startedAs)
      return profile
    }

    /// Notes how many live blocks are objects of Go's heap, and the distance between their samples, or why there are none.
    mutating func addObjects(_ fields: Fields) {
      let numbers = fields.dropFirst().compactMap(LineField.number)
      if numbers.count == 2 {
        result.heap = .sampled(Bytes(numbers[0]))
        if result.samplingInterval == .zero { result.samplingInterval = Bytes(numbers[1]) }
      } else if let obstacle = fields.last.flatMap({ HeapObstacle(rawValue: LineField.text($0)) }) {
        result.heap = .missing(obstacle)
      }
    }

    mutating func addMember(_ fields: Fields) {
      guard fields.count == 3, let process = LineField.number(fields[1]), let time = LineField.time(fields[2])
      else { return }
      members.append((process, time))
    }

    init?(_ fields: Fields) {
      let numbers = fields.dropFirst(5).compactMap(LineField.number)
      guard fields.count == 17, numbers.count == 12,
        let moment = MemoryProfile.Moment(rawValue: LineField.text(fields[4]))
      else { return nil }
      let hasBlocks = numbers[2] != 0
      startedAs = LineField.text(fields[3])
      result = MemoryProfile(
        process: LineField.text(fields[1]),
        method: Profiler.canStopAtFaults ? hasBlocks ? .stopsAndBlocks : .stops : hasBlocks ? .blocks : .mappings,
        peak: Bytes(numbers[5]),
        anonymous: Bytes(numbers[6]),
        calls: CallTree(),
        heapOverhead: numbers[7],
        samplingInterval: hasBlocks ? Bytes(numbers[3]) : .zero
      )
      (result.program, result.moment) = (LineField.text(fields[2]), moment)
      (result.rank, result.processes) = (numbers[0] > 0 ? Int(numbers[0]) : nil, Int(numbers[1]))
      result.allocated = Bytes(numbers[4])
      result.unattributed[.noPageFault] = Bytes(numbers[8])
      result.unattributed[.profiler] = Bytes(numbers[9])
      (result.files, result.shared) = (Bytes(numbers[10]), Bytes(numbers[11]))
    }

    /// Adds a node, whose caller comes before it; a number may come again, for another process.
    mutating func add(_ fields: Fields, _ functions: [CallTree.Function?]) {
      let numbers = fields.dropFirst().compactMap(LineField.number)
      guard fields.count == 7, numbers.count == 6, functions.indices.contains(Int(numbers[5]) - 1) else { return }
      let parent = nodes[numbers[1]]
      var node = parent
      // What the profiler's library allocates is its caller's.
      if let function = functions[Int(numbers[5]) - 1], parent == nil || function.module != Profiler.libraryName {
        node = calls.node(ofFunction: index(of: function, numbers[5]), below: parent)
      }
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
