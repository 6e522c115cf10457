import GateCore

/// Call stacks in the format of pprof, which `go tool pprof` reads, not compressed.
///
/// Numbers of fields are those of `profile.proto` (github.com/google/pprof).
enum PprofFile {
  /// The stacks of one repetition with two values each, in bytes: `live` and `touched`.
  static func encode(_ profile: MemoryProfile) -> [UInt8] {
    var file = PprofWriter(profile.calls)
    return file.write(profile)
  }
}

private struct PprofWriter {
  private let calls: CallTree
  private var strings: [String: Int] = ["": 0]
  private var stringTable = [""]
  private var message = ProtobufMessage()

  init(_ calls: CallTree) {
    self.calls = calls
  }

  mutating func write(_ profile: MemoryProfile) -> [UInt8] {
    for type in ["live", "touched"] { message.add(1, valueType(type)) }
    addSamples()
    addFunctions(addMappings(first: profile.program))
    message.add(11, valueType("space"))
    message.add(12, max(1, profile.samplingInterval.count))
    // What is shown unless the reader chooses.
    message.add(14, index(of: profile.calls.total.live > profile.calls.total.touched ? "live" : "touched"))
    for text in stringTable { message.add(6, Array(text.utf8)) }
    return message.bytes
  }

  private mutating func index(of text: String) -> Int64 {
    if let index = strings[text] { return Int64(index) }
    stringTable.append(text)
    strings[text] = stringTable.count - 1
    return Int64(stringTable.count - 1)
  }

  private mutating func valueType(_ type: String) -> [UInt8] {
    var value = ProtobufMessage()
    value.add(1, index(of: type))
    value.add(2, index(of: "bytes"))
    return value.bytes
  }

  /// One sample for each stack that holds something, innermost location first; locations are functions.
  private mutating func addSamples() {
    for node in calls.nodes where node.weight != .zero {
      var stack: [Int64] = []
      var next: CallTree.Node? = node
      while let at = next {
        stack.append(Int64(at.function) + 1)
        next = at.parent.map { calls.nodes[$0] }
      }
      var sample = ProtobufMessage()
      sample.add(1, packed: stack)
      sample.add(2, packed: [node.weight.live, node.weight.touched])
      message.add(2, sample.bytes)
    }
  }

  /// One mapping for each module, the program's first, as readers expect; the numbers by module.
  private mutating func addMappings(first program: String) -> [String: Int64] {
    var numbers: [String: Int64] = [:]
    for module in [program] + calls.functions.map(\.module) where !module.isEmpty && numbers[module] == nil {
      numbers[module] = Int64(numbers.count) + 1
      var mapping = ProtobufMessage()
      mapping.add(1, Int64(numbers.count))
      mapping.add(5, index(of: module))
      // With names: a reader need not search the file for them.
      for field in 7...9 { mapping.add(field, 1) }
      message.add(3, mapping.bytes)
    }
    return numbers
  }

  private mutating func addFunctions(_ mappings: [String: Int64]) {
    for (index, called) in calls.functions.enumerated() {
      let number = Int64(index) + 1
      let name = called.name.isEmpty ? "[\(called.module.isEmpty ? "unknown" : called.module)]" : called.name
      var function = ProtobufMessage()
      function.add(1, number)
      for field in 2...3 { function.add(field, self.index(of: name)) }
      if let file = called.file { function.add(4, self.index(of: file)) }
      message.add(5, function.bytes)

      var line = ProtobufMessage()
      line.add(1, number)
      if let at = called.line { line.add(2, Int64(at)) }
      var location = ProtobufMessage()
      location.add(1, number)
      if let mapping = mappings[called.module] { location.add(2, mapping) }
      location.add(4, line.bytes)
      message.add(4, location.bytes)
    }
  }
}

/// A message in protobuf's encoding (protobuf.dev, Encoding): varints and parts with their length.
private struct ProtobufMessage {
  private(set) var bytes: [UInt8] = []

  mutating func add(_ field: Int, _ value: Int64) {
    append(varint: UInt64(field) << 3)
    append(varint: UInt64(bitPattern: value))
  }

  mutating func add(_ field: Int, _ part: [UInt8]) {
    append(varint: UInt64(field) << 3 | 2)
    append(varint: UInt64(part.count))
    bytes += part
  }

  mutating func add(_ field: Int, packed values: [Int64]) {
    var part = ProtobufMessage()
    for value in values { part.append(varint: UInt64(bitPattern: value)) }
    add(field, part.bytes)
  }

  private mutating func append(varint value: UInt64) {
    var rest = value
    while rest > 0x7f {
      bytes.append(UInt8(rest & 0x7f) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }
}
