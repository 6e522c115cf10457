/// Who released what a function of one process had allocated, in the whole run of a build.
///
/// The functions of a build that holds more tell who made what it holds, but not who keeps it. That is often in other code: one
/// that no longer lets go of it. Where another build did let go is known.
package struct Releases: Sendable, Equatable {
  /// What was released in one way.
  package struct Line: Sendable, Hashable {
    /// A function on the stack of the allocations.
    package let allocator: FunctionName
    /// The function that released it, and its callers, the nearest first; empty if nothing did.
    package let releasers: [FunctionName]
    /// In bytes, an estimate.
    package let bytes: Int64

    package init(allocator: FunctionName, releasers: [FunctionName], bytes: Int64) {
      (self.allocator, self.releasers, self.bytes) = (allocator, releasers, bytes)
    }
  }

  /// Of each allocator one for each way; those with most bytes first.
  package let lines: [Line]

  /// Callers beyond these do not matter.
  private static let mostReleasers = 4
  /// Those that only release for their callers.
  private static let deallocators: NamePatterns = ["*free", "*Free", "*_dealloc"]
  /// Those of Python that stand on a stack of a release only if its collector runs: that begins where an object is made.
  private static let collectors: NamePatterns = [
    "gc_collect*", "PyGC_Collect", "_Py_RunGC", "_PyObject_GC_New*", "PyType_GenericAlloc",
  ]
  /// What is released in these was held to the end.
  private static let ends: NamePatterns = ["Py_FinalizeEx", "Py_Finalize"]
  /// Less than this part of what an allocator made is left out.
  private static let leastPart: Int64 = 20

  package init(lines: [Line]) { self.lines = lines }

  /// Those of a profile of ``MemoryProfile/Moment/releases``.
  package init(_ summary: ProfileSummary) {
    let release = FunctionName(CallTree.Function.release)
    let calls = summary.calls
    /// What a call itself has, without its callees.
    var own = calls.map(\.weight.live)
    var releases = [Int?](repeating: nil, count: calls.count)
    for (index, call) in calls.enumerated() {
      guard let parent = call.parent else { continue }
      own[parent] -= call.weight.live
      releases[index] = summary.functions[call.function].name == release ? index : releases[parent]
    }
    func way(from index: Int?, until end: Int?) -> [ProfileSummary.Function] {
      let way = sequence(first: index) { at in at.map { calls[$0].parent } }.prefix { $0 != end }.compactMap(\.self)
      return way.map { summary.functions[calls[$0].function] }
    }
    var sums: [FunctionName: [[FunctionName]: Int64]] = [:]
    for index in calls.indices where own[index] > 0 {
      guard let release = releases[index] else { continue }
      let releasers = Self.releasers(way(from: index, until: release).reversed())
      for allocator in Set(way(from: calls[release].parent, until: nil).filter(\.isNamed).map(\.name)) {
        sums[allocator, default: [:]][releasers, default: 0] += own[index]
      }
    }
    lines = sums.flatMap { allocator, ways in
      let least = ways.values.reduce(0, +) / Self.leastPart
      return ways.filter { $0.value >= least }.map { Line(allocator: allocator, releasers: $0.key, bytes: $0.value) }
    }.sorted { left, right in
      guard (left.bytes, left.allocator) == (right.bytes, right.allocator) else {
        return (right.bytes, left.allocator) < (left.bytes, right.allocator)
      }
      return left.releasers.lexicographicallyPrecedes(right.releasers)
    }
  }

  /// Those of a stack, the innermost first, that tell why it releases.
  private static func releasers(_ stack: some Sequence<ProfileSummary.Function>) -> [FunctionName] {
    if stack.contains(where: { ends.match($0.name.name) }) { return [] }
    if stack.contains(where: { collectors.match($0.name.name) }) { return [.garbageCollector] }
    let named = stack.filter { $0.isNamed && $0.origin != .language }.map(\.name)
    let callers = named.drop { deallocators.match($0.shortName) }
    return Array((callers.isEmpty ? named[...] : callers).prefix(mostReleasers))
  }

  /// What a function allocated in all, in bytes; nil if that is unknown.
  func allocated(by function: FunctionName) -> Int64? {
    let bytes = lines.lazy.filter { $0.allocator == function }.map(\.bytes).reduce(0, +)
    return bytes > 0 ? bytes : nil
  }

  /// What each function released, or those that it called, of what another one had allocated, in bytes.
  func releasers(of allocator: FunctionName) -> [FunctionName: Int64] {
    lines.reduce(into: [:]) { sums, line in
      guard line.allocator == allocator else { return }
      for releaser in Set(line.releasers) { sums[releaser, default: 0] += line.bytes }
    }
  }

  /// The way in which a function released most of that: how many it called for that, and its callers, the nearest first.
  func way(
    through releaser: FunctionName, releasing allocator: FunctionName
  ) -> (called: Int, callers: [FunctionName]) {
    for line in lines where line.allocator == allocator {
      guard let index = line.releasers.firstIndex(of: releaser) else { continue }
      return (index, Array(line.releasers[(index + 1)...]))
    }
    return (0, [])
  }
}

extension ProfileSummary.Function {
  /// Whether it can be named; of code without a name in a package it is known at least whose it is.
  fileprivate var isNamed: Bool { role.isNamed && (!name.name.isEmpty || origin == .package) }
}

extension FunctionName {
  /// Stands for Python's collector of reference cycles, which runs in whatever function makes an object then.
  package static let garbageCollector = FunctionName(module: "", name: "[garbage-collector]")
}

extension CallTree.Function {
  /// Stands between the stack of an allocation and that of its release, which begins with the innermost function.
  ///
  /// CMemoryProfiler (result.c) writes the name.
  package static let release = CallTree.Function(module: "", name: "[release]")
}
