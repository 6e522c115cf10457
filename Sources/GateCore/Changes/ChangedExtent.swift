/// A changed function, type or value in the text of its file, which another function may use.
struct ChangedExtent {
  let kind: ChangedFunction.Kind
  let extent: FunctionExtent
  let file: String
  let line: Int
  let part: ChangedFile.Part
  /// Whether the part adds the whole function.
  let isNew: Bool
  let language: SourceLanguage?
  /// The function that uses it, so that the callers of that function depend on it.
  var user: User?

  struct User {
    let name: String
    let file: String
  }

  /// The name by which others call it: of a constructor that of its class.
  var calledName: String { user?.name ?? ownName }

  private var ownName: String { Self.constructors.contains(extent.name) ? extent.scopes.last ?? "" : extent.name }

  /// Of Python and JavaScript.
  private static let constructors: Set = ["__init__", "constructor"]

  func hit(calledBy caller: FunctionName, depth: Int) -> StackJoin.Hit {
    let isScript = language?.isScript == true
    func function(_ name: String, in file: String) -> FunctionName {
      FunctionName(module: String(TrackedFiles.name(of: file)), name: name, isScript: isScript)
    }
    return StackJoin.Hit(
      function: function((extent.scopes + [extent.name]).joined(separator: isScript ? "." : "::"), in: file),
      caller: user.map { function($0.name, in: $0.file) } ?? caller, file: file, line: line, part: part, kind: kind,
      isNew: kind == .function && isNew, depth: depth)
  }

  /// Whether lines of code call a function of this name, by the parenthesis behind it, or have the name of the type or value.
  func isUsed(in lines: [String]) -> Bool {
    let name = Array(calledName.utf8)
    return !name.isEmpty && lines.contains { isUsed(name, in: Array($0.utf8)) }
  }

  private func isUsed(_ name: [UInt8], in line: [UInt8]) -> Bool {
    var at = 0
    while at < line.count {
      let word = line[at...].prefix(while: \.isOfName)
      let isMeant = word.elementsEqual(name) && (kind != .function && user == nil || isCall(line[word.endIndex...]))
      if isMeant, canMean(line[..<at]) { return true }
      at = max(at + 1, word.endIndex)
    }
    return false
  }

  /// Also with arguments for types, as in `load<int>(…)` and `load::<u8>(…)`.
  private func isCall(_ rest: ArraySlice<UInt8>) -> Bool {
    let rest = rest.drop(while: \.isBlank).drop { $0 == UInt8(ascii: ":") }
    return rest.first == UInt8(ascii: "(") || rest.first == UInt8(ascii: "<") && rest.contains(UInt8(ascii: "("))
  }

  /// False behind the name of another type, as in `Other::put(…)`; names in capitals are constants, as in `CACHE.put(…)`.
  private func canMean(_ before: ArraySlice<UInt8>) -> Bool {
    let owner = before.reversed().drop { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".") }
    guard owner.count < before.count, let scope = extent.scopes.last else { return true }
    let name = String(decoding: owner.prefix(while: \.isOfName).reversed(), as: UTF8.self)
    return name == scope || name.first?.isUppercase != true || name.count > 1 && !name.contains(where: \.isLowercase)
  }
}
