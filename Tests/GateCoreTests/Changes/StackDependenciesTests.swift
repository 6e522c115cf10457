import Testing

@testable import GateCore

@Suite("Dependencies on a call stack")
struct StackDependenciesTests {
  private static func dependency(_ name: String, now: String? = "3.5.0") -> DependencyChange {
    DependencyChange(name: name, before: "3.5.1", now: now)
  }

  private static func marked(
    _ dependencies: [DependencyChange], on frames: [StackFrame], installed: [String: Set<String>] = [:]
  ) -> [DependencyChange] {
    StackDependencies(frames) { installed[$0.name] ?? [] }
      .marked([ChangedPlace(file: "requirements.txt", dependencies: dependencies)])[0].dependencies
  }

  private static func frame(_ module: String, file: String? = nil) -> StackFrame {
    StackFrame(function: FunctionName(module: module, name: "load"), file: file)
  }

  @Test(
    "Its functions are known by the folder of the package, or by the name and version in the path",
    arguments: [
      ("ijson", "ijson/backends/_yajl2.so", nil, true), ("ijson", "ijson.libs/libyajl.so", nil, true),
      ("Foo.Bar", "foo_bar/x.py", nil, true), ("@scope/tool", "@scope/tool/lib/x.js", nil, true),
      ("scope", "@scope/tool/lib/x.js", nil, false), ("ijson", "ijson.py", nil, false),
      ("ujson", "site-packages/ujson.so", nil, true),
      ("six", "six.py", "/v/lib/python3/dist-packages/six.py", true),
      ("six", "six.py", "/srv/six.py", false),
      ("json", "ijson/x.py", nil, false), ("beautifulsoup4", "bs4/element.py", nil, true),
      ("github.com/a/b", "server", "/root/go/pkg/mod/github.com/a/b@3.5.0/x.go", true),
      ("regex", "server", "/root/.cargo/registry/src/index-1/regex-3.5.0/src/lib.rs", true),
      ("regex", "server", "/root/.cargo/registry/src/index-1/regex-automata-3.5.0/src/lib.rs", false),
    ] as [(String, String, String?, Bool)])
  func known(name: String, module: String, file: String?, isOnStack: Bool) {
    let found = Self.marked(
      [Self.dependency(name)], on: [Self.frame("server"), Self.frame(module, file: file)],
      installed: ["beautifulsoup4": ["bs4", "beautifulsoup4-3.5.0.dist-info"]])
    #expect((found[0].function?.module == module) == isOnStack)
  }

  @Test(
    "Native code is known by the crate or namespace that it is in",
    arguments: [
      ("memchr::memmem::find", true), ("<memchr::Finder as core::clone::Clone>::clone", true),
      ("<&mut memchr::Iter as Iterator>::next", false), ("void memchr::find<int>(int)", true), ("memchr", false),
      ("server::memchr::find", false),
    ])
  func scope(function: String, isOnStack: Bool) {
    let frame = StackFrame(function: FunctionName(module: "server", name: function), file: "src/lib.rs")
    #expect((Self.marked([Self.dependency("memchr")], on: [frame])[0].function != nil) == isOnStack)
  }

  @Test("That of the innermost function comes first")
  func innermost() {
    let frames = [Self.frame("botocore/loaders.py"), Self.frame("boto3/session.py")]
    let found = Self.marked([Self.dependency("boto3"), Self.dependency("botocore")], on: frames)
    #expect(found.map(\.name) == ["botocore", "boto3"])
  }

  @Test("Those on the stack come first, and one that was removed has no function")
  func order() {
    let found = Self.marked(
      [Self.dependency("old", now: nil), Self.dependency("other"), Self.dependency("ijson")],
      on: [Self.frame("old/x.py"), Self.frame("ijson/common.py")])
    #expect(found.map(\.name) == ["ijson", "old", "other"] && found[1].function == nil)
  }
}
