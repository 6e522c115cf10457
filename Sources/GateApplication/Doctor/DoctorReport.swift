import GateCore

/// The report of `doctor` on a machine.
enum DoctorReport {
  /// A line for each property, with a hint where something is less than ideal.
  static func text(_ properties: [MachineProperty], style: TerminalStyle) -> String {
    var page = TerminalPage(style)
    let all = properties.map { (status: $0.status, words: words(of: $0)) }
    let width = all.map { TerminalText.columns($0.words.name) }.max() ?? 0
    for (status, words) in all {
      let label = TerminalText.padded(words.name, to: width)
      page.paragraph(words.value, indent: 0, label: "\(status.symbol(style)) \(label)  ", tone: status.tone)
      if let hint = words.hint { page.paragraph(hint, indent: 4, label: "hint: ") }
    }
    return page.text
  }

  /// The name, the value and the hint of a property; its text may quote untrusted names.
  static func words(of property: MachineProperty) -> (name: String, value: String, hint: String?) {
    let hint = property.value.hint ?? property.note?.displayText
    return (
      property.value.name, TerminalText.safe(property.value.text), hint.map { TerminalText.safe($0) }
    )
  }
}

extension MachineProperty.Status {
  fileprivate func symbol(_ style: TerminalStyle) -> String {
    switch self {
    case .good: style.unicode ? "✓" : "+"
    case .warning: "!"
    case .error: style.unicode ? "✗" : "x"
    }
  }

  fileprivate var tone: Tone? {
    switch self {
    case .good: nil
    case .warning: .unsure
    case .error: .bad
    }
  }
}

extension MachineProperty.Value {
  fileprivate var name: String {
    switch self {
    case .measuring: "measuring"
    case .method: "method"
    case .tracing: "ptrace"
    case .memoryCgroup: "memory cgroup"
    case .memoryLimit: "memory limit"
    case .addresses: "addresses"
    case .hugePages: "huge pages"
    case .swap: "swap"
    case .cpus: "CPUs"
    case .limits: "limits"
    case .system: "system"
    case .explaining: "explain"
    case .noise: "noise"
    case .scenario: "scenario"
    }
  }

  fileprivate var text: String {
    switch self {
    case .measuring(nil): "possible"
    case .measuring(let restriction?):
      (restriction.diagnostic.place.map { "\($0): " } ?? "") + restriction.diagnostic.problem
    case .method(let method): "\(method.rawValue): \(method.peakText), \(method.treeText)"
    case .tracing(let isPermitted, let yama, let isFiltered):
      (isPermitted ? "permitted" : "not permitted")
        + (yama.map { ", kernel.yama.ptrace_scope is \($0)" } ?? ", without Yama")
        + (isFiltered ? ", under a seccomp filter" : ", no seccomp filter")
    case .memoryCgroup(let folder?): "made in \(folder)"
    case .memoryCgroup(nil): "none"
    case .memoryLimit(let limit?, let used): "\(limit) for Highwater and its targets, \(used) in use"
    case .memoryLimit(nil, _): "none for Highwater's own cgroup"
    case .addresses(_, canBeFixed: false): "random, and cannot be fixed"
    case .addresses(areRandom: true, _): "fixed for targets (ASLR off by personality(2))"
    case .addresses(areRandom: false, _): "fixed for all programs (kernel.randomize_va_space is 0)"
    case .hugePages(let mode): "transparent huge pages: \(mode)"
    case .swap(nil): "none"
    case .swap(let used?): "\(used) in use"
    case .cpus(let usable, let online): "\(usable) of \(online) may be used"
    case .limits(let openFiles, let processes):
      "\(openFiles) open files, \(processes.map(String.init) ?? "any number of") processes"
    case .system(let kernel, let architecture, let libc, let pageSize):
      "Linux \(kernel), \(architecture), \(libc), pages of \(Bytes(Int64(pageSize)))"
    case .explaining(nil): "not possible without ptrace"
    case .explaining(let limits?):
      limits.canStopAtFaults ? "call stacks of page faults and allocations" : "call stacks of allocations alone"
    case .noise(let noise): noise.text
    case .scenario(let name, let problem): "\(name): \(problem.displayText)"
    }
  }

  /// A remedy that is no note of results.
  fileprivate var hint: String? {
    switch self {
    case .measuring(let restriction?): restriction.diagnostic.hint
    case .scenario(_, let problem): problem.hintText
    case .noise(let noise): noise.hint
    case .method(let method): method.hint
    case .explaining(nil): "see ptrace above"
    case .explaining(let limits?) where !limits.texts.isEmpty: limits.texts.joined(separator: "; ")
    default: nil
    }
  }
}

extension MeasurementMethod {
  fileprivate var peakText: String { isTraced ? "exact peaks" : "sampled peaks" }
  /// What a better method needs; nil for the best one.
  fileprivate var hint: String? {
    let missing = [isTraced ? nil : "ptrace", isInCgroup ? nil : "memory cgroup"].compactMap(\.self)
    guard !missing.isEmpty else { return nil }
    return "`\(MeasurementMethod.tracedInCgroup.rawValue)` is better; see \(missing.joined(separator: " and ")) below"
  }

  fileprivate var treeText: String {
    isInCgroup ? "trees counted by the kernel" : "trees summed up from their processes"
  }
}

extension ProbeNoise {
  fileprivate var text: String {
    guard let range = ValueSummary(durations.map(\.inSeconds))?.range else { return "no run was measured" }
    let times = [range.lowerBound, range.upperBound].map { Format.exactTime(.seconds($0)) }
    return "\(peaks.count) identical runs of a shell: peaks differ by \(Format.amount(peakRange)) "
      + "(\(Format.amount(peaks.min() ?? .zero))); they took \(times[0]) to \(times[1])"
  }

  fileprivate var hint: String? {
    let texts = [
      isPeakNoisy ? "`highwater noise` shows which setting makes your scenarios quieter" : nil,
      isSlowed ? "other programs use the CPUs: run fewer jobs at a time, or expect more repetitions" : nil,
    ].compactMap(\.self)
    return texts.isEmpty ? nil : texts.joined(separator: "; ")
  }
}
