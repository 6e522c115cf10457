import GateCore

/// Memory profiles of an approved build (`highwater.profile/1`): what later builds are compared with.
///
/// One line for each function and call, sorted by name, so that a diff shows what changed.
enum ProfileFile {
  /// The largest file, written or read, in bytes.
  static let largest = 256 << 10

  /// What the functions and calls of one process take of that at most.
  private static let largestProcess = 44 << 10

  /// What the lines of releases take of that at most.
  fileprivate static let largestReleases = 16 << 10

  /// 16 TiB, so that the sum of all amounts in a file cannot overflow.
  fileprivate static let largestAmount: Int64 = 1 << 44

  /// Calls and functions that hold less than this part of the anonymous memory are left out.
  private static let leastPart: Int64 = 1000

  /// So are those that hold less than three pages, in bytes: by two equal runs differ, and people review the file.
  private static let noise: Int64 = 12 << 10

  /// More processes are not stored: those that hold least.
  private static let mostProcesses = 16

  /// The profiles as JSON of at most ``largest`` bytes: if need be, without more of what holds least.
  static func encode(_ build: ProfiledBuild) -> [UInt8] {
    let processes = build.processes.filter(\.moment.isOfBuild)
      .sorted { $0.anonymous.median > $1.anonymous.median }.prefix(mostProcesses)
    var leasts = processes.map { process in
      let bytes = min(largestProcess, (largest - 4096 - largestReleases) / processes.count)
      return max(noise, process.anonymous.median / leastPart, ProfileDocument.least(of: process, bytes: bytes))
    }
    let releases = ReleaseLine.lines(of: build)
    while true {
      let documents = zip(processes, leasts).map { ProfileDocument($0, least: $1) }
      let document = BuildDocument(
        run: build.run, baseline: build.baseline, main: build.main, processes: documents, releases: releases)
      let bytes = JSON.encode(WithSchema(schema: .profile, content: document), .pretty)
      // Names with control characters take more than their length.
      if bytes.count <= largest { return bytes }
      leasts = leasts.map { $0 + max(1, $0 / 8) }
    }
  }

  /// Reads a file.
  static func read(_ path: String) throws(FileError) -> ProfiledBuild {
    try decode(try SafeFile.read(path, atMost: largest), path: path)
  }

  /// Decodes a summary; the path is for messages.
  static func decode(_ bytes: [UInt8], path: String) throws(FileError) -> ProfiledBuild {
    let hint = "write it again with `highwater explain --json FILE`"
    guard bytes.count <= largest else {
      throw FileError(
        code: .tooLarge, path: path, problem: "has \(bytes.count) bytes, at most \(largest) are allowed", hint: hint)
    }
    return try JSON.decode(DecodedProfile.self, from: bytes, path: path, hint: hint).build
  }
}

private struct DecodedProfile: Decodable {
  let build: ProfiledBuild

  init(from decoder: any Decoder) throws {
    try Schema.profile.check(decoder)
    let document = try BuildDocument(from: decoder)
    let processes = document.processes.map(\.summary)
    let found = ProfiledBuild(
      main: document.main, processes: processes, releases: ReleaseLine.releases(document.releases), run: document.run,
      baseline: document.baseline)
    guard let build = found else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath + [AnyCodingKey("processes")], debugDescription: "is empty"))
    }
    self.build = build
  }
}

private struct BuildDocument: Codable {
  let run: String?
  /// The ID of the approved run that it is of, if `approve` did not store it.
  let baseline: String?
  let main: String
  let processes: [ProfileDocument]
  /// `BYTES`, the process, the function that allocated, and those that released, separated by tabs.
  let releases: [ReleaseLine]
}

private struct ProfileDocument: Codable {
  let process: String
  let moment: MemoryProfile.Moment
  /// Of this name.
  let count: Int
  /// Of one of several processes of this name.
  let rank: Int?
  let method: MemoryProfile.Method
  let repetitions: Int
  let samplingInterval: Bytes
  let peak: Bytes
  /// `MEDIAN SPREAD ERROR NAME`, with the name `RssAnon`.
  let anonymous: PartLine
  let parts: [PartLine]
  /// Pages of files, and shared memory; nil if unknown.
  let files: Bytes?
  let shared: Bytes?
  /// In blocks, freed ones too; nil if unknown.
  let allocated: Bytes?
  /// Whether live blocks include the objects of a collected heap; absent if not.
  let hasObjects: Bool?
  /// The modules with debug information.
  let sourced: [String]
  /// Functions and calls that held less are not listed, in bytes.
  let least: Int64
  /// `LIVE SPREAD ERROR TOUCHED SPREAD NAME`, with callees.
  let functions: [FunctionLine]
  /// `DEPTH LIVE TOUCHED NAME`, with callees; the depth is the number of callers.
  let calls: [CallLine]
}

extension ProfileDocument {
  /// Of a process's name (`comm`), of which the kernel keeps 15 bytes.
  private static let longestProcess = 64

  fileprivate static func shortened(_ process: String) -> String {
    String(process.unicodeScalars.prefix(longestProcess))
  }

  init(_ summary: ProfileSummary, least: Int64) {
    process = Self.shortened(summary.process)
    (count, rank, moment) = (summary.processes, summary.rank, summary.moment)
    (files, shared, allocated) = (summary.files, summary.shared, summary.allocated)
    hasObjects = summary.heap.isSampled ? true : nil
    sourced = summary.sourced.sorted()
    self.least = max(least, summary.leastStored)
    (method, repetitions) = (summary.method, summary.repetitions)
    (samplingInterval, peak) = (summary.samplingInterval, summary.peak)
    anonymous = PartLine(amount: summary.anonymous, name: PartLine.whole)
    parts = summary.parts.map { PartLine(amount: $0.value, name: $0.key.coded) }.sorted { $0.name < $1.name }
    functions = summary.functions.filter { $0.live.median + $0.touched.median >= least }
      .sorted { $0.name < $1.name }
      .map(FunctionLine.init)
    calls = CallLine.lines(of: summary, least: least)
  }

  var summary: ProfileSummary {
    let amounts = parts.compactMap { line in (try? MemoryPart(coded: line.name)).map { ($0, line.amount) } }
    var summary = ProfileSummary(
      process: Self.shortened(process), method: method, repetitions: repetitions, samplingInterval: samplingInterval,
      peak: peak, anonymous: anonymous.amount, parts: Dictionary(amounts, uniquingKeysWith: { first, _ in first }))
    (summary.processes, summary.rank, summary.moment) = (count, rank, moment)
    (summary.files, summary.shared, summary.allocated) = (files, shared, allocated)
    if hasObjects == true { summary.heap = .sampled(.zero) }
    summary.sourced = Set(sourced)
    summary.leastStored = max(0, least)
    summary.add(functions.map { ($0.name, $0.live, $0.touched, $0.isInlined) }, calls: CallLine.calls(calls))
    return summary
  }

  /// The amount from which on all lines have about this many bytes.
  static func least(of summary: ProfileSummary, bytes: Int) -> Int64 {
    let names = summary.functions.map { $0.name.description.utf8.count }
    // Quotes, comma and numbers.
    var lines = zip(summary.functions, names).map { ($0.live.median + $0.touched.median, $1 + 40) }
    lines += summary.calls.map { ($0.weight.live + $0.weight.touched, names[$0.function] + 35) }
    var rest = bytes
    for (amount, size) in lines.sorted(by: { $0.0 > $1.0 }) {
      rest -= size
      if rest < 0 { return amount + 1 }
    }
    return 1
  }
}

// MARK: - Lines

/// A part of the memory: unknown ones are ignored.
private struct PartLine: SingleValueCodable {
  let amount: ProfileSummary.Estimate
  let name: String

  static let whole = "RssAnon"

  init(amount: ProfileSummary.Estimate, name: String) {
    (self.amount, self.name) = (amount, name)
  }

  var coded: String { "\(amount.median) \(amount.spread) \(amount.error) \(name)" }

  init(coded: String) throws {
    let (numbers, name) = try NumberedLine.parse(coded[...], numbers: 3)
    self.init(amount: .init(median: numbers[0], spread: numbers[1], error: numbers[2]), name: String(name))
  }
}

private struct FunctionLine: SingleValueCodable {
  let name: FunctionName
  let live: ProfileSummary.Estimate
  let touched: ProfileSummary.Estimate
  let isInlined: Bool

  init(_ function: ProfileSummary.Function) {
    (name, live, touched, isInlined) = (function.name, function.live, function.touched, function.isInlined)
  }

  var coded: String {
    "\(live.median) \(live.spread) \(live.error) \(touched.median) \(touched.spread) "
      + InlinedMark.added(to: name, isInlined)
  }

  init(coded: String) throws {
    let (numbers, text) = try NumberedLine.parse(coded[...], numbers: 5)
    (name, isInlined) = try InlinedMark.parse(text)
    live = .init(median: numbers[0], spread: numbers[1], error: numbers[2])
    touched = .init(median: numbers[3], spread: numbers[4])
  }
}

private struct CallLine: SingleValueCodable {
  let depth: Int
  let name: FunctionName
  let weight: CallTree.Weight
  let isInlined: Bool

  init(depth: Int, name: FunctionName, weight: CallTree.Weight, isInlined: Bool) {
    (self.depth, self.name, self.weight, self.isInlined) = (depth, name, weight, isInlined)
  }

  var coded: String {
    "\(depth) \(weight.live) \(weight.touched) \(InlinedMark.added(to: name, isInlined))"
  }

  init(coded: String) throws {
    let (numbers, text) = try NumberedLine.parse(coded[...], numbers: 3)
    let (name, isInlined) = try InlinedMark.parse(text)
    self.init(
      depth: Int(max(0, numbers[0])), name: name, weight: .init(live: numbers[1], touched: numbers[2]),
      isInlined: isInlined)
  }

  /// The calls that hold enough, each after its caller, sorted by name.
  static func lines(of summary: ProfileSummary, least: Int64) -> [CallLine] {
    let calls = summary.calls
    let kept = calls.indices.filter { calls[$0].weight.live + calls[$0].weight.touched >= least }
    let byCaller = Dictionary(grouping: kept) { calls[$0].parent }
    func sorted(below caller: Int?) -> [Int] {
      let calls = (byCaller[caller] ?? []).map { ($0, summary.functions[summary.calls[$0].function].name) }
      return calls.sorted { $0.1 < $1.1 }.map(\.0)
    }
    var lines: [CallLine] = []
    var open = sorted(below: nil).reversed().map { (call: $0, depth: 0) }
    while let (call, depth) = open.popLast() {
      let function = summary.functions[calls[call].function]
      lines.append(
        CallLine(
          depth: depth, name: function.name, weight: calls[call].weight, isInlined: function.isInlined))
      open += sorted(below: call).reversed().map { (call: $0, depth: depth + 1) }
    }
    return lines
  }

  /// The calls with the indexes of their callers; a line that is too deep belongs to the line before.
  static func calls(_ lines: [CallLine]) -> [ProfileSummary.StoredCall] {
    var callers: [Int] = []
    return lines.enumerated().map { index, line in
      callers.removeLast(max(0, callers.count - line.depth))
      defer { callers.append(index) }
      return (callers.last, line.name, line.weight, line.isInlined)
    }
  }
}

/// What was released in one way; its names have no tabs.
private struct ReleaseLine: SingleValueCodable {
  private static let separator: Character = "\t"
  /// More ways of one build are not stored.
  private static let most = 512

  let process: String
  let line: Releases.Line

  var coded: String {
    ([String(line.bytes), process, line.allocator.coded] + line.releasers.map(\.coded))
      .joined(separator: String(Self.separator))
  }

  init(process: String, line: Releases.Line) {
    (self.process, self.line) = (process, line)
  }

  init(coded: String) throws {
    let words = coded.split(separator: Self.separator, omittingEmptySubsequences: false)
    guard words.count >= 3, let bytes = Int64(words[0]), 0...ProfileFile.largestAmount ~= bytes else {
      let shown = NumberedLine.shown(coded[...])
      throw UnitError(problem: "is `\(shown)`, expected bytes, a process and functions", hint: "")
    }
    let names = try words.dropFirst(2).map { try FunctionName(coded: String($0)) }
    self.init(
      process: String(words[1]),
      line: Releases.Line(allocator: names[0], releasers: Array(names.dropFirst()), bytes: bytes))
  }

  /// Those with most bytes, as many as there is room for.
  static func lines(of build: ProfiledBuild) -> [ReleaseLine] {
    let all = build.releases.flatMap { process, releases in
      releases.lines.map { ReleaseLine(process: ProfileDocument.shortened(process), line: $0) }
    }
    var room = ProfileFile.largestReleases
    let kept = all.sorted { ($1.line.bytes, $0.coded) < ($0.line.bytes, $1.coded) }.prefix(most).filter { line in
      let fields = line.line.releasers.count + 3
      guard line.coded.count(where: { $0 == separator }) == fields - 1 else { return false }
      room -= line.coded.utf8.count + 10 + fields
      return room > 0
    }
    return kept.sorted { $0.coded < $1.coded }
  }

  static func releases(_ lines: [ReleaseLine]) -> [String: Releases] {
    Dictionary(grouping: lines, by: \.process).mapValues { Releases(lines: $0.map(\.line)) }
  }
}

/// What follows the name of a function that the compiler has inlined.
private enum InlinedMark {
  private static let text = " [inlined]"

  static func added(to name: FunctionName, _ isInlined: Bool) -> String { "\(name)\(isInlined ? text : "")" }

  static func parse(_ name: Substring) throws -> (FunctionName, Bool) {
    let isInlined = name.hasSuffix(text)
    return (try FunctionName(coded: String(isInlined ? name.dropLast(text.count) : name)), isInlined)
  }
}

/// Amounts in bytes and a name, separated by spaces.
private enum NumberedLine {
  static func parse(_ line: Substring, numbers count: Int) throws -> ([Int64], Substring) {
    let words = line.split(separator: " ", maxSplits: count, omittingEmptySubsequences: false)
    let numbers = words.prefix(count).compactMap { Int64($0) }
    guard numbers.count == count, words.count == count + 1 else {
      throw UnitError(problem: "is `\(shown(line))`, expected \(count) numbers and a name", hint: "")
    }
    guard numbers.allSatisfy({ $0.magnitude <= ProfileFile.largestAmount }) else {
      throw UnitError(problem: "is `\(shown(line))`, an amount is too large", hint: "")
    }
    return (numbers, words[count])
  }

  static func shown(_ text: Substring) -> String { String(text.prefix(80)).printable }
}

// MARK: - Profiles of a check

extension ArtifactsFolder {
  /// The profile of a scenario that the check `run` took, in this folder or in that of its result file; nil if there is
  /// none that can be read.
  func profile(of scenario: ScenarioName, in run: String, beside result: String? = nil) -> ProfiledBuild? {
    let folders = [result.map { ArtifactsFolder(path: SafeFile.folder(of: $0)) }, self].compactMap(\.self)
    return folders.lazy.compactMap { try? ProfileFile.read($0.profilePath(scenario)) }.first { $0.run == run }
  }

  func write(_ profile: ProfiledBuild, of scenario: ScenarioName) throws(FileError) {
    try SafeFile.write(ProfileFile.encode(profile), to: profilePath(scenario))
  }
}
