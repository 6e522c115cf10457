/// Whose code a file has, by the folder that it is in.
package enum CodeOrigin: Sendable, Hashable {
  /// The program's, as far as is known.
  case program
  case package
  /// The library that comes with a language.
  case language

  /// Where packages of Python (its module `sysconfig`; Debian's own are in `dist-packages`) and of Node.js are.
  private static let packageFolders = ["/site-packages/", "/dist-packages/", "/node_modules/"]
  /// Where the library of Python is (its module `sysconfig`), before the version's other digits.
  private static let pythonFolder = "/lib/python3"
  /// The folder in it of modules that are compiled.
  private static let compiledFolder = "lib-dynload/"
  /// What begins the files of Node.js's own library.
  static let nodeScheme = "node:"

  /// Of a script.
  package init(script path: String) {
    if path.hasPrefix(Self.nodeScheme) {
      self = .language
    } else {
      self = Self.installed(path)?.origin ?? .program
    }
  }

  /// Of a library or program by its name in a ``FunctionName``.
  init(module name: String) {
    let isInstalled = name.utf8.contains(UInt8(ascii: "/"))
    self = name.hasPrefix(Self.compiledFolder) ? .language : isInstalled ? .package : .program
  }

  /// The path below the folder that installed code is in, such as `pip/__init__.py`; nil for other code.
  static func installedPath(_ path: String) -> Substring? { installed(path)?.path }

  /// The folder that installed packages are in, as in `/usr/lib/python3/dist-packages/`; nil for other code.
  package static func packageFolder(_ path: String) -> Substring? {
    guard let installed = installed(path), installed.origin == .package else { return nil }
    return path[..<installed.path.startIndex]
  }

  /// Whether a folder of this name holds packages.
  static func isPackageFolder(_ name: Substring) -> Bool { packageFolders.contains("/\(name)/") }

  private static func installed(_ path: String) -> (origin: CodeOrigin, path: Substring)? {
    // Most paths have none of these.
    guard path.utf8.contains(UInt8(ascii: "/")) else { return nil }
    let folders = packageFolders.compactMap { path.ranges(of: $0).last?.upperBound }
    if let start = folders.max() { return (.package, path[start...]) }
    guard let python = path.firstRange(of: pythonFolder),
      let start = path[python.upperBound...].firstIndex(of: "/"),
      path[python.upperBound..<start].allSatisfy({ $0 == "." || $0.isNumber })
    else { return nil }
    return (.language, path[path.index(after: start)...])
  }
}

extension FunctionName {
  /// The name of the package whose code it is: the first part of the path below the folder of packages.
  var package: Substring { module.prefix { $0 != "/" } }

  /// Whether it is native code of an installed package, or of the language's library.
  package var isInstalled: Bool { !isScript && CodeOrigin(module: module) != .program }

  /// The last part of the module's path.
  var fileName: String {
    module.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(module[module.utf8.index(after: $0)...]) } ?? module
  }
}
