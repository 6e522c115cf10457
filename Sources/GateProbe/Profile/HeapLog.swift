import GateCore

/// What the sampler of a runtime's collected heap wrote about one thread's heap, or about that of all threads: which call
/// stacks held its live objects at several times.
///
/// The process under measurement can write anything here. Lines, with tabs between their fields:
/// - `heap RUNTIME START`, the first one, with the time at which the heap began
/// - `function NUMBER NAME FILE LINE`, and `node NUMBER CALLER FUNCTION`, each before its first use
/// - `profile TIME INTERVAL`, `live NODE BYTES` for each node that holds objects, and `end`
/// - `place KEY FUNCTION`: a place that native call stacks have by this key, in a function or, with 0, in none that counts
/// - `ended TIME`: the heap is gone
/// - `refused`: the runtime cannot be sampled
struct HeapLog {
  /// What the nodes of the tree held at one time.
  struct Profile {
    let time: Int64
    /// The mean number of bytes between samples.
    let interval: Int64
    fileprivate(set) var live: [(node: Int64, bytes: Int64)] = []

    var sum: Int64 { live.reduce(0) { $0 + $1.bytes } }
  }

  private struct Node {
    /// 0 for none.
    let caller: Int64
    let function: CallTree.Function
  }

  let start: Int64
  private(set) var profiles: [Profile] = []
  private(set) var end = Int64.max
  private(set) var isRefused = false
  private var functions: [Int64: CallTree.Function] = [:]
  private var nodes: [Int64: Node] = [:]
  /// The functions of places by their keys.
  private var places: [String: Int64] = [:]
  /// The one whose end was not read.
  private var open: Profile?

  /// Nil if the text is not of a sampler.
  ///
  /// A profile that was cut short does not count.
  init?(_ text: [UInt8]) {
    let lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast()
    guard let first = lines.first.map(Self.fields), first.count == 3, LineField.text(first[0]) == "heap",
      CollectedRuntime(rawValue: LineField.text(first[1])) != nil, let start = LineField.time(first[2])
    else { return nil }
    self.start = start
    for line in lines.dropFirst() { read(Self.fields(line)) }
  }

  private static func fields(_ line: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
    line.split(separator: UInt8(ascii: "\t"), omittingEmptySubsequences: false)
  }

  private mutating func read(_ fields: [ArraySlice<UInt8>]) {
    switch (LineField.text(fields[0]), fields.count) {  // text from outside: the sampler
    case ("live", 3):
      guard let node = LineField.number(fields[1]), let bytes = LineField.number(fields[2]), bytes > 0 else { return }
      open?.live.append((node, bytes))
    case ("node", 4): addNode(fields.dropFirst().compactMap(LineField.number))
    case ("function", 5): addFunction(fields)
    case ("place", 3): places[LineField.text(fields[1])] = LineField.number(fields[2])
    case ("profile", 3):
      guard let time = LineField.time(fields[1]), let interval = LineField.number(fields[2]) else { return }
      open = Profile(time: time, interval: interval)
    case ("end", 1):
      if let open { profiles.append(open) }
      open = nil
    case ("ended", 2): end = LineField.time(fields[1]) ?? end
    case ("refused", 1): isRefused = true
    default: break
    }
  }

  private mutating func addFunction(_ fields: [ArraySlice<UInt8>]) {
    guard let number = LineField.number(fields[1]) else { return }
    functions[number] = CallTree.Function(
      module: "", name: LineField.text(fields[2]), file: fields[3].isEmpty ? nil : LineField.text(fields[3]),
      line: LineField.number(fields[4]).flatMap { $0 > 0 ? Int($0) : nil })
  }

  private mutating func addNode(_ numbers: [Int64]) {
    // Callers come first, so that no node is its own caller.
    guard numbers.count == 3, nodes[numbers[0]] == nil, numbers[1] == 0 || nodes[numbers[1]] != nil,
      let function = functions[numbers[2]]
    else { return }
    nodes[numbers[0]] = Node(caller: numbers[1], function: function)
  }

  /// The function of a place by its key; nil if it has no name.
  func function(ofPlace key: String) -> CallTree.Function? { places[key].flatMap { functions[$0] } }

  /// The stack of a node, outermost function first.
  func stack(of node: Int64) -> [CallTree.Function] {
    var (functions, next): ([CallTree.Function], Node?) = ([], nodes[node])
    while let node = next {
      functions.append(node.function)
      next = nodes[node.caller]
    }
    return functions.reversed()
  }
}
