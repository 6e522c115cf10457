package import GateCore

extension FunctionName {
  /// As in `remember()`, or `?` without a name.
  var displayText: String {
    if self == .garbageCollector { return "the garbage collector" }
    guard !name.isEmpty else { return "?" }
    let text = nameWithoutPackages
    return TerminalText.safe(text.last.map { $0.isLetter || $0.isNumber || $0 == "_" } == true ? "\(text)()" : text)
  }

  /// As in `handle_request`.
  fileprivate var callerText: String { name.isEmpty ? "?" : TerminalText.safe(nameWithoutPackages) }

  /// As in `web.(*Server).order` of `example.org/shop/web.(*Server).order`, and `Api.order` of `org.example.shop.Api.order`.
  private var nameWithoutPackages: String {
    let name = shortName
    if isJava {
      let parts = name.split(separator: ".")
      let packages = parts.prefix { $0.first?.isLowercase == true }.count
      return parts.dropFirst(min(packages, max(0, parts.count - 2))).joined(separator: ".")
    }
    let path = name.prefix { $0 != "(" && $0 != "[" }
    guard !isScript, let slash = path.lastIndex(of: "/"), path[path.index(after: slash)...].first?.isLetter == true
    else { return name }
    return String(name[name.index(after: slash)...])
  }

  /// As in ` (libserver.so)`, ` (libserver.so, server.c:12)` or ` (server.py:12)`; empty if no file holds it.
  func place(file: String? = nil, line: Int?) -> String {
    guard !module.isEmpty else { return "" }
    let source = file?.split(separator: "/").last.map { ", \(TerminalText.safe(String($0)))" } ?? ""
    let line = isScript || !source.isEmpty ? line.map { ":\($0)" } ?? "" : ""
    return " (\(TerminalText.safe(module))\(source)\(line))"
  }
}

extension FunctionChange {
  /// As in `remember() (libserver.so) ← handle_request ← main (server)`, or `remember() (cache.so) ← handle (server.py:12)`
  /// of a library that a script has called; a file that was just named is not named again.
  func path(callers count: Int = .max) -> String {
    // A lambda has the name of its function.
    let shown = callers.prefix(count).reduce(into: [function]) { shown, caller in
      if shown.last?.reads(like: caller) != true { shown.append(caller) }
    }
    let callers = zip(shown.dropFirst(), shown).map { caller, called in
      let line = scripts.first { $0.function == caller }?.line
      return caller.callerText + (caller.module == called.module ? "" : caller.place(line: line))
    }
    return ([function.displayText + function.place(file: file, line: line)] + callers).joined(separator: " ← ")
  }

  /// As in `+28.6 MiB held by remember() (libserver.so) ← handle_request`.
  fileprivate var text: String {
    "\(Format.difference(Double(change.count))) \(evidence.words) \(path())"
  }

  /// As in `held by remember() (libserver.so) ← handle_request: 28.6 MiB`, with the nearest caller.
  fileprivate var holdingText: String { "\(evidence.words) \(path(callers: 1)): \(Format.amount(now))" }
}

extension Culprit {
  /// As in `85 % of the rise`, or `all of the rise (other memory fell by 6.7 MiB)`.
  fileprivate func shareText(of rise: ExplainedRise) -> String {
    let others = othersFell.map { " (other memory fell by \(Format.amount($0)))" } ?? ""
    return "\(share < 0.995 ? Format.share(share * 100) : "all") of \(rise.name)\(others)"
  }

  /// As in `; in 4 processes, before in 3`.
  fileprivate var processesText: String {
    processes.map { "; in \(Format.count($0.now, "process", plural: "processes")), before in \($0.before)" } ?? ""
  }

  /// As in `; +7.3 MiB of it by GMPy_CTXT_Enter() (gmpy2/gmpy2.so), +2.1 MiB by parse() (app.py:3)`.
  fileprivate var partsText: String {
    let texts = parts.enumerated().map { index, part in
      "\(Format.difference(Double(part.change.count)))\(index == 0 ? " of it" : "") by \(part.path(callers: 0))"
    }
    return texts.isEmpty ? "" : "; " + texts.joined(separator: ", ")
  }

  /// As in `; no more was allocated …: held at the same time as 50.0 MiB of parse() (server)`.
  fileprivate var overlapText: String {
    if let formerRelease {
      let later = laterRelease.map { ", and now \($0.path()) does" } ?? ""
      let former = "\(formerRelease.path()) released it\(later)"
      return isReleasedLater ? "; no more was allocated than before, when \(former)" : "; before, \(former)"
    }
    guard isReleasedLater else { return "" }
    let other = heldWith.map { ": held at the same time as \(Format.amount($0.now)) of \($0.path(callers: 1))" }
    return "; no more was allocated than before, so it is released later or not at all" + (other ?? "")
  }
}

extension MemoryEvidenceKind {
  var words: String {
    switch self {
    case .holds: "held by"
    case .firstTouched: "first touched by"
    case .copied: "copied after a fork by"
    }
  }

  /// In a table.
  var shortWords: String {
    switch self {
    case .holds: "held"
    case .firstTouched: "first touch"
    case .copied: "copied"
    }
  }
}

extension CulpritFinding {
  /// More of those that hold most are not listed.
  private static let mostHolding = 3

  /// One sentence: which function explains the rise, or why none is named.
  package func text(of rise: ExplainedRise) -> String {
    switch self {
    case .named(let culprit):
      "\(culprit.change.text), \(culprit.shareText(of: rise))\(culprit.processesText)\(culprit.partsText)\(culprit.overlapText)"
    case .noRise: "anonymous memory did not \(rise.verb)"
    case .notReproduced: "the profiled repetitions do not show the rise: there anonymous memory did not \(rise.verb)"
    case .mapped(let mapped): mapped.text
    case .otherMethod(let before, let now):
      "no function is named: the builds were measured in different ways (before: \(before.name), now: \(now.name))"
    case .belowNoise(let largest?, let least, true):
      "probably \(largest.text), though that is not clearly above the noise (at least \(Format.amount(least)) would be)"
    case .belowNoise(let largest?, let least, false):
      "no function is named: the largest rise, \(largest.text), is not clearly above the noise (at least "
        + "\(Format.amount(least)) would be)"
    case .belowNoise(nil, let least, _):
      "no function is named: the rise is not clearly above the noise (at least \(Format.amount(least)) would be)"
    case .spread(let largest):
      "the rise is spread over several functions, and none has most of it; the largest are "
        + largest.map(\.text).joined(separator: "; ")
    case .holding(let largest):
      "only this build was profiled, which does not show what rose; most memory is "
        + largest.prefix(Self.mostHolding).map(\.holdingText).joined(separator: "; ")
    case .unsampledHeap(let runtime, let rise, let reason):
      "\(Format.difference(Double(rise.count))) in the garbage-collected heap of \(runtime.heapName), of which no function "
        + "is named: \(reason.text(of: runtime))"
    case .other(let part, let rise): "\(Format.difference(Double(rise.count))) \(part.riseText)"
    case .ended(let rise):
      "no function is named: most of the growth, \(Format.difference(Double(rise.count))), was one-off; the steps may "
        + "start before the program has finished starting"
    }
  }
}

extension MappedRise {
  /// As in `+64.0 MiB of shared memory: /memfd:pool +64.0 MiB`.
  fileprivate var text: String {
    let parts = largest.map { "\(TerminalText.safe($0.name)) \(Format.difference(Double($0.rise.count)))" }
    let names = parts.isEmpty ? "" : ": \(parts.joined(separator: ", "))"
    return "\(Format.difference(Double(rise.count))) of \(kind == .files ? "mapped files" : "shared memory")\(names)"
  }
}

extension ExplainedRise {
  fileprivate var name: String {
    switch self {
    case .peak: "the rise"
    case .steady: "the rise at the end"
    case .growth: "the growth during the run"
    }
  }

  fileprivate var verb: String {
    switch self {
    case .peak: "rise"
    case .steady: "rise at the end"
    case .growth: "grow during the run"
    }
  }

  /// What is compared, in a table.
  var sides: (before: String, now: String) { self == .growth ? ("halfway", "at the end") : ("before", "now") }

  /// Of one build: when it held something.
  var moment: String {
    switch self {
    case .peak: "at the peak"
    case .steady, .growth: "at the end"
    }
  }
}

extension RiseExplanation {
  /// What it goes by.
  var label: String { if case .mapped = finding { "by mapping" } else { "by function" } }

  /// The finding, and the run that had it first.
  var text: String {
    let text = finding.text(of: rise)
    guard let run = firstNamed else { return text }
    let name = run.commit.map { "at commit \(CommitText.short($0))" } ?? "in run \(run.id)"
    return "\(text); first named \(TerminalText.safe(name))"
  }
}

extension ExplanationObstacle {
  func text(of scenario: ScenarioName) -> String {
    switch self {
    case .noApprovedProfile(let commit, let builds):
      "the approved build has no profile yet, which a check that passes takes if its artifacts folder is kept"
        + (commit.map { commit in
          let options = ["--against-ref", CommitText.short(commit)] + (builds ? [] : ["--build", "COMMAND"])
          return "; \(Self.command(options, scenario)) compares with that build"
        } ?? "")
    case .noTracing: "targets cannot be traced here"
    case .tracingIsOff: "the scenario has `tracer: off`"
    case .startedElsewhere: "only a target that Highwater starts can be profiled"
    case .overBudget(let estimate, let left, let rise):
      "profiling needs about \(Format.time(estimate)), and \(Format.time(left)) is left of the time that the check may "
        + "take for it; run \(Self.command(rise.options, scenario)), or set `explain: always`"
    case .ranOut(let time, let rise):
      "the time for it was over after \(Format.time(time)) of a profiled repetition; run "
        + "\(Self.command(rise.options, scenario)), or set `explain: always`"
    case .failed(let failure):
      "a profiled repetition failed: " + (failure.part.map { "\($0.displayText): " } ?? "") + failure.problemText
    case .noSnapshot: "the profiler saw no memory"
    case .interrupted: "interrupted"
    }
  }

  /// A command that explains the scenario.
  private static func command(_ options: [String], _ scenario: ScenarioName) -> String {
    let separator = scenario.text.hasPrefix("-") ? ["--"] : []
    let words = [Tool.name, "explain"] + options + separator + [ShellWords.quoted(scenario.text)]
    return "`\(words.joined(separator: " "))`"
  }
}

extension ExplainedRise {
  /// The options of `explain` for this rise.
  fileprivate var options: [String] { self == .peak ? [] : ["--metric", rawValue] }
}

extension MemoryPart {
  /// In a table.
  var name: String {
    switch self {
    case .live: "live blocks"
    case .touched: "pages by first touch"
    case .collectedHeap(let runtime): "garbage-collected heap (\(runtime.heapName))"
    case .heap: "heap, holders unknown"
    case .heapOverhead: "heap overhead and holes"
    case .unattributed(let cause): "not attributed: \(cause.text)"
    }
  }

  /// What a rise of it means.
  fileprivate var riseText: String {
    switch self {
    case .live: "of live blocks that no named function allocated: only a runtime's code is on their call stacks"
    case .touched: "of pages that no named function touched first: only a runtime's code is on their call stacks"
    case .collectedHeap(let runtime):
      "in the garbage-collected heap of \(runtime.heapName), more than its live objects rose by: garbage that is not "
        + "collected yet, and free space"
    case .heap:
      "in the heap: who holds it is unknown, since allocations were not sampled; they are where the program is "
        + "dynamically linked and takes `LD_PRELOAD`"
    case .heapOverhead:
      "of heap overhead and holes: freed memory that the allocator keeps, or fragmentation; no function holds it"
    case .unattributed(let cause): "without a call stack: \(cause.text)"
    }
  }
}

extension MemoryProfile.Cause {
  fileprivate var text: String {
    switch self {
    case .noPageFault: "no page fault seen"
    case .profiler: "the profiler's own"
    }
  }
}

extension ProfilerLimits {
  /// What is missing on this machine, and the remedy.
  var texts: [String] {
    [
      canStopAtFaults
        ? nil
        : "page faults have no call stacks here, since perf_event_open(2) is not permitted: "
          + "`kernel.perf_event_paranoid` must be 2 or less, and a container's seccomp profile must allow the call",
      missingLibrary.map {
        "call stacks follow frame pointers alone, and many end early: \(TerminalText.safe($0)); "
          + "install libdw (Debian: `apt-get install libdw1`)"
      },
    ].compactMap(\.self)
  }
}

extension HeapObstacle {
  /// As in `the process did not load …; …`.
  fileprivate func text(of runtime: CollectedRuntime) -> String {
    let reason =
      switch self {
      case .notLoaded: "\(runtime.samplerText), and this process did not"
      case .refused: "the runtime does not allow its heap to be sampled"
      case .noProfile: "the process ended before the first sample of its heap was complete"
      case .noSymbols: "the program has no symbol table; build it without `-ldflags=-s`"
      case .oneBuild: "it was sampled in only one of the two builds"
      }
    return "\(reason); \(runtime.profiler) shows what holds objects there"
  }
}

extension CollectedRuntime {
  /// What lets a process sample its heap.
  fileprivate var samplerText: String {
    switch self {
    case .node: "Node.js 18 or later samples it if it gets the variable NODE_OPTIONS"
    case .java: "Java 11 or later samples it if it gets the variable JAVA_TOOL_OPTIONS"
    case .go: "Go 1.19 or later samples it"
    case .python: "Python has none"
    }
  }

  fileprivate var heapName: String {
    switch self {
    case .java: "HotSpot"
    case .node: "V8"
    case .python: "CPython"
    case .go: "Go"
    }
  }

  /// How its generated code gets names.
  var unnamedText: String? {
    switch self {
    case .java:
      "where functions of Java have no names or callers, start it with `-XX:+UnlockDiagnosticVMOptions "
        + "-XX:+DumpPerfMapAtExit -XX:+PreserveFramePointer`"
    case .node:
      "where functions of JavaScript have no names or callers, start Node.js with `--perf-basic-prof "
        + "--interpreted-frames-native-stack`"
    case .python, .go: nil
    }
  }

  fileprivate var profiler: String {
    switch self {
    case .java: "`jcmd PID GC.class_histogram`"
    case .node: "`node --heap-prof`"
    case .python: "`tracemalloc`"
    case .go: "the heap profile of `runtime/pprof`"
    }
  }
}

extension MemoryProfile.Method {
  fileprivate var name: String {
    switch self {
    case .stopsAndBlocks: "page faults and sampled allocations"
    case .stops: "page faults"
    case .blocks: "sampled allocations"
    case .mappings: "sizes of mappings"
    }
  }

  private var limits: String {
    switch self {
    case .stopsAndBlocks: "live blocks are estimates; the function that first touched a page may not own it"
    case .stops: "the holders of heap memory are unknown; the function that first touched a page may not own it"
    case .blocks: "live blocks are estimates; memory outside the heap is not attributed"
    case .mappings: "no call stacks"
    }
  }

  /// The method and its limits.
  func text(repetitions: Int, samplingInterval: Bytes) -> String {
    let interval = samplingInterval > .zero ? ", one sample for each \(Format.amount(samplingInterval)) on average" : ""
    return "\(name) of \(Format.count(repetitions, "repetition"))\(interval); \(limits)"
  }
}
