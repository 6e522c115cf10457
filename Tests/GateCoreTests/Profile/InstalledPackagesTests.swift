import Testing

@testable import GateCore

/// Stacks of a program of Python with packages, as text: functions as `app.py:load`, `asyncio/events.py:run` of the language's
/// library in `std/`, `lz4/frame.py:read` of a package in `pkg/`, and native ones as `_json.so!scan`.
private struct PythonStack {
  private static let folders = ["pkg/": "/srv/venv/lib/python3.11/site-packages/", "std/": "/usr/lib/python3.11/"]

  let functions: [CallTree.Function]

  init(_ text: String) {
    functions = text.split(separator: " ").map { Self.function(String($0)) }
  }

  /// A line may follow after `@`.
  private static func function(_ text: String) -> CallTree.Function {
    let parts = text.split(separator: "@").map(String.init)
    let (text, line) = (parts[0], parts.count > 1 ? Int(parts[1]) : 12)
    guard let end = text.firstIndex(where: { $0 == ":" || $0 == "!" }) else { return .init(module: "", name: text) }
    let (file, name) = (String(text[..<end]), String(text[end...].dropFirst()))
    if text[end] == "!" { return .init(module: file, name: name == "?" ? "" : name) }
    let folder = folders.first { file.hasPrefix($0.key) }
    let path = folder.map { $0.value + file.dropFirst($0.key.count) } ?? "/srv/\(file)"
    return .init(module: "", name: name, file: path, line: line)
  }

  /// A build in which stacks hold so many bytes.
  static func build(_ stacks: [String: Int64]) -> [MemoryProfile] {
    var calls = CallTree.Builder()
    for (text, live) in stacks.sorted(by: { $0.key < $1.key }) {
      calls.add(.init(live: live), stack: Self(text).functions)
    }
    let total = Bytes(calls.tree.total.live)
    let profile = MemoryProfile(
      process: "python", method: .stopsAndBlocks, peak: total, anonymous: total, calls: calls.tree)
    return [profile, profile]
  }
}

@Suite("Functions of installed packages and of the language's library")
struct InstalledPackagesTests {
  private func change(_ now: [String: Int64], before: [String: Int64] = [:]) throws -> FunctionChange {
    let comparison = ProfileComparison(before: PythonStack.build(before), now: PythonStack.build(now))
    return try #require(comparison.finding?.culprit?.change)
  }

  @Test("The nearest script of a package and the program's own are shown with their lines")
  func nearestOfPackage() throws {
    let stack =
      "app.py:<module> app.py:load pkg/numpy/api.py:full pkg/numpy/numeric.py:full umath.so!new umath.so!alloc"
    let change = try change([stack: 9_000_000])
    #expect(change.function.name == "alloc")
    #expect(
      change.callers.map(\.description) == ["umath.so!new", "numpy/numeric.py:full", "app.py:load", "app.py:<module>"])
    #expect(change.scripts.map(\.function.description) == ["numpy/numeric.py:full", "app.py:load"])
    #expect(change.scripts.map(\.line) == [12, 12])
  }

  @Test("The line of a caller is that of the call through which the memory came, not of its largest one")
  func lineOfCaller() throws {
    let before = ["app.py:run@4 app.py:table@20": Int64(30_000_000)]
    let stack = "app.py:run@7 pkg/orm/query.py:load@88 pkg/orm/rows.py:read@9"
    let change = try change(before.merging([stack: 9_000_000]) { first, _ in first }, before: before)
    #expect(change.function.name == "read")
    #expect(change.scripts.map(\.function.name) == ["load", "run"] && change.scripts.map(\.line) == [88, 7])
  }

  @Test("The program's own script is shown however far it is, and the language's library is not")
  func farScript() throws {
    let natives = "libssl.so!load libssl.so!add libssl.so!parse libssl.so!copy libssl.so!grow"
    let change = try change(["app.py:main pkg/requests/adapters.py:send std/ssl.py:create \(natives)": 9_000_000])
    #expect(
      change.callers.map(\.description) == [
        "libssl.so!copy", "libssl.so!parse", "requests/adapters.py:send", "app.py:main",
      ])
  }

  @Test("The way through the function's own package is shown, and of other packages the nearest function of each")
  func packages() throws {
    let change = try change([
      "app.py:main pkg/square/client.py:a pkg/square/types.py:b pkg/pydantic/main.py:c pkg/pydantic/_meta.py:new":
        9_000_000
    ])
    #expect(change.function.description == "pydantic/_meta.py:new")
    #expect(change.callers.map(\.description) == ["pydantic/main.py:c", "square/types.py:b", "app.py:main"])
    #expect(change.scripts.map(\.function.name) == ["c", "main"])
    let page = "app.py:main app.py:text pkg/plumber/page.py:extract pkg/plumber/page.py:layout pkg/plumber/box.py:chars"
    let inner = try self.change(["\(page) pkg/plumber/page.py:objects pkg/plumber/page.py:parse": 9_000_000])
    #expect(inner.callers.map(\.name) == ["objects", "chars", "layout", "text"])
    let read = "app.py:main pkg/sphinx/build.py:read pkg/docutils/a.py:section pkg/docutils/a.py:nested"
    let other = try self.change(["\(read) pkg/docutils/a.py:parse pkg/docutils/b.py:run": 9_000_000])
    #expect(other.callers.map(\.name) == ["parse", "nested", "read", "main"], "the other package is not crowded out")
  }

  @Test("Of what the program holds, the largest part of one package is named")
  func inPackage() throws {
    let root = "app.py:<module> app.py:root"
    let stacks: [String: Int64] = [
      "\(root) gmpy2/gmpy2.so!enter": 4_800_000, "\(root) gmpy2/gmpy2.so!new": 2_600_000,
      "\(root) gmpy2/gmpy2.so!sqrt libmpfr.so!init": 2_600_000,
    ]
    let comparison = ProfileComparison(before: PythonStack.build([:]), now: PythonStack.build(stacks))
    let culprit = try #require(comparison.finding?.culprit)
    #expect(culprit.change.function.name == "root")
    #expect(culprit.parts.map(\.function.description) == ["gmpy2/gmpy2.so!enter"])
    #expect(culprit.parts.map(\.change) == [Bytes(4_800_000)])
    let spread = stacks.merging(["\(root) gmpy2/gmpy2.so!enter": 2_000_000]) { $1 }
    let other = ProfileComparison(before: PythonStack.build([:]), now: PythonStack.build(spread)).finding?.culprit
    #expect(other?.change.function.name == "root")
    #expect(other?.parts.map(\.function.name) == ["new", "init", "enter"], "of several the largest")
  }

  @Test("Files of other folders are the program's own")
  func otherFolders() throws {
    let change = try change(["app.py:<module> app.py:load vendored/numeric.py:full umath.so!alloc": 9_000_000])
    #expect(change.callers.map(\.description) == ["numeric.py:full", "app.py:load", "app.py:<module>"])
    #expect(change.scripts.map(\.function.name) == ["full"])
  }

  @Test("A caller of the language's library is named instead of it")
  func callerOfLibrary() throws {
    let report = "app.py:<module> app.py:main pkg/coverage/report.py:report"
    let change = try change(
      ["\(report) pkg/coverage/parser.py:parse std/ast.py:parse": 8_000_000, "\(report) std/ast.py:parse": 900_000])
    #expect(change.function.description == "coverage/parser.py:parse")
  }

  @Test("The program's caller is named instead of the language's library, however many functions of it call each other")
  func callerOfNestedLibrary() throws {
    let stack = "app.py:<module> app.py:serve std/json/__init__.py:dumps std/json/encoder.py:encode"
    #expect(try change([stack: 8_000_000]).function.description == "app.py:serve")
  }

  @Test("What an event loop of the language's library calls is named, also if some memory came otherwise")
  func calledByLibrary() throws {
    let loop = "app.py:<module> std/asyncio/runners.py:run std/asyncio/events.py:Handle._run"
    let stacks: [String: Int64] = [
      "\(loop) pkg/aiohttp/protocol.py:start pkg/aiohttp/app.py:handle": 6_000_000,
      "\(loop) pkg/aiohttp/connector.py:read": 3_000_000, "app.py:<module>": 900_000,
    ]
    #expect(try change(stacks).function.description == "aiohttp/app.py:handle")
  }

  @Test("The language's library is named if most of its memory came past all that it calls")
  func library() throws {
    let loop = "app.py:<module> std/asyncio/runners.py:run"
    let stacks: [String: Int64] = [loop: 7_500_000, "\(loop) pkg/aiohttp/app.py:handle": 2_500_000]
    #expect(try change(stacks).function.description == "asyncio/runners.py:run")
  }

  @Test("What the language's library only calls is a rise that is spread over these functions")
  func spreadBelowLibrary() throws {
    let run = "std/threading.py:run"
    let larger = ["\(run) pkg/zarr/store.py:read": Int64(5_000_000), "\(run) pkg/zarr/store.py:write": 4_000_000]
    #expect(try change(larger).function.name == "read")
    let stacks: [String: Int64] = [
      "\(run) pkg/zarr/store.py:read": 2_900_000, "\(run) pkg/zarr/store.py:write": 2_800_000,
      "\(run) pkg/zarr/codec.py:pack": 2_700_000, run: 1_600_000,
    ]
    let comparison = ProfileComparison(before: PythonStack.build([:]), now: PythonStack.build(stacks))
    guard case .spread(let largest)? = comparison.finding else {
      Issue.record("\(String(describing: comparison.finding))")
      return
    }
    #expect(largest.map(\.function.name) == ["read", "write", "pack"])
  }

  @Test("A function with other parameters, or in another folder of its package, is the same one")
  func renamed() throws {
    let native = try change(
      ["server!load(long)": 9_000_000, "server!index(char*)": 5_000_000], before: ["server!load(int)": 9_000_000])
    #expect(native.function.name == "index(char*)")
    let before: [String: Int64] = ["app.py:main pkg/rdflib/plugins/memory.py:add": 7_000_000]
    let moved = try change(["app.py:main pkg/rdflib/plugins/stores/memory.py:add": 18_000_000], before: before)
    #expect(moved.function.module == "rdflib/plugins/stores/memory.py" && moved.change == Bytes(11_000_000))
    let overloads = ["server!load(char)": Int64(2_000_000), "server!load(long)": 9_000_000]
    let other = try change(overloads, before: ["server!load(int)": 2_000_000])
    #expect(other.change == Bytes(9_000_000), "which of them it was is unknown")
  }

  @Test("The program's function that a framework calls is named, and not the framework's dispatcher")
  func dispatcher() throws {
    let dispatch = "app.py:<module> pkg/flask/app.py:dispatch"
    let change = try change([
      "\(dispatch) snippets.py:find snippets.py:make": 4_000_000, "\(dispatch) snippets.py:find": 1_500_000,
      "\(dispatch) pkg/flask/json.py:dump": 2_500_000,
    ])
    #expect(change.function.description == "snippets.py:find")
  }

  @Test("Where callers fork, the nearest that the branches have in common is next")
  func fork() throws {
    let main = "app.py:main pkg/square/client.py:<module>"
    let change = try change([
      "\(main) pkg/square/api.py:load pkg/pydantic/meta.py:new": 5_000_000,
      "\(main) pkg/square/types.py:load pkg/pydantic/meta.py:new": 4_000_000,
    ])
    #expect(change.function.description == "pydantic/meta.py:new")
    #expect(change.callers.map(\.description) == ["square/client.py:<module>", "app.py:main"])
    #expect(
      change.frames.map(\.function.description) == ["pydantic/meta.py:new", "square/client.py:<module>", "app.py:main"])
  }

  @Test("Code without a name is not named beside a function, unless it is known of which package it is")
  func nameless() throws {
    let load = "app.py:<module> app.py:main pkg/requests/adapters.py:load"
    #expect(try change(["\(load) libcrypto.so!read libcrypto.so!?": 9_000_000]).function.name == "read")
    #expect(try change(["\(load) libcrypto.so!?": 9_000_000]).function.description == "requests/adapters.py:load")
    #expect(try change(["\(load) orjson/orjson.so!?": 9_000_000]).function.description == "orjson/orjson.so!?")
    #expect(try change(["prog!main libfoo.so!?": 9_000_000]).function.description == "libfoo.so!?")
    let other = try change(["\(load) libcrypto.so!read libfoo.so!? libcrypto.so!grow": 9_000_000])
    #expect(other.callers.map(\.name) == ["read", "load", "main", "<module>"], "nor is it a caller")
  }

  @Test("A library that calls a script back holds what that makes for it")
  func callback() throws {
    let dumps = "app.py:<module> app.py:main app.py:answer orjson/orjson.so!?"
    let change = try change([
      dumps: 3_000_000, "\(dumps) app.py:convert": 3_000_000, "\(dumps) app.py:text": 3_000_000,
    ])
    #expect(change.function.description == "orjson/orjson.so!?")
    #expect(change.callers.map(\.name) == ["answer", "main", "<module>"])
  }

  @Test(
    "Scripts of one name in several packages are several, and their folders do not depend on the machine",
    arguments: [
      ("/srv/venv/lib/python3.11/site-packages/botocore/client.py", "botocore/client.py", CodeOrigin.package),
      ("/usr/lib/python3/dist-packages/yaml/__init__.py", "yaml/__init__.py", .package),
      ("/srv/app/node_modules/a/node_modules/b/lib/index.js", "b/lib/index.js", .package),
      ("/usr/lib/python3.11/asyncio/events.py", "asyncio/events.py", .language),
      ("/usr/lib/python3.11/ast.py", "ast.py", .language), ("node:internal/fs/streams", "streams", .language),
      ("/srv/app/client.py", "client.py", .program), ("/srv/lib/python3x/client.py", "client.py", .program),
    ])
  func paths(path: String, name: String, origin: CodeOrigin) {
    #expect(FunctionName(CallTree.Function(module: "", name: "f", file: path)).module == name)
    #expect(CodeOrigin(script: path) == origin)
  }
}
