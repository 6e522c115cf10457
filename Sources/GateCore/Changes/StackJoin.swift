/// Finds the functions on a call stack whose lines changed.
package struct StackJoin {
  private let files: [ScannedFile]
  /// The tracked file of a path in a call stack.
  private let tracked: (String) -> String?

  /// - Parameters:
  ///   - files: The changed files that ``mayConcern(_:_:)``.
  ///   - tracked: The tracked file that a path in a call stack means, relative to the top of the checkout.
  package init(_ files: [ChangedFile], tracked: @escaping (String) -> String?) {
    self.files = files.map(ScannedFile.init)
    self.tracked = tracked
  }

  /// A change of a function on a call stack, or of what one on it uses.
  package struct Hit: Sendable, Equatable {
    package var function: FunctionName
    /// The function on the call stack that uses it; nil if it is on the call stack itself.
    package var caller: FunctionName?
    package var file: String
    package var line: Int
    package var part: ChangedFile.Part
    /// The other changes of the function.
    package var others: [ChangedFile.Part] = []
    package var kind = ChangedFunction.Kind.function
    /// Whether the change adds the whole function.
    package var isNew = false
    /// Whether it is a value in the file of the function that uses it.
    package var isOwnValue = false
    /// How far from the innermost function.
    package var depth: Int
    /// How many lines are between the change and the frame's statement, 0 for its own line; nil if that is unknown.
    var distance: Int?

    /// The changed lines that explain most: only that through which the memory came, if it is one of them.
    package var lines: ChangedFile.Part {
      distance == 0 ? ChangedFile.Part(before: part.before, now: line..<line + 1) : part
    }

    /// Whether it adds the line through which the memory came, or changes the innermost function.
    package var isCertain: Bool { isNewCall || caller == nil && depth == 0 }

    /// Whether it adds the line through which the memory came.
    package var isNewCall: Bool { caller == nil && isNewStatement }

    /// What more likely explains a rise is less: a new call, then what is further in, and a function before what it uses.
    package var order: (Int, Int, Int) { (isNewStatement ? 0 : 1, depth, caller == nil ? 0 : 1) }

    /// Whether it is the change of a place, of which the function's first changed line is known.
    package func isAt(_ place: ChangedPlace) -> Bool {
      file == place.file && (line == place.line || function.plainName.map { $0 == place.function } == true)
    }

    /// Whether both begin at one line, of whatever function.
    package func isAtSamePlace(as other: Hit) -> Bool { (file, line) == (other.file, other.line) }
  }

  /// Whether a changed file may have the code of a frame, so that its text is needed.
  package static func mayConcern(_ path: String, _ frame: StackFrame, file: String?) -> Bool {
    guard frame.file == nil else { return file == path }
    guard let language = SourceLanguage(path: path) else { return false }
    return frame.line == nil && language.isScript == frame.function.isScript && frame.function.plainName != nil
  }

  /// The changes of each function, the one that most likely explains the rise first: a changed line through which the
  /// memory came before another line of the function, and then the innermost function.
  package func hits(on frames: [StackFrame]) -> [Hit] {
    let all = frames.enumerated().compactMap { depth, frame in best(hits(on: frame, depth: depth)) }
    // A function and a lambda in it have the same lines.
    var seen: Set<SourcePlace> = []
    return all.sorted { $0.order < $1.order }.filter { hit in
      seen.insert(SourcePlace(file: hit.file, line: hit.line, column: 1)).inserted
    }
  }

  /// What changed and is used by functions on a call stack: functions that they call, as one that no longer releases what
  /// another one allocated, types with other fields, of which they may have many, and values outside of functions; those of the
  /// innermost function first.
  ///
  /// They are found by their names, which must be unique among the changed ones. `text` is asked once for each file of a
  /// function on the call stack, as it is now.
  package func used(by frames: [StackFrame], in text: (String) -> ChangedFile?) -> [Hit] {
    hits(of: files.flatMap(\.changedExtents), usedBy: frames, in: text)
  }

  /// What changed and is used by functions of these files which functions on a call stack use in turn, as a limit that is asked
  /// for further in.
  package func used(by frames: [StackFrame], through users: [ChangedFile], in text: (String) -> ChangedFile?) -> [Hit] {
    let scanned = users.map(ScannedFile.init)
    let changed = files.flatMap(\.changedExtents).flatMap { changed -> [ChangedExtent] in
      let users = scanned.flatMap { $0.users(of: changed) }
      guard users.count <= Self.mostUsers else { return [] }
      return users.map { user in
        var through = changed
        through.user = user
        return through
      }
    }
    return hits(of: changed, usedBy: frames, in: text)
  }

  /// What more functions use says little of the one on a call stack.
  private static let mostUsers = 5

  /// The names of what changed and may be used elsewhere.
  package var usableNames: [String] { files.flatMap(\.changedExtents).map(\.calledName).filter { $0.utf8.count > 2 } }

  private func hits(
    of changed: [ChangedExtent], usedBy frames: [StackFrame], in text: (String) -> ChangedFile?
  ) -> [Hit] {
    var left = Dictionary(grouping: changed, by: \.calledName).compactMapValues { named in
      // A constructor has the name of its type.
      let functions = named.filter { $0.kind == .function }
      return named.count - functions.count <= 1 && functions.count <= 1 ? functions.first ?? named.first : nil
    }
    guard !left.isEmpty else { return [] }
    var scanned: [String: ScannedFile?] = [:]
    return frames.enumerated().flatMap { depth, frame -> [Hit] in
      guard let path = frame.file.flatMap(tracked) else { return [] }
      let file = scanned[path] ?? text(path).map(ScannedFile.init)
      scanned[path] = .some(file)
      guard let (header, body) = file?.lines(of: frame) else { return [] }
      // A function's own name stands in its header.
      let used = left.values.filter { $0.isUsed(in: $0.kind == .type ? header + body : body) }
      let found = used.sorted { $0.line < $1.line }
      for function in found { left[function.calledName] = nil }
      return found.map { changed in
        var hit = changed.hit(calledBy: frame.function, depth: depth)
        hit.isOwnValue = hit.kind == .value && hit.file == path
        return hit
      }
    }
  }

  /// The nearest of the changes of one function, with the others.
  private func best(_ hits: [Hit]) -> Hit? {
    guard var best = hits.min(by: { ($0.distance ?? .max, $0.line) < ($1.distance ?? .max, $1.line) }) else {
      return nil
    }
    let part = best.part
    best.others = hits.map(\.part).filter { $0 != part }
    return best
  }

  private func hits(on frame: StackFrame, depth: Int) -> [Hit] {
    if let path = frame.file {
      guard let tracked = tracked(path), let file = files.first(where: { $0.file.path == tracked }) else { return [] }
      return file.changes(of: frame, depth: depth)
    }
    let named = files.filter { Self.mayConcern($0.file.path, frame, file: nil) && $0.has(frame.function) }
    // Of functions of one name, nobody knows which it is.
    return named.count == 1 ? named[0].changes(of: frame, depth: depth) : []
  }
}

extension StackJoin.Hit {
  /// Whether the statement of the frame itself is new: one that others replace has called the same before, as a rule.
  fileprivate var isNewStatement: Bool { part.before.isEmpty && distance.map { $0 <= 1 } ?? false }
}

extension FunctionName {
  /// The name without types, modules and the lambdas in it; nil without one, and for the top of a script.
  var plainName: String? {
    var text = shortName[...]
    // text from outside: names of closures in C++, Rust and Go
    for mark in ["::{", "::$_", ".func", ".<locals>"] {
      if let end = text.firstRange(of: mark) { text = text[..<end.lowerBound] }
    }
    let name = QualifiedName.lastPart(of: String(text)).split(separator: ".").last.map(String.init) ?? ""
    return name.isEmpty || name.hasPrefix("<") || name.hasPrefix("(") ? nil : name
  }

  /// The types and modules of the name.
  fileprivate var scopes: Set<Substring> { Set(shortName.split { $0 == ":" || $0 == "." || $0 == "<" || $0 == ">" }) }
}

/// A changed file with its functions before and after, and the types now.
private struct ScannedFile {
  let file: ChangedFile
  private let language: SourceLanguage?
  private let before: [FunctionExtent]
  private let now: [FunctionExtent]
  private let typesBefore: [FunctionExtent]
  private let types: [FunctionExtent]
  private let parts: [ChangedFile.Part]

  init(_ file: ChangedFile) {
    self.file = file
    parts = file.codeParts
    language = SourceLanguage(path: file.path)
    let former = language.map { FunctionExtent.withTypes(in: file.before, $0) } ?? []
    let all = language.map { FunctionExtent.withTypes(in: file.now, $0) } ?? []
    (before, typesBefore) = (former.filter { !$0.isType }, former.filter(\.isType))
    (now, types) = (all.filter { !$0.isType }, all.filter(\.isType))
  }

  /// The functions that changed parts are in, the types whose fields they are, and the values that they give, each once.
  var changedExtents: [ChangedExtent] {
    var seen: Set<String> = []
    return parts.flatMap { part -> [ChangedExtent] in
      func changed(_ kind: ChangedFunction.Kind, _ found: [(FunctionExtent, Int)]) -> [ChangedExtent] {
        found.map {
          ChangedExtent(
            kind: kind, extent: $0, file: file.path, line: $1, part: part, isNew: isNew($0, by: part),
            language: language)
        }
      }
      let functions = now.reversed().lazy.compactMap { own in changedLine(of: part, in: own).map { (own, $0) } }
      let found =
        functions.first.map { changed(.function, [$0]) }
        ?? changed(.type, changedTypes(by: part)) + changed(.value, changedValues(by: part))
      return found.filter { each in
        !each.extent.name.isEmpty && seen.insert("\(each.extent.name) \(each.extent.lines.lowerBound)").inserted
      }
    }
  }

  /// The functions that use what changed; shorter names mean too many others.
  func users(of changed: ChangedExtent) -> [ChangedExtent.User] {
    now.filter { own in
      own.name.utf8.count > 2 && own.name != changed.calledName
        && changed.isUsed(in: own.lines.map { file.now[$0 - 1] }.filter { !isComment($0) })
    }.map { ChangedExtent.User(name: $0.name, file: file.path) }
  }

  /// What a part gives other values outside of functions and types.
  private func changedValues(by part: ChangedFile.Part) -> [(FunctionExtent, Int)] {
    part.now.compactMap { line in
      let isInside = (now + types).contains { $0.lines.contains(line) }
      guard !isInside, let name = language?.nameOfValue(in: file.now[line - 1]) else { return nil }
      return (FunctionExtent(name: name, scopes: [], lines: line...line), line)
    }
  }

  /// The innermost type that a part gives other fields, by its name and by that of a `typedef`, with the first such line.
  private func changedTypes(by part: ChangedFile.Part) -> [(FunctionExtent, Int)] {
    let changed = types.compactMap { own in changedLine(of: part, inType: own).map { (own, $0) } }
    return changed.filter { $0.0.lines == changed.last?.0.lines }
  }

  /// The first line that gives a type other fields or, in Python, other bases or no slots; nil if none does.
  private func changedLine(of part: ChangedFile.Part, inType own: FunctionExtent) -> Int? {
    let lines = part.now.clamped(to: Range(own.lines))
    func isHeader(_ line: Int) -> Bool {
      language == .python && types.last { $0.lines.contains(line) } == own
        && file.now[line - 1].drop(while: \.isWhitespace).hasPrefix("class ")  // text from outside: source code
    }
    if let line = lines.first(where: { mayBeField($0) || isHeader($0) }) { return line }
    let hasRemoved = typesBefore.contains { former in
      former.isNamed(like: own)
        && part.before.clamped(to: Range(former.lines)).contains { line in
          !isComment(file.before[line - 1]) && !before.contains { $0.lines.contains(line) }
        }
    }
    return part.now.isEmpty && hasRemoved ? max(part.now.lowerBound - 1, own.lines.lowerBound) : nil
  }

  /// Whether a line outside of functions is neither a comment nor the declaration of a function.
  private func mayBeField(_ line: Int) -> Bool {
    let text = file.now[line - 1]
    guard text.contains(where: { $0.isLetter || $0 == "_" }), !isComment(text), !text.hasSuffix(":"),
      !now.contains(where: { $0.lines.contains(line) })
    else { return false }
    guard language == .c else { return true }
    // text from outside: what may follow the parameters
    let words = text.split { " ;\t\r".contains($0) }
    let rest = words.reversed().drop {
      ["=", "0", "const", "noexcept", "override", "final", "default", "delete"].contains($0)
    }
    return rest.first?.hasSuffix(")") != true || rest.contains("=")
  }

  /// The first line of a frame's function and the others, or those of a script outside of functions, all without comments;
  /// nil if they are unknown.
  func lines(of frame: StackFrame) -> (header: [String], body: [String])? {
    func texts(_ numbers: some Sequence<Int>) -> [String] {
      numbers.map { file.now[$0 - 1] }.filter { !isComment($0) }
    }
    if frame.function.isTopOfScript {
      let lines = 1..<file.now.count + 1
      return ([], texts(lines.filter { line in !now.contains { $0.lines.contains(line) } }))
    }
    return extent(of: frame).map { (texts($0.lines.prefix(1)), texts($0.lines.dropFirst())) }
  }

  func has(_ function: FunctionName) -> Bool { !extents(of: function, in: now).isEmpty }

  func changes(of frame: StackFrame, depth: Int) -> [StackJoin.Hit] {
    let own = extent(of: frame)
    return parts.compactMap { part in
      guard let line = line(of: part, in: own, of: frame) else { return nil }
      let distance = frame.line.map { at in
        if part.now.contains(at) { return 0 }
        return part.now.overlaps(statement(at: at))
          ? 1 : max(2, min(abs(line - at), abs(part.now.upperBound - 1 - at)))
      }
      return StackJoin.Hit(
        function: frame.function, file: file.path, line: line, part: part,
        isNew: own.map { isNew($0, by: part) } ?? false, depth: depth, distance: distance)
    }
  }

  private static let longestStatement = 30

  /// The lines from this one on to that which closes its parentheses, as of a call with an argument on each line.
  private func statement(at line: Int) -> Range<Int> {
    var (depth, last) = (0, line)
    for number in line..<min(line + Self.longestStatement, file.now.count + 1) {
      for byte in file.now[number - 1].utf8 {
        if "([".utf8.contains(byte) { depth += 1 }
        if ")]".utf8.contains(byte) { depth -= 1 }
      }
      last = number
      if depth <= 0 { break }
    }
    return line..<last + 1
  }

  /// The line at which a part changes a function; nil if it does not.
  private func line(of part: ChangedFile.Part, in own: FunctionExtent?, of frame: StackFrame) -> Int? {
    if let at = frame.line, part.now.contains(at) { return at }
    return own.flatMap { changedLine(of: part, in: $0) }
  }

  private func changedLine(of part: ChangedFile.Part, in own: FunctionExtent) -> Int? {
    let lines = part.now.clamped(to: Range(own.lines))
    if let changed = lines.first(where: { !isComment(file.now[$0 - 1]) }) { return changed }
    guard part.now.isEmpty || !lines.isEmpty, hasRemoved(part, from: own) else { return nil }
    return min(max(part.now.lowerBound - 1, own.lines.lowerBound), own.lines.upperBound)
  }

  /// Whether the function had lines before that a part removes.
  private func hasRemoved(_ part: ChangedFile.Part, from own: FunctionExtent) -> Bool {
    before.contains { $0.isNamed(like: own) && !part.before.clamped(to: Range($0.lines)).isEmpty }
  }

  /// Whether a part adds all lines of a function, which the text before does not have elsewhere.
  ///
  /// A diff may take the closing brace of one function for that of another.
  private func isNew(_ own: FunctionExtent, by part: ChangedFile.Part) -> Bool {
    part.now.contains(own.lines.lowerBound) && own.lines.dropLast().allSatisfy(part.now.contains)
      && !before.contains { $0.isNamed(like: own) }
  }

  // MARK: Functions

  /// The function of a frame in the text now: by its line, else by its name.
  ///
  /// The top of a script has no lines of its own: only that of the frame counts.
  private func extent(of frame: StackFrame) -> FunctionExtent? {
    let name = frame.function.plainName
    guard let line = frame.line else {
      let named = extents(of: frame.function, in: now)
      return named.count == 1 ? named[0] : nil
    }
    let around = now.filter { $0.lines.contains(line) }
    guard let name else { return frame.function.isTopOfScript ? nil : around.last }
    return around.last { $0.name == name } ?? around.last ?? extents(of: frame.function, in: now).first
  }

  /// Those with the name; of several, those whose scopes are also in it.
  private func extents(of function: FunctionName, in all: [FunctionExtent]) -> [FunctionExtent] {
    guard let name = function.plainName else { return [] }
    let named = all.filter { $0.name == name }
    // V8 gives a constructor the name of its class.
    guard !named.isEmpty else { return all.filter { $0.name == "constructor" && $0.scopes.last == name } }
    guard named.count > 1 else { return named }
    let scopes = function.scopes
    let exact = named.filter { extent in extent.scopes.contains { scopes.contains($0[...]) } }
    return exact.isEmpty ? named : exact
  }

  private func isComment(_ line: String) -> Bool { SourceLanguage.isComment(line, in: language) }
}

extension FunctionName {
  /// Whether the program or a script starts with it.
  package var isStart: Bool { isTopOfScript || plainName == "main" }

  /// Whether it is the code of a script outside of functions.
  fileprivate var isTopOfScript: Bool { isScript && (name == "<module>" || name == "(anonymous)") }
}
