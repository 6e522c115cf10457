/// What several repetitions of one build hold, in names that do not depend on the build.
package struct ProfileSummary: Sendable, Equatable {
  /// An amount in several repetitions, in bytes.
  package struct Estimate: Sendable, Hashable {
    package let median: Int64
    /// The largest difference between two repetitions.
    package let spread: Int64
    /// The standard error of one repetition's amount that comes from sampling blocks.
    package let error: Int64

    package init(median: Int64, spread: Int64 = 0, error: Int64 = 0) {
      (self.median, self.spread, self.error) = (median, spread, error)
    }

    package static let zero = Estimate(median: 0)
  }

  /// One function, with the functions that it called.
  package struct Function: Sendable, Equatable {
    package var name: FunctionName
    package let role: FunctionRole
    /// The line that holds most, and the source file or script that it is in.
    package var line: Int?
    package var file: String?
    /// Whether the compiler has inlined it wherever it is called, which only debug information tells.
    package var isInlined = false
    /// Zero for those that are not named as holders, such as allocators.
    package var live: Estimate
    package var touched: Estimate

    package init(
      name: FunctionName, role: FunctionRole, line: Int? = nil, live: Estimate = .zero, touched: Estimate = .zero
    ) {
      (self.name, self.role, self.line, self.live, self.touched) = (name, role, line, live, touched)
    }

    /// The source file of a function that is not of a script, whose name has it.
    var sourceFile: String? { name.isScript ? nil : file }

    /// Of a stored function of a script it is unknown, since its file is not stored.
    var origin: CodeOrigin {
      name.isScript ? file.map(CodeOrigin.init(script:)) ?? .program : CodeOrigin(module: name.module)
    }
  }

  /// A node of the tree of calls, with its callees, after its caller.
  package struct Call: Sendable, Equatable {
    package let parent: Int?
    package let function: Int
    package var weight: CallTree.Weight
    /// The line of the caller in which it made the calls that hold most; nil if unknown, and not stored.
    package var callerLine: Int?

    package init(parent: Int?, function: Int, weight: CallTree.Weight, callerLine: Int? = nil) {
      (self.parent, self.function, self.weight, self.callerLine) = (parent, function, weight, callerLine)
    }
  }

  package var process: String
  /// The name by which its program was started, or that of the process; a file does not store it.
  package var startedAs: String
  package var moment = MemoryProfile.Moment.peak
  /// How many processes of this name were measured together.
  package var processes = 1
  /// As in ``MemoryProfile/rank``.
  package var rank: Int?
  package var method: MemoryProfile.Method
  package var repetitions: Int
  package var samplingInterval: Bytes
  /// The median of `VmHWM`, or of the sum of several processes'.
  package var peak: Bytes
  package var anonymous: Estimate
  /// The medians of the pages that are not anonymous; nil if unknown.
  package var files: Bytes?
  package var shared: Bytes?
  /// The median of all that was allocated in blocks, freed ones too; nil if unknown.
  package var allocated: Bytes?
  /// Whether ``calls`` have the objects of a collected heap; of the first repetition.
  package var heap = HeapSampling.missing(.notLoaded)
  /// Of the repetition with the median of ``anonymous``, so that they add up to it.
  package var parts: [MemoryPart: Estimate]
  package var functions: [Function]
  package var calls: [Call]
  /// The modules with debug information, which names inlined functions.
  package var sourced: Set<String> = []
  /// What a function that is not listed held at most, in bytes, since a file does not store small ones.
  package var leastStored: Int64 = 0

  package init(
    process: String,
    method: MemoryProfile.Method,
    repetitions: Int,
    samplingInterval: Bytes = .zero,
    peak: Bytes,
    anonymous: Estimate,
    parts: [MemoryPart: Estimate],
    functions: [Function] = [],
    calls: [Call] = []
  ) {
    startedAs = process
    (self.process, self.method, self.repetitions) = (process, method, repetitions)
    (self.samplingInterval, self.peak, self.anonymous) = (samplingInterval, peak, anonymous)
    (self.parts, self.functions, self.calls) = (parts, functions, calls)
  }
}

extension ProfileSummary {
  /// The anonymous memory without the profiler's own, in bytes.
  var ownMemory: Int64 { anonymous.median - (parts[.unattributed(.profiler)]?.median ?? 0) }

  /// The runtime with a collected heap, if the process has one.
  var collected: CollectedRuntime? {
    parts.keys.lazy.compactMap { if case .collectedHeap(let runtime) = $0 { runtime } else { nil } }.first
  }

  /// The part of the memory from which on stacks with unnamed code matter.
  private static let leastUnnamed = 0.02

  /// The runtime that generates code, if the process has one.
  package var generatingRuntime: CollectedRuntime? {
    let runtimes = [CollectedRuntime.java, .node]
    return runtimes.first { runtime in functions.contains { $0.role == .runtime(runtime) } }
  }

  /// The runtime whose generated code has no names, because it does not write them to a file.
  package var unnamedRuntime: CollectedRuntime? {
    let all = calls.filter { $0.parent == nil }.reduce(0) { $0 + $1.weight.sum }
    let unnamed = calls.filter { call in
      let caller = call.parent.map { functions[calls[$0].function].role }
      return functions[call.function].role == .unknown && caller != .unknown
    }
    return Double(unnamed.reduce(0) { $0 + $1.weight.sum }) >= Self.leastUnnamed * Double(all) ? generatingRuntime : nil
  }
}

extension CallTree.Weight {
  fileprivate var sum: Int64 { live + touched }
}

extension ProfileSummary {
  /// A function of a stored summary.
  package typealias StoredFunction = (name: FunctionName, live: Estimate, touched: Estimate, isInlined: Bool)
  /// A call of a stored summary.
  package typealias StoredCall = (parent: Int?, function: FunctionName, weight: CallTree.Weight, isInlined: Bool)

  /// Adds functions and calls whose roles and places are not stored.
  package mutating func add(_ stored: [StoredFunction], calls: [StoredCall]) {
    let roles = RoleTable(stored.map(\.name) + calls.map(\.function))
    let inlined = Set(stored.filter(\.isInlined).map(\.name) + calls.filter(\.isInlined).map(\.function))
    functions = stored.map { name, live, touched, _ in
      Function(name: name, role: roles.role(of: name), live: live, touched: touched)
    }
    var indexes = Dictionary(zip(stored.map(\.name), stored.indices), uniquingKeysWith: { first, _ in first })
    self.calls = calls.map { call in
      let index = indexes[call.function, default: functions.count]
      if index == functions.count {
        indexes[call.function] = index
        functions.append(Function(name: call.function, role: roles.role(of: call.function)))
      }
      return Call(parent: call.parent, function: index, weight: call.weight)
    }
    for index in functions.indices { functions[index].isInlined = inlined.contains(functions[index].name) }
  }
}

extension ProfileSummary.Estimate {
  /// Summarises the values of repetitions, of which there is at least one, and the errors that sampling makes of them.
  init(_ values: [Int64], errors: [Int64] = []) {
    let sorted = values.sorted()
    guard let least = sorted.first, let most = sorted.last else {
      self = .zero
      return
    }
    let (low, high) = (sorted[(sorted.count - 1) / 2], sorted[sorted.count / 2])
    let error = errors.isEmpty ? 0 : Self(errors).median
    self.init(median: low + (high - low) / 2, spread: most - least, error: error)
  }
}

extension ProfileSummary {
  /// Summarises the repetitions of one build; nil for none.
  ///
  /// The process and the method are those of the first; a repetition that was measured in another way does not count, such
  /// as one without the objects of a collected heap.
  package init?(_ profiles: [MemoryProfile]) {
    guard let first = profiles.first else { return nil }
    let alike = profiles.filter { $0.method == first.method && $0.heap.isSampled == first.heap.isSampled }
    let calls = SummedCalls(
      alike.map(\.calls), intervals: alike.map(\.samplingInterval), objects: alike.map(\.collectedObjects))
    let anonymous = Estimate(alike.map(\.anonymous.count))
    let middle = alike.middle?.anonymous ?? first.anonymous
    self.init(
      process: first.process,
      method: first.method,
      repetitions: alike.count,
      samplingInterval: alike.map(\.samplingInterval).max() ?? .zero,
      peak: Bytes(Estimate(alike.map(\.peak.count)).median),
      anonymous: Estimate(median: middle.count, spread: anonymous.spread),
      parts: Self.parts(
        zip(alike, calls.repetitions).map { ($0.anonymous == middle, MemoryPart.amounts($0, $1)) }, error: calls.error),
      functions: calls.functions,
      calls: calls.calls)
    (processes, moment, rank) = ((alike.middle ?? first).processes, first.moment, first.rank)
    heap = first.heap
    if !first.startedAs.isEmpty { startedAs = first.startedAs }
    sourced = calls.sourced
    files = Bytes(Estimate(alike.map(\.files.count)).median)
    shared = Bytes(Estimate(alike.map(\.shared.count)).median)
    if method.samplesBlocks { allocated = Bytes(Estimate(alike.map(\.allocated.count)).median) }
  }

  private static func parts(
    _ repetitions: [(isMiddle: Bool, amounts: [MemoryPart: Int64])], error: Int64
  ) -> [MemoryPart: Estimate] {
    let middle = repetitions.first(where: \.isMiddle)?.amounts ?? [:]
    let all = Set(repetitions.flatMap(\.amounts.keys))
    return Dictionary(
      uniqueKeysWithValues: all.map { part in
        let spread = Estimate(repetitions.map { $0.amounts[part] ?? 0 }).spread
        return (part, Estimate(median: middle[part] ?? 0, spread: spread, error: part == .live ? error : 0))
      })
  }
}

extension MemoryPart {
  /// The parts of one repetition.
  fileprivate static func amounts(_ profile: MemoryProfile, _ calls: SummedCalls.Repetition) -> [MemoryPart: Int64] {
    var amounts: [MemoryPart: Int64] = [.live: calls.total.live, .touched: calls.total.touched]
    if let runtime = calls.collected { amounts[.collectedHeap(runtime.runtime)] = runtime.bytes }
    amounts[profile.method.samplesBlocks ? .heapOverhead : .heap] = profile.heapOverhead
    for (cause, bytes) in profile.unattributed { amounts[.unattributed(cause)] = bytes.count }
    return amounts.filter { $0.value != 0 }
  }
}
