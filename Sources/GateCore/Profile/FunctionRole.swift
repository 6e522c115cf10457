/// What a function is to the question of who holds memory.
package enum FunctionRole: Sendable, Hashable {
  /// One of the program or of a library.
  case own
  /// Where a program or a script starts: it says nothing unless it holds memory itself.
  case entry
  /// One that only allocates for its caller.
  case allocator
  /// The C library and the loader.
  case system
  /// A language's runtime, with the collected heap in which its memory is, if it has one.
  case runtime(CollectedRuntime?)
  /// Code without a name in no file.
  case unknown

  /// Whether it can be named as the function that holds memory.
  package var isNamed: Bool { self == .own || self == .entry }
}

/// Names of Rust's functions.
private enum RustName {
  private static let library: Set<Substring> = ["core", "alloc", "std", "hashbrown"]

  /// Whether it is a function of Rust's library: `core::ptr::write`, `<str>::repeat`, `<u64 as core::fmt::Display>::fmt`,
  /// but neither `<server::Key as core::fmt::Display>::fmt` nor `<u64 as server::Store>::keep`.
  static func isOfLibrary(_ name: String) -> Bool {
    guard name.hasPrefix("<") else { return name.contains("::") && isInLibrary(name[...]) }
    // A method belongs to the crate of its type or to that of its trait.
    return typeAndTrait(of: name.dropFirst()).allSatisfy(isInLibrary)
  }

  /// What `<Type as Trait>::method` and `<Type>::method` have between their brackets.
  private static func typeAndTrait(of name: Substring) -> [Substring] {
    var (brackets, parts, start) = (BracketDepth(), [] as [Substring], name.startIndex)
    for index in name.utf8.indices {
      let depth = brackets.after(name.utf8[index])
      if depth < 0 { return parts + [name[start..<index]] }
      // text from outside: Rust's v0 names
      if depth == 0 && name.utf8[index] == UInt8(ascii: " ") && name[index...].hasPrefix(" as ") {
        parts.append(name[start..<index])
        start = name.utf8.index(index, offsetBy: 4)
      }
    }
    return parts + [name[start...]]
  }

  /// Types without a path, such as `u64`, `[T]` and tuples, are the language's own.
  private static func isInLibrary(_ path: Substring) -> Bool {
    var path = path
    while let word = ["&", "mut ", "dyn "].first(where: path.hasPrefix) { path = path.dropFirst(word.count) }
    if path.hasPrefix("<") { return isOfLibrary(String(path)) }
    let crate = path.prefix { $0 != ":" && $0 != "<" && $0 != "[" && $0 != "(" && $0 != "*" }
    return !path.dropFirst(crate.count).hasPrefix("::") || library.contains(crate)
  }
}

/// Names of Go's functions.
private enum GoName {
  /// The first parts of the paths of its library's packages (`go list std`, Go 1.25).
  private static let library: Set<Substring> = [
    "archive", "bufio", "bytes", "cmp", "compress", "container", "context", "crypto", "database", "debug", "embed",
    "encoding", "errors", "expvar", "flag", "fmt", "go", "hash", "html", "image", "index", "internal", "io", "iter",
    "log", "maps", "math", "mime", "net", "os", "path", "plugin", "reflect", "regexp", "runtime", "slices", "sort",
    "strconv", "strings", "structs", "sync", "syscall", "testing", "text", "time", "unicode", "unique", "unsafe",
    "vendor", "weak",
  ]

  /// Whether it is a function of Go's library, as `encoding/json.Marshal` and `strings.(*Builder).grow`: the paths of other
  /// packages begin with `main` or the name of a host.
  static func isOfLibrary(_ name: String) -> Bool { library.contains(name.prefix { $0 != "." && $0 != "/" }) }
}

/// The roles of the functions of one program.
///
/// Rust's and C++'s names are alike: `core::` is only Rust's library if the program has Rust's runtime.
struct RoleTable {
  private let isRust: Bool
  /// The runtime in whose heap objects are that no stack tells, if the program has one.
  let collected: CollectedRuntime?

  init(_ functions: some Sequence<FunctionName>) {
    isRust = functions.contains { Self.rustMarks.match($0.name) }
    let shortNames = functions.map { (name: $0, short: $0.shortName) }
    collected =
      Self.rules.first { rule in
        rule.collected != nil && shortNames.contains { rule.matches($0.name, short: $0.short) }
      }?.collected
  }

  /// Whether a module's code is of no runtime.
  func isOwn(_ name: FunctionName) -> Bool { role(of: name).isNamed }

  func role(of name: FunctionName) -> FunctionRole {
    if name.name.isEmpty && name.module.isEmpty { return .unknown }
    let short = name.shortName
    if let rule = Self.rules.first(where: { $0.matches(name, short: short) }) { return rule.role }
    let isOfLibrary = isRust && RustName.isOfLibrary(short) || collected == .go && GoName.isOfLibrary(short)
    return isOfLibrary ? .runtime(nil) : .own
  }
}

/// Names, each exact, or with a `*` at its start or end for any text.
struct NamePatterns: ExpressibleByArrayLiteral {
  private var exact: Set<String> = []
  /// By their first byte, since there are many.
  private var prefixes: [UInt8: [String]] = [:]
  private var suffixes: [String] = []

  init(arrayLiteral patterns: String...) {
    for pattern in patterns {
      if pattern.last == "*", let first = pattern.utf8.first {
        prefixes[first, default: []].append(String(pattern.dropLast()))
      } else if pattern.first == "*" {
        suffixes.append(String(pattern.dropFirst()))
      } else {
        exact.insert(pattern)
      }
    }
  }

  func match(_ name: String) -> Bool {
    guard let first = name.utf8.first else { return false }
    return exact.contains(name) || prefixes[first]?.contains(where: name.hasPrefix) ?? false
      || suffixes.contains(where: name.hasSuffix)
  }
}

extension RoleTable {
  /// The functions of one role.
  private struct Rule {
    let role: FunctionRole
    var modules: NamePatterns = []
    var names: NamePatterns = []
    var scripts: NamePatterns = []
    /// Of code that a runtime generated, of which no file is known.
    var generated: NamePatterns = []
    /// Of such code's methods, without the types that they return and take.
    var classes: NamePatterns = []

    var collected: CollectedRuntime? {
      if case .runtime(let runtime) = role { runtime } else { nil }
    }

    /// `name` is the function's short name: Java's have parameters as well.
    func matches(_ function: FunctionName, short name: String) -> Bool {
      if modules.match(function.fileName) { return true }
      guard function.isScript else { return names.match(name) }
      if function.module.isEmpty || function.isJava, classes.match(name) { return true }
      return [name, function.name].contains { name in
        scripts.match(name) || function.module.isEmpty && generated.match(name)
      }
    }
  }

  private static let rustMarks: NamePatterns = [
    "std::rt::*", "std::sys::*", "__rust_*", "rust_begin_unwind", "rust_eh_personality",
  ]

  /// The first that matches counts.
  private static let rules = [
    Rule(
      role: .allocator,
      modules: [
        "libhighwater-allocations.so", "libjemalloc.so", "libtcmalloc.so", "libtcmalloc_minimal.so", "libmimalloc.so",
      ],
      names: [
        // The C library's, of static programs too.
        "malloc", "calloc", "realloc", "reallocarray", "memalign", "aligned_alloc", "posix_memalign", "valloc",
        "pvalloc", "free", "_int_malloc", "_int_realloc", "_int_memalign", "_int_free", "_mid_memalign", "sysmalloc*",
        "systrim*", "malloc_consolidate", "tcache_init", "arena_get2*", "alloc_new_heap", "new_heap", "grow_heap",
        "ptmalloc_init*", "__libc_malloc*", "__libc_calloc*", "__libc_realloc*", "__libc_memalign*", "__malloc*",
        "__calloc*", "__realloc*", "strdup", "__strdup", "strndup", "__strndup",
        // Other allocators, linked statically.
        "je_*", "tcmalloc::*", "tc_malloc*", "tc_calloc*", "tc_realloc*", "tc_new*", "mi_malloc*", "mi_calloc*",
        "mi_zalloc*", "mi_realloc*", "mi_heap_*", "mi_new*", "_mi_*", "do_malloc*",
        // Those of languages.
        "operator new*", "operator delete*", "_Znw*", "_Zna*", "__rust_alloc*", "__rust_realloc*", "__rdl_*", "__rg_*",
        "swift_allocObject*", "_swift_allocObject*", "swift_slowAlloc*", "swift_allocBox*", "swift_bufferAllocate*",
        "__gnu_cxx::new_allocator*", "std::__new_allocator*", "std::allocator_traits*", "std::allocator<*",
        // What widespread programs and libraries wrap around them.
        "l_alloc", "luaM_*", "*_malloc", "*_calloc", "*_realloc", "*_strdup", "emalloc*", "ecalloc*", "ezalloc*",
        "erealloc*", "estrdup*",
        "g_malloc*", "g_realloc*", "g_try_malloc*", "g_slice_*", "g_strdup*", "xmalloc*", "xcalloc*", "xrealloc*",
        "xstrdup*", "zmalloc*", "zcalloc*", "zrealloc*", "ztrymalloc*", "ztrycalloc*", "ztryrealloc*",
        "sqlite3_malloc*", "sqlite3Malloc*", "sqlite3MemMalloc*", "sqlite3MemRealloc*", "sqlite3DbMalloc*",
        "sqlite3DbRealloc*", "sqlite3Realloc*", "palloc*", "repalloc*", "AllocSet*", "MemoryContextAlloc*",
        "ngx_alloc", "ngx_calloc", "ngx_memalign*", "ngx_palloc*", "ngx_pnalloc*", "ngx_pcalloc*", "ngx_create_pool",
        "apr_palloc*", "CRYPTO_malloc*", "CRYPTO_zalloc*", "CRYPTO_realloc*",
      ]),
    Rule(
      role: .system,
      modules: [
        "libc.so", "ld.so", "libpthread.so", "libdl.so", "librt.so", "libm.so", "ld-linux*", "ld-musl*", "libc.musl*",
        "[vdso]", "linux-vdso.so",
      ],
      names: [
        "_start", "start_thread", "clone", "clone3", "__clone*", "__libc_start*", "__libc_*", "_dl_*", "_IO_*", "mmap",
        "mmap64", "__mmap*", "brk", "__brk", "sbrk", "__sbrk", "mremap", "memset", "memcpy", "memmove", "__memset*",
        "__memcpy*", "__memmove*", "__strcpy*", "__stpcpy*", "__restore_rt",
      ],
      generated: ["\(CallTree.Function.copyAfterFork.name)", "\(CallTree.Function.release.name)"]),
    Rule(
      role: .runtime(.go), names: ["runtime.*", "runtime/*", "internal/runtime/*", "_rt0_*"]),
    Rule(
      role: .runtime(.java), modules: ["libjvm.so", "libjli.so", "java", "libhighwater-java.so"],
      generated: [
        "Interpreter", "StubRoutines*", "call_stub*", "* stub", "I2C/C2I adapters", "*Blob",
      ],
      classes: ["java.*", "javax.*", "jdk.*", "sun.*", "com.sun.*"]),
    Rule(
      role: .runtime(.node), modules: ["libv8*"], names: ["v8::*", "Builtins_*"],
      generated: ["Builtin:*", "BytecodeHandler:*", "Stub:*", "RegExp:*", "Handler:*"]),
    Rule(role: .runtime(nil), modules: ["node", "libnode.so", "highwater-heap.cjs"]),
    Rule(role: .runtime(nil), modules: ["python3*", "libpython3*", "<frozen *"], scripts: ["<frozen *"]),
    Rule(
      role: .runtime(nil),
      modules: ["ruby", "libruby*", "perl", "libperl.so", "php", "libphp*", "libcoreclr.so"]),
    Rule(
      role: .runtime(nil),
      modules: ["libstdc++.so", "libc++.so", "libc++abi.so", "libgcc_s.so"],
      names: [
        "std::*", "__gnu_cxx::*", "__cxxabiv1::*", "__cxa_*", "__rust_*", "rust_begin_unwind",
        "execute_native_thread_routine",
      ]),
    Rule(
      role: .runtime(nil),
      modules: ["libswift*"],
      names: ["swift_*", "_swift_*", "swift::*", "Swift.*", "static Swift.*", "specialized Swift.*"]),
    Rule(
      role: .entry, names: ["main", "main.main", "__main", "*::main", "*.main"],
      scripts: ["<module>", "(anonymous)", "*::main", "*.main"]),
  ]
}
