/// Names that Cython gives to the functions of a module (its `Compiler/Naming.py` and `Symtab.py`).
enum CythonName {
  private static let prefixes = ["__pyx_pw_", "__pyx_pf_", "__pyx_f_"]

  /// The name in the source, as in `Packer.pack` of `__pyx_pw_7msgpack_9_cmsgpack_6Packer_5pack` in
  /// `msgpack/_cmsgpack.so`; other names stay.
  static func plain(_ name: String, in module: String) -> String {
    guard let prefix = prefixes.first(where: name.hasPrefix) else { return name }
    var (rest, scopes) = (name.dropFirst(prefix.count), [Substring]())
    while let scope = scope(at: rest) {
      scopes.append(scope.name)
      rest = scope.rest
    }
    // Wrappers and bodies of Python functions are numbered.
    let function = prefix == "__pyx_f_" ? rest : rest.drop(while: \.isNumber)
    guard !function.isEmpty, !scopes.isEmpty else { return name }
    let path = module.split { $0 == "/" || $0 == "." }
    let own = scopes.dropFirst(zip(scopes, path).prefix(while: ==).count)
    return (own + [function]).joined(separator: ".")
  }

  /// A module or class: its length, its name and `_`.
  private static func scope(at text: Substring) -> (name: Substring, rest: Substring)? {
    let digits = text.prefix(while: \.isNumber)
    guard let length = Int(digits), length > 0 else { return nil }
    let rest = text.dropFirst(digits.count)
    let name = rest.prefix(length)
    // `1__init__` is the first function, `__init__`.
    guard rest.dropFirst(length).first == "_", name.contains(where: \.isLetter) else { return nil }
    return (name, rest.dropFirst(length + 1))
  }
}
