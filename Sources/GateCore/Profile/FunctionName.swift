/// A function by names that do not depend on the build: without versions, addresses and the compiler's suffixes.
package struct FunctionName: Sendable, Hashable {
  /// The library or program as in `libc.so`, or the script as in `server.py`; of installed code with its folders, as in
  /// `numpy/_core/numeric.py`; empty for code that no file holds.
  package let module: String
  /// Empty if it is unknown.
  package let name: String
  /// Whether it is a function of an interpreted or just-in-time compiled program.
  package let isScript: Bool

  /// Whether its source is of the Java platform's languages.
  package var isJava: Bool {
    isScript && (module.hasSuffix(".java") || module.hasSuffix(".kt") || module.hasSuffix(".scala"))
  }

  /// Whether several functions of a file may have it.
  package var isAnonymous: Bool { isScript && ["<anonymous>", "(anonymous)", "<lambda>"].contains(name) }

  /// Whether it is the code of a module of Python outside of functions.
  var isPythonModule: Bool { isScript && name == "<module>" }

  /// Longer names are cut, so that files of them stay small, in bytes.
  private static let longest = 400

  package init(module: String, name: String, isScript: Bool = false) {
    // The text of a name is split at these.
    let isSplit = module.utf8.contains { $0 == UInt8(ascii: "!") || $0 == UInt8(ascii: ":") }
    self.module = isSplit ? Self.withoutSeparators(module) : Self.cut(module)
    (self.name, self.isScript) = (Self.shortened(name), isScript)
  }

  private static func withoutSeparators(_ module: String) -> String {
    let scalars = cut(module).unicodeScalars.map { $0 == "!" || $0 == ":" ? "_" : $0 }
    return String(String.UnicodeScalarView(scalars))
  }

  /// A name that is too long without its return type and parameters, or without what is in angle brackets, too: what stands
  /// behind them is the function.
  private static func shortened(_ name: String) -> String {
    guard name.utf8.count > longest else { return name }
    let short = QualifiedName.of(name)
    return cut(short.utf8.count <= longest ? short : QualifiedName.withoutArguments(short))
  }

  private static func cut(_ text: String) -> String {
    text.utf8.count <= longest ? text : String(text.unicodeScalars.prefix(longest / 4))
  }

  package init(_ function: CallTree.Function) {
    self = function.module.isEmpty ? Self(script: function) : Self(native: function)
  }

  private init(native function: CallTree.Function) {
    let module = ModuleName.plain(function.module)
    self.init(module: module, name: Lambda.plain(SymbolName.plain(CythonName.plain(function.name, in: module))))
  }

  /// The function with the place that the name of generated code has, if that is all that is known; one that stands for the
  /// lambda that it calls has no place.
  static func source(of function: CallTree.Function) -> CallTree.Function {
    if function.module.isEmpty, function.file == nil { return SymbolName.generated(function.name) }
    return Lambda.isOther(than: function.name)
      ? CallTree.Function(module: function.module, name: function.name, isInlined: function.isInlined) : function
  }

  private init(script function: CallTree.Function) {
    let named = Self.source(of: function)
    let module = named.file.map { ModuleName.script($0) } ?? ""
    self.init(module: module, name: SymbolName.plain(named.name), isScript: !named.name.isEmpty)
  }
}

extension FunctionName {
  /// The name without parameters and return type; of a lambda of C++, that of the function around it.
  package var shortName: String { QualifiedName.of(name) }

  /// The crate of Rust or the namespace of C++ that native code is in, as `memchr` of `<memchr::Finder as Clone>::clone`; nil
  /// without one.
  var outermostScope: String? {
    guard !isScript else { return nil }
    let path = shortName.utf8.drop { "<&*[(".utf8.contains($0) }
    let scope = path.prefix(while: \.isOfName)
    let isScope = !scope.isEmpty && path[scope.endIndex...].starts(with: "::".utf8)
    return isScope ? String(scope) : nil
  }

  /// Whether reports show the same name, as of a function and a lambda in it.
  package func reads(like other: FunctionName) -> Bool {
    self == other || module == other.module && isScript == other.isScript && shortName == other.shortName
  }
}

extension FunctionName: Comparable {
  package static func < (left: Self, right: Self) -> Bool {
    (left.module, left.name) < (right.module, right.name)
  }
}

extension FunctionName: CustomStringConvertible {
  /// As in `libserver.so!remember`, `libserver.so!?`, `server.py:handle`, and without a module `!?`.
  package var description: String {
    module + (isScript ? ":" : "!") + (name.isEmpty ? "?" : name)
  }
}

/// Names of files as parts of function names.
enum ModuleName {
  /// As in `libc.so` of `/lib/libc-2.31.so.6 (deleted)`, and `lz4/frame/_frame.so` of an installed package.
  static func plain(_ path: String) -> String {
    let path = path.hasSuffix(deleted) ? String(path.dropLast(deleted.count)) : path
    let installed = CodeOrigin.installedPath(path) ?? (path.hasPrefix("/") ? lastPart(path[...]) : path[...])
    let file = lastPart(installed)
    guard let end = suffix(of: file) else { return String(installed) }
    return installed[..<file.startIndex] + library(file[..<end]) + ".so"
  }

  /// The last part of a script's path, with its folder if many scripts have that name; of installed code, in which the same
  /// names occur again and again, the path in its package or in the language's library.
  static func script(_ path: String) -> String {
    if let installed = CodeOrigin.installedPath(path) { return String(installed) }
    let file = lastPart(path.dropFirst(path.hasPrefix(CodeOrigin.nodeScheme) ? CodeOrigin.nodeScheme.count : 0))
    guard commonScripts.contains(String(file)) else { return String(file) }
    let folder = lastPart(path.dropLast(file.count + 1))
    return folder.isEmpty ? String(file) : "\(folder)/\(file)"
  }

  private static let commonScripts: Set = ["__init__.py", "__main__.py", "index.js", "index.mjs", "index.ts"]

  /// As the kernel writes it in `/proc/<pid>/maps`.
  private static let deleted = " (deleted)"

  private static func lastPart(_ path: Substring) -> Substring {
    path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path[path.utf8.index(after: $0)...] } ?? path
  }

  /// Where `.so` or `.so.6` begins.
  private static func suffix(of file: Substring) -> Substring.Index? {
    var end = file.endIndex
    while let dot = file[..<end].utf8.lastIndex(of: UInt8(ascii: ".")) {
      let part = file[file.utf8.index(after: dot)..<end]
      if part == "so" { return dot }
      guard part.utf8.allSatisfy(\.isDecimalDigit) else { return nil }
      end = dot
    }
    return nil
  }

  /// How many hexadecimal digits of a library's hash a wheel of Python adds to its name (auditwheel, `repair.py`).
  private static let wheelHash = 8

  /// Without a version as in `libc-2.31`, the tag of Python's extensions as in `_json.cpython-311-x86_64-linux-gnu`, and the
  /// hashes of wheels as in `libgfortran-040039e1`.
  private static func library(_ stem: Substring) -> String {
    for tag in [".cpython-", ".abi", ".pypy"] {  // text from outside: PEP 3149
      if let at = stem.firstIndex(of: "."), stem[at...].hasPrefix(tag) { return String(stem[..<at]) }
    }
    let hash = stem.suffix(wheelHash + 1)
    if stem.count > hash.count, hash.first == "-", hash.dropFirst().allSatisfy(\.isHexDigit) {
      return library(stem.dropLast(hash.count))
    }
    guard let dash = stem.lastIndex(of: "-") else { return String(stem) }
    let version = stem[stem.index(after: dash)...]
    let isVersion =
      version.contains(".") && version.utf8.allSatisfy { $0.isDecimalDigit || $0 == UInt8(ascii: ".") }
    return String(isVersion ? stem[..<dash] : stem)
  }
}

/// Names of functions, handled as bytes: some programs have ten thousands.
private enum SymbolName {
  /// Suffixes of symbol versions, and of parts and copies of functions that compilers make (GCC, LLVM).
  private static let suffixes = [
    "@", ".constprop.", ".isra.", ".part.", ".cold", ".lto_priv.", ".llvm.", " [clone ",
  ].map { Array($0.utf8) }

  /// Without the compiler's suffixes and hashes; empty if it is only an address.
  static func plain(_ name: String) -> String {
    // Most names have nothing to remove.
    guard name.hasPrefix("0x") || name.utf8.contains(where: isMark) else { return name }
    var text = Array(name.utf8)[...]
    if isAddress(text) { return "" }
    for suffix in suffixes {
      if let at = place(of: suffix, in: text) { text = text[..<at] }
    }
    return String(decoding: withoutCrateHashes(withoutOffset(withoutRustHash(text))), as: UTF8.self)
  }

  /// Whether suffixes and hashes contain it.
  private static func isMark(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "@"), UInt8(ascii: "."), UInt8(ascii: " "), UInt8(ascii: "["), UInt8(ascii: "+"),
      UInt8(ascii: ":"):
      true
    default: false
    }
  }

  private static func isAddress(_ text: ArraySlice<UInt8>) -> Bool {
    text.starts(with: "0x".utf8) && text.dropFirst(2).allSatisfy(\.isHexadecimalDigit)
  }

  /// A suffix is not the whole name; Objective-C, Go and Swift have names with `@` at the start only.
  private static func place(of suffix: [UInt8], in text: ArraySlice<UInt8>) -> Int? {
    text.indices.dropFirst().first { text[$0] == suffix[0] && text[$0...].starts(with: suffix) }
  }

  /// As in `server::remember::h0123456789abcdef` (Rust's legacy mangling).
  private static func withoutRustHash(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let hash = text.suffix(19)
    let isHash =
      hash.count == 19 && hash.starts(with: "::h".utf8) && hash.dropFirst(3).allSatisfy(\.isHexadecimalDigit)
    return isHash ? text.dropLast(19) : text
  }

  /// As in `remember+0x1f`.
  private static func withoutOffset(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    guard let plus = text.lastIndex(of: UInt8(ascii: "+")), plus > text.startIndex else { return text }
    let offset = text[(plus + 1)...]
    return offset.count > 2 && isAddress(offset) ? text[..<plus] : text
  }

  /// As in `server[0123456789abcdef]::remember` (Rust's v0 mangling).
  private static func withoutCrateHashes(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var (plain, rest) = ([] as ArraySlice<UInt8>, text)
    while let open = rest.firstIndex(of: UInt8(ascii: "[")),
      let close = rest[open...].firstIndex(of: UInt8(ascii: "]"))
    {
      let inside = rest[(open + 1)..<close]
      let isHash = inside.count >= 8 && inside.allSatisfy(\.isHexadecimalDigit)
      plain += rest[..<(isHash ? open : close + 1)]
      rest = rest[(close + 1)...]
    }
    return plain.isEmpty ? rest : plain + rest
  }

  /// The function of code that a runtime generated, by its name in a perf map: `py::handle:/srv/server.py` of CPython,
  /// `JS:*handle /srv/server.js:12:3` of V8.
  static func generated(_ name: String) -> CallTree.Function {
    python(name) ?? javaScript(name) ?? CallTree.Function(module: "", name: name)
  }

  private static func python(_ name: String) -> CallTree.Function? {
    guard name.hasPrefix("py::"), let end = name.lastIndex(of: ":") else { return nil }
    let function = name.dropFirst(4).prefix { $0 != ":" }
    return CallTree.Function(module: "", name: String(function), file: String(name[name.index(after: end)...]))
  }

  private static func javaScript(_ name: String) -> CallTree.Function? {
    let kinds = ["JS", "LazyCompile", "Function", "Script", "Eval"]
    let kind = name.prefix { $0 != ":" }
    guard kinds.contains(String(kind)), kind.count < name.count else { return nil }
    let call = name.dropFirst(kind.count + 1).drop { "*~^+-".contains($0) }
    guard let space = call.lastIndex(of: " ") else { return CallTree.Function(module: "", name: String(call)) }
    let parts = call[call.index(after: space)...].split(separator: ":", maxSplits: 1)
    let place = parts.dropFirst().first ?? ""
    let line = Int(place.prefix { ("0"..."9").contains($0) })
    // Code outside of functions is at the start of its module.
    let unnamed = place == "1:1" ? "(anonymous)" : "<anonymous>"
    let function = space == call.startIndex ? unnamed : String(call[..<space])
    return CallTree.Function(module: "", name: function, file: parts.first.map(String.init), line: line)
  }
}

/// Lambdas of C++.
private enum Lambda {
  /// Functions of the C++ library that only call another one, into which the compiler mostly inlines it.
  private static let callers: Set = [
    "_M_run", "_M_invoke", "__invoke", "__invoke_impl", "__invoke_r", "__thread_proxy", "operator()",
  ]

  /// The name of a lambda for its function, and for one of the library that calls it: `serve(int)::{lambda()#1}` of
  /// `serve(int)::{lambda()#1}::operator()() const` and of
  /// `std::thread::_State_impl<std::thread::_Invoker<std::tuple<serve(int)::{lambda()#1}> > >::_M_run()`.
  ///
  /// Clang's are as in `serve(int)::$_0`. Other names stay as they are.
  static func plain(_ name: String) -> String {
    // Most names have none of these.
    guard name.utf8.contains(where: { $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "$") }),
      let mark = name.firstRange(of: "::{lambda(") ?? name.firstRange(of: "::$_")
    else { return name }
    let function = QualifiedName.of(name)
    guard function.hasPrefix("std::") else {
      return name.ranges(of: "::operator()").last.map { String(name[..<$0.lowerBound]) } ?? name
    }
    return callers.contains(QualifiedName.lastPart(of: function)) ? argument(of: name, around: mark.lowerBound) : name
  }

  /// Whether a function of the library stands for the lambda that it calls.
  static func isOther(than name: String) -> Bool {
    plain(name) != name && QualifiedName.of(name).hasPrefix("std::")
  }

  /// The template argument around a place, without `&` and `&&` behind it.
  private static func argument(of name: String, around place: String.Index) -> String {
    var (before, behind) = (BracketDepth(), BracketDepth())
    let text = name.utf8
    let start = text[..<place].reversed().prefix { !separates($0, at: -before.after($0)) }.count
    let end = text[place...].prefix { !separates($0, at: behind.after($0)) }.endIndex
    return String(name[text.index(place, offsetBy: -start)..<end])
  }

  /// Whether a byte is not of an argument that it follows, at a depth of brackets.
  private static func separates(_ byte: UInt8, at depth: Int) -> Bool {
    depth < 0 || depth == 0 && ", &".utf8.contains(byte)
  }
}

/// How deep in brackets a place of a name is.
struct BracketDepth {
  private(set) var depth = 0
  private var previous = UInt8(ascii: " ")

  /// The depth behind one more byte.
  mutating func after(_ byte: UInt8) -> Int {
    switch byte {
    case UInt8(ascii: "<"), UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
    case UInt8(ascii: ">") where previous == UInt8(ascii: "-"): break  // an arrow
    case UInt8(ascii: ">"), UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
    default: break
    }
    previous = byte
    return depth
  }
}

/// The name of a function of C++ without its return type and parameters.
enum QualifiedName {
  /// Without template arguments, as in `_M_invoke` of `std::thread::_Invoker<int>::_M_invoke<0>`.
  static func lastPart(of name: String) -> String {
    var (brackets, start) = (BracketDepth(), name.startIndex)
    for index in name.utf8.indices where brackets.after(name.utf8[index]) == 0 && name.utf8[index] == UInt8(ascii: ":")
    {
      start = name.utf8.index(after: index)
    }
    return String(name[start...].prefix { $0 != "<" })
  }

  /// As in `Table<>::grow` of `Table<int, std::less<int> >::grow`.
  static func withoutArguments(_ name: String) -> String {
    var (brackets, plain) = (BracketDepth(), [UInt8]())
    // The depth of what is left out.
    var arguments: Int?
    for byte in name.utf8 {
      let depth = brackets.after(byte)
      if let arguments, depth >= arguments { continue }
      arguments = byte == UInt8(ascii: "<") ? depth : nil
      plain.append(byte)
    }
    return String(decoding: plain, as: UTF8.self)
  }

  /// As in `std::__invoke` of `void std::__invoke<int>(int)`, and `serve` of `serve::{lambda(int)#1}`.
  static func of(_ name: String) -> String {
    guard name.utf8.contains(where: { $0 == UInt8(ascii: "(") || $0 == UInt8(ascii: " ") }) else { return name }
    let text = Array(name.utf8)
    var (brackets, start) = (BracketDepth(), 0)
    for (index, byte) in text.enumerated() {
      if brackets.depth == 0 && isEnd(of: text[start..<index], before: text[index...]) {
        return String(decoding: text[start..<index], as: UTF8.self)
      }
      if brackets.after(byte) == 0 && byte == UInt8(ascii: " ") && !isOperator(text[..<index]) { start = index + 1 }
    }
    return String(decoding: text[start...], as: UTF8.self)
  }

  /// Whether parameters follow, or a lambda.
  private static func isEnd(of name: ArraySlice<UInt8>, before rest: ArraySlice<UInt8>) -> Bool {
    switch rest.first {
    case UInt8(ascii: "("): isOfParameters(name)
    case UInt8(ascii: ":"): rest.starts(with: "::{lambda(".utf8)
    default: false
    }
  }

  /// Whether parameters may follow: other parentheses are at the start of names, as in `(anonymous namespace)::f` and in
  /// Go's `main.(*Table).grow`, and belong to `operator()`.
  private static func isOfParameters(_ name: ArraySlice<UInt8>) -> Bool {
    guard let last = name.last else { return false }
    return last != UInt8(ascii: ".") && last != UInt8(ascii: ":") && !isOperator(name)
  }

  private static func isOperator(_ name: ArraySlice<UInt8>) -> Bool { name.suffix(8).elementsEqual("operator".utf8) }
}

extension UInt8 {
  fileprivate var isDecimalDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

  fileprivate var isHexadecimalDigit: Bool {
    isDecimalDigit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(self | 0x20)
  }
}
