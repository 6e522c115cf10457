/// Finds the functions on call stacks whose code belongs to a dependency.
package struct StackDependencies {
  private let frames: [StackFrame]
  /// The names of the packages that the code of each frame may be of, all in one spelling.
  private let packages: [Set<String>]
  /// The names at the top of what the package of a dependency has installed, such as `bs4`; empty if they are unknown.
  private let installed: (DependencyChange) -> Set<String>

  /// - Parameters:
  ///   - frames: Of the stacks, the innermost first.
  ///   - installed: What a package manager knows of a package whose code has another name than it.
  package init(_ frames: [StackFrame], installed: @escaping (DependencyChange) -> Set<String> = { _ in [] }) {
    (self.frames, self.installed) = (frames, installed)
    packages = frames.map { frame in
      Set([Self.package(of: frame), frame.function.outermostScope].compactMap { $0.map(Self.normal) })
    }
  }

  /// The same places with the function of each dependency that is on the stacks; those with the innermost ones first.
  package func marked(_ places: [ChangedPlace]) -> [ChangedPlace] {
    let marked = places.map { place in
      let found = place.dependencies.map { dependency in
        let index = frame(of: dependency)
        var dependency = dependency
        dependency.function = index.map { frames[$0].function }
        return (dependency, depth: index ?? frames.count)
      }
      var place = place
      let ordered = Self.ordered(found) { $0.depth }
      place.dependencies = ordered.map(\.0)
      return (place, depth: ordered.first?.depth ?? frames.count)
    }
    return Self.ordered(marked) { $0.depth }.map(\.0)
  }

  /// The same by rank; those of one rank as they were.
  private static func ordered<Element>(_ all: [Element], _ rank: (Element) -> Int) -> [Element] {
    all.enumerated().sorted { (rank($0.element), $0.offset) < (rank($1.element), $1.offset) }.map(\.element)
  }

  /// The innermost frame of the dependency's code; nil without one, and for a dependency that was removed.
  private func frame(of dependency: DependencyChange) -> Int? {
    guard let version = dependency.now else { return nil }
    let names = Set(installed(dependency).map(Self.normal)).union([Self.normal(dependency.name)])
    return frames.indices.first { index in
      !names.isDisjoint(with: packages[index])
        || frames[index].file.map { Self.isFile($0, of: dependency.name, version) } ?? false
    }
  }

  /// The name of the installed package that a function belongs to: two parts of a path for a scope of npm.
  private static func package(of frame: StackFrame) -> String? {
    let function = frame.function
    if let module = singleModule(of: frame) { return module }
    let first = function.package
    guard first.count < function.module.count else { return nil }
    if first.hasPrefix("@") { return function.module.split(separator: "/").prefix(2).joined(separator: "/") }
    // auditwheel puts libraries beside the package.
    return first.hasSuffix(".libs") ? String(first.dropLast(5)) : String(first)
  }

  /// The name of a package that is one module without a folder, such as `six.py` or `ujson.so`.
  private static func singleModule(of frame: StackFrame) -> String? {
    let parts = frame.function.module.split(separator: "/")
    let isInstalled =
      parts.count == 1
      ? frame.file.flatMap(CodeOrigin.packageFolder) != nil
      : parts.count == 2 && CodeOrigin.isPackageFolder(parts[0])
    return isInstalled ? parts.last.map { String($0.prefix { $0 != "." }) } : nil
  }

  /// Whether a file is below `NAME@VERSION`, as in the cache of modules of Go, or `NAME-VERSION`, as in that of Cargo.
  private static func isFile(_ path: String, of name: String, _ version: String) -> Bool {
    path.contains("/\(name)@\(version)/") || path.contains("/\(name)-\(version)/")
  }

  /// Equal for all spellings of a name (PyPA, "Names and normalization").
  private static func normal(_ name: String) -> String {
    name.lowercased().replacing("_", with: "-").replacing(".", with: "-")
  }
}
