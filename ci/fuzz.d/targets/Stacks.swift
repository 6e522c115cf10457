import CCallStacks
import GateCore
import StackInputs

@testable import GateProbe

extension FuzzTarget {
  /// An ELF file of a target.
  static let elf = FuzzTarget("elf") { input in
    let count = input.withUnsafeBufferPointer { hw_read_elf_input($0.baseAddress, $0.count) }
    try promise(count <= input.count, "more functions than bytes")
  }

  /// The stack of a target; if the first byte is even, the operations of an unwind table.
  static let stackWords = FuzzTarget("stack-words") { input in
    _ = hw_stacks_load()
    guard let kind = input.first else { return }
    Array(input.dropFirst()).withUnsafeBufferPointer { bytes in
      let read = kind % 2 == 0 ? hw_evaluate_input : hw_walk_input
      _ = read(bytes.baseAddress, bytes.count)
    }
  }

  /// What a just-in-time compiler writes about its functions.
  static let perfMap = FuzzTarget("perf-map") { input in
    let count = input.withUnsafeBufferPointer { hw_read_perf_map_input($0.baseAddress, $0.count) }
    try promise(count <= input.count, "more functions than bytes")
  }

  /// A symbol of a target, mangled or not.
  static let symbolNames = FuzzTarget("symbol-names") { input in
    guard let symbol = String(validating: input.prefix { $0 != 0 }, as: UTF8.self) else { return }
    let name = String(cString: hw_demangle(symbol))
    let function = FunctionName(CallTree.Function(module: "program", name: name))
    try promise(function.name.utf8.count <= 400, "a name is too long")
    let read = try? FunctionName(coded: function.description)
    try promise(read?.description == function.description, "\(function) is not what is read back")
  }

  /// What the profiler writes when a target has ended.
  static let profilerOutput = FuzzTarget("profiler-output") { input in
    let logs: [(process: Int64, thread: Int64, log: HeapLog)] = HeapLog(input).map { [(7, 0, $0)] } ?? []
    let profiles = MemoryProfileReader.profiles(in: input, heaps: HeapLogs(logs))
    _ = ProfileSummary(profiles).map { ProfileComparison(now: $0).largestChanges(atMost: 10) }
    guard let build = ProfiledBuild([ProfiledRepetition(main: nil, profiles: profiles)]) else { return }
    try promise(build.comparison(with: build)?.finding?.culprit == nil, "a function is named though nothing changed")
  }
}
