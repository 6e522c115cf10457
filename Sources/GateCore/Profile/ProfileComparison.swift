/// What one build holds beside what an older one held.
package struct ProfileComparison: Sendable, Equatable {
  /// A node of the tree of calls of both builds, with its callees, after its caller.
  package struct Call: Sendable, Equatable {
    package var parent: Int?
    package let function: FunctionName
    package let role: FunctionRole
    package var before: CallTree.Weight
    package var now: CallTree.Weight
    /// As in ``ProfileSummary/Call/callerLine``, of the new build.
    package var callerLine: Int?

    func change(_ evidence: MemoryEvidenceKind) -> Int64 { evidence.amount(now) - evidence.amount(before) }
  }

  /// nil if there is only one build.
  package let before: ProfileSummary?
  package let now: ProfileSummary
  package let calls: [Call]
  /// Of the functions of the new build.
  private let indexes: [FunctionName: Int]
  package var explained = ExplainedRise.peak
  /// What the metric rose by in the check; nil if no check measured it.
  package var measured: Bytes?
  /// As in ``MeasuredRise/excludesMappings``.
  package var excludesMappings = false
  /// What the build held halfway from ``before`` to ``now``, of growth; nil if that is unknown.
  package var middle: ProfileSummary?
  /// What the new build held at the end, of its peak; nil if that is unknown.
  package var end: ProfileSummary?
  /// What each build released in its whole run; nil if that is unknown.
  package var releases: Releases?
  package var releasesBefore: Releases?

  /// Where only one build of a module has debug information, its inlined functions count for their callers; a function with
  /// other parameters is the same; and what importing a module took counts for those that import it now.
  package init(before: ProfileSummary? = nil, now: ProfileSummary) {
    let comparable = before.map { now.withoutInlined(in: now.modulesInlined(unlike: $0)) } ?? now
    self.now = comparable
    self.before = before.map {
      $0.withoutInlined(in: $0.modulesInlined(unlike: now)).renamed(like: comparable).importing(like: comparable)
    }
    calls = Self.calls(self.before, self.now)
    indexes = Dictionary(
      zip(self.now.functions.map(\.name), self.now.functions.indices), uniquingKeysWith: { first, _ in first })
  }

  private struct Place: Hashable {
    let parent: Int?
    let function: FunctionName
  }

  /// The calls of the new build, then those that only the old one has.
  private static func calls(_ before: ProfileSummary?, _ now: ProfileSummary) -> [Call] {
    var (calls, places): ([Call], [Place: Int]) = ([], [:])
    func add(_ summary: ProfileSummary, at key: WritableKeyPath<Call, CallTree.Weight>) {
      var indexes: [Int] = []
      for call in summary.calls {
        let function = summary.functions[call.function]
        let place = Place(parent: call.parent.map { indexes[$0] }, function: function.name)
        let index = places[place] ?? calls.count
        if index == calls.count {
          calls.append(
            Call(
              parent: place.parent, function: function.name, role: function.role, before: .zero, now: .zero,
              callerLine: call.callerLine))
          places[place] = index
        }
        calls[index][keyPath: key] += call.weight
        indexes.append(index)
      }
    }
    add(now, at: \.now)
    if let before { add(before, at: \.before) }
    return calls
  }
}

/// How a function is connected with the memory that it is named for.
package enum MemoryEvidenceKind: String, Sendable, Hashable, CaseIterable, Codable {
  /// It allocated blocks that are live.
  case holds
  /// It touched the pages first, which is not proof that it holds them.
  case firstTouched = "first-touched"
  /// It wrote to pages that a fork had left shared, which were copied by that.
  case copied

  /// The part of a process's memory that it is about.
  package var part: MemoryPart { self == .holds ? .live : .touched }

  func amount(_ weight: CallTree.Weight) -> Int64 { self == .holds ? weight.live : weight.touched }

  func estimate(_ function: ProfileSummary.Function) -> ProfileSummary.Estimate {
    self == .holds ? function.live : function.touched
  }
}

/// A function on a call stack, with its place in the code if that is known.
package struct StackFrame: Sendable, Hashable {
  package var function: FunctionName
  /// As debug information or an interpreter has it: absolute, or relative to the folder of the build or of the start.
  package var file: String?
  package var line: Int?

  package init(function: FunctionName, file: String? = nil, line: Int? = nil) {
    (self.function, self.file, self.line) = (function, file, line)
  }
}

/// What one function holds with its callees, in the old build and in the new one.
package struct FunctionChange: Sendable, Hashable, Codable {
  package var function: FunctionName
  package var line: Int?
  /// The source file that ``line`` is in, of a function that is not of a script.
  package var file: String?
  package var evidence: MemoryEvidenceKind
  /// nil if there is only one build.
  package var before: Bytes?
  package var now: Bytes
  /// Callers through which at least ``ProfileComparison/leastShare`` of the change came, the nearest first.
  package var callers: [FunctionName]
  /// The callers whose places are known and of interest, for a function that is not one of the program's scripts.
  package var scripts: [Script] = []
  /// The function and its callers, the nearest first, also those that reports leave out; known only while the profile is,
  /// and not stored.
  package var frames: [StackFrame] = []
  /// Functions that it calls and that hold a good part of its change, clear or not; known and stored as ``frames`` are.
  package var beneath: [FunctionChange] = []
  /// All functions that it calls, those that rose most first; known and stored as ``frames`` are.
  package var called: [StackFrame] = []

  /// A function of a script, and the line of it that holds most.
  package struct Script: Sendable, Hashable, Codable {
    package var function: FunctionName
    package var line: Int?

    package init(_ function: FunctionName, line: Int? = nil) {
      (self.function, self.line) = (function, line)
    }
  }

  private enum CodingKeys: CodingKey {
    case function, line, file, evidence, before, now, callers, scripts
  }

  /// What it holds more than before; all that it holds if there is only one build.
  package var change: Bytes { now - (before ?? .zero) }

  fileprivate func hasAmounts(of other: FunctionChange) -> Bool {
    (evidence, before, now) == (other.evidence, other.before, other.now)
  }
}

extension ProfileComparison {
  /// The share of the growth that a function must hold to be named for it, and that must come through a caller to name
  /// this, too (our prototype's rule: right for 5 of 5 regressions of a server, 2025).
  package static let leastShare = 0.7

  /// The most callers that are named.
  private static let mostCallers = 4

  /// How many callers away a script is still found.
  private static let furthestScript = 32

  /// The functions whose memory changed most, of one kind of evidence each; of one build, those that hold most.
  ///
  /// A caller that holds the same as the function it calls is not listed, nor is a lambda's function beside it.
  package func largestChanges(atMost count: Int) -> [FunctionChange] {
    let all = [.holds, .firstTouched].flatMap(changes).filter { $0.change != .zero }
    let sorted = all.sorted { left, right in
      (-Int64(clamping: left.change.count.magnitude), left.now, left.function)
        < (-Int64(clamping: right.change.count.magnitude), right.now, right.function)
    }
    var shown: [FunctionChange] = []
    for change in sorted where shown.count < count {
      let named = addingCallers(change)
      if let last = shown.last, last.hasAmounts(of: named) {
        if named.callers.contains(last.function) { shown[shown.count - 1] = named }
        let isSame = last.function.reads(like: named.function)
        if isSame || last.callers.contains(named.function) || named.callers.contains(last.function) { continue }
      }
      shown.append(named)
    }
    return shown
  }

  /// All functions that may be named, without their callers.
  func changes(_ evidence: MemoryEvidenceKind) -> [FunctionChange] {
    let old = before.map { before in
      Dictionary(
        before.functions.map { ($0.name, evidence.estimate($0).median) }, uniquingKeysWith: { first, _ in first })
    }
    // What a file leaves out is not a rise.
    let leastStored = before?.leastStored ?? 0
    var changes: [FunctionChange] = []
    var seen: Set<FunctionName> = []
    for function in now.functions where function.role.isNamed {
      seen.insert(function.name)
      changes.append(
        FunctionChange(
          function: function.name, line: function.line, file: function.sourceFile, evidence: evidence,
          before: old.map { Bytes($0[function.name] ?? min(leastStored, evidence.estimate(function).median)) },
          now: Bytes(evidence.estimate(function).median), callers: []))
    }
    for function in before?.functions ?? [] where function.role.isNamed && !seen.contains(function.name) {
      changes.append(
        FunctionChange(
          function: function.name, line: function.line, file: function.sourceFile, evidence: evidence,
          before: Bytes(evidence.estimate(function).median), now: .zero, callers: []))
    }
    return changes
  }

  func addingCallers(_ change: FunctionChange) -> FunctionChange {
    var named = change
    let callers = CallerSearch(self, change.evidence).callers(of: change.function, atMost: Self.furthestScript)
    let shown = shownCallers(callers.map(\.function), of: change.function)
    named.line = lineOfRise(change) ?? change.line
    named.frames = ([(change.function, named.line)] + callers).map { frame(of: $0.function, line: $0.line) }
    let lines = Dictionary(named.frames.map { ($0.function, $0.line) }, uniquingKeysWith: { first, _ in first })
    (named.callers, named.scripts) = (shown.near, shown.scripts.map { .init($0, line: lines[$0] ?? nil) })
    if named.evidence == .firstTouched, isCopied(change) { named.evidence = .copied }
    return named
  }

  /// The line of a function whose calls brought most of its rise; nil if most came from the function itself.
  ///
  /// It holds more at another line where the old build held as much.
  private func lineOfRise(_ change: FunctionChange) -> Int? {
    guard change.before != nil else { return nil }
    var rises: [Int?: Int64] = [:]
    for call in calls where call.function != change.function {
      guard let parent = call.parent, calls[parent].function == change.function else { continue }
      rises[call.callerLine, default: 0] += call.change(change.evidence)
    }
    let largest = rises.max { ($0.value, $1.key ?? 0) < ($1.value, $0.key ?? 0) }
    let own = change.change.count - rises.values.reduce(0, +)
    return largest.flatMap { $0.value > max(0, own) ? $0.key : nil }
  }

  /// A function with its place: the line of the call that is meant, or else the one that holds most.
  func frame(of name: FunctionName, line: Int? = nil) -> StackFrame {
    StackFrame(function: name, file: known(name)?.file, line: line ?? known(name)?.line)
  }

  /// A function of this build.
  func known(_ name: FunctionName) -> ProfileSummary.Function? { indexes[name].map { now.functions[$0] } }

  func origin(of name: FunctionName) -> CodeOrigin {
    known(name)?.origin ?? (name.isScript ? .program : CodeOrigin(module: name.module))
  }

  /// Whether most of what a function touched more than before is copies after a fork.
  private func isCopied(_ change: FunctionChange) -> Bool {
    let copy = FunctionName(CallTree.Function.copyAfterFork)
    let copies = calls.indices.filter { index in
      calls[index].function == copy
        && sequence(first: index, next: { calls[$0].parent }).contains { calls[$0].function == change.function }
    }
    let copied = copies.reduce(0) { $0 + calls[$1].now.touched - calls[$1].before.touched }
    return copied > 0 && Double(copied) >= Self.leastShare * Double(change.change.count)
  }

  /// The nearest callers, and those of them that are scripts whose places are of interest: the nearest of all, and the
  /// nearest of the program, which are among them however far they are.
  ///
  /// If a script of the program is among them, of each package but the function's own the nearest function is enough, and
  /// the language's library is left out.
  private func shownCallers(
    _ all: [FunctionName], of function: FunctionName
  ) -> (near: [FunctionName], scripts: [FunctionName]) {
    let isProgram = { (name: FunctionName) in name.isScript && origin(of: name) == .program }
    let shown = all.contains(where: isProgram) ? withoutInner(all, of: function) : all
    let scripts = isProgram(function) ? [] : [shown.first(where: \.isScript), shown.first(where: isProgram)]
    let required = Set(scripts.compactMap(\.self))
    // Other packages before the way through the function's own, and that before more of the program.
    func rank(_ name: FunctionName) -> Int {
      if required.contains(name) { return 0 }
      if !name.isScript || scripts.isEmpty { return 1 }
      return isProgram(name) ? 3 : isOfPackage(name, of: function) ? 2 : 1
    }
    let ranked = shown.indices.sorted { (rank(shown[$0]), $0) < (rank(shown[$1]), $1) }
    let near = ranked.prefix(Self.mostCallers).sorted().map { shown[$0] }
    return (near, near.filter(required.contains))
  }

  private func isOfPackage(_ name: FunctionName, of function: FunctionName) -> Bool {
    function.isScript && name.package == function.package
  }

  /// Callers without the scripts of the language's library, and of a package that is not the function's own without those
  /// that another one of it calls.
  private func withoutInner(_ callers: [FunctionName], of function: FunctionName) -> [FunctionName] {
    var packages: Set<Substring> = []
    return callers.filter { name in
      guard name.isScript else { return true }
      return switch origin(of: name) {
      case .program: true
      case .package: isOfPackage(name, of: function) || packages.insert(name.package).inserted
      case .language: false
      }
    }
  }
}
