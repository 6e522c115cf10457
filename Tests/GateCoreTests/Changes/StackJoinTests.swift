import GateCore
import Testing

@Suite("Joining call stacks with changed lines")
struct StackJoinTests {
  /// Marked lines: `-` and `+` as in a diff, all others with a space.
  private static func file(_ path: String, _ diff: String) -> ChangedFile {
    ChangedFile(
      path: path,
      lines: diff.split(separator: "\n", omittingEmptySubsequences: false).map { line in
        let text = String(line.dropFirst())
        return line.first == "-" ? .removed(text) : line.first == "+" ? .added(text) : .same(text)
      })
  }

  private static let cache = file(
    "src/cache.c",
    """
     static int limit = 3;
     void remember(int key) {
       void *old = table[key];
    -  free(old);
       table[key] = malloc(64);
     }
     void handle(int key) {
       remember(key);
    +  remember(key + 1);
     }
     int main(void) {
    -  // old words
    +  // new words
       handle(1);
     }
    """)

  private static func frame(_ name: String, line: Int? = nil, file: String? = "/build/src/cache.c") -> StackFrame {
    StackFrame(function: FunctionName(module: "server", name: name), file: line == nil ? nil : file, line: line)
  }

  private func places(_ frames: [StackFrame], in files: [ChangedFile]) -> [String] {
    let tracked = TrackedFiles(files.map(\.path), tops: ["/work"])
    return StackJoin(files, tracked: tracked.file).hits(on: frames).map {
      "\($0.function.name) \($0.file):\($0.line)"
    }
  }

  @Test("The innermost changed function comes first; removed lines count, comments do not")
  func innermost() {
    let frames = [Self.frame("remember", line: 4), Self.frame("handle", line: 7), Self.frame("main", line: 12)]
    #expect(places(frames, in: [Self.cache]) == ["remember src/cache.c:3", "handle src/cache.c:8"])
  }

  @Test("A function that changed in several places is one change with the others")
  func otherParts() throws {
    let file = Self.file(
      "src/a.c", "-void f(int x) {\n+void f(long x) {\n   g(x);\n-  free(x);\n   h(x);\n }\n+int other;")
    let join = StackJoin([file]) { _ in file.path }
    let hit = try #require(join.hits(on: [Self.frame("f", line: 2, file: "/build/src/a.c")]).first)
    #expect(hit.part == file.parts[0] && hit.others == [file.parts[1]])
  }

  @Test("A constructor of JavaScript has the name of its class on the call stack")
  func constructorOfScript() throws {
    let frame = StackFrame(
      function: FunctionName(module: "sketch.js", name: "Sketch", isScript: true), file: "/build/sketch.js", line: 2)
    let text = Self.file(
      "sketch.js",
      " const STEPS = 64;\n class Sketch {\n   constructor() {\n     this.bins = new Array(STEPS);\n   }\n }")
    let changed = Self.file("sketch.js", "-const STEPS = 64;\n+const STEPS = 192;\n class Sketch {")
    #expect(used(by: [frame], changed: [changed], in: text) == ["STEPS sketch.js:1 by Sketch"])
  }

  @Test("A changed line through which the memory came counts more than another line of an inner function")
  func exactLine() {
    let frames = [Self.frame("remember", line: 4), Self.frame("handle", line: 8), Self.frame("main", line: 12)]
    #expect(places(frames, in: [Self.cache]).first == "handle src/cache.c:8")
  }

  @Test("Without debug information functions are found by their names, if only one has it")
  func byName() {
    let frames = [Self.frame("remember"), Self.frame("handle")]
    #expect(places(frames, in: [Self.cache]) == ["remember src/cache.c:3", "handle src/cache.c:8"])
    let other = Self.file("src/other.c", " void remember(void) {\n+  x();\n }")
    #expect(places([Self.frame("remember")], in: [Self.cache, other]).isEmpty)
    let script = Self.file("tools/remember.py", "+def remember():\n+    pass")
    #expect(places([Self.frame("remember")], in: [script]).isEmpty, "a script has no native functions")
  }

  @Test("Methods of one name are told apart by their class, also without lines")
  func methods() {
    let file = Self.file(
      "a.cc", " class A {\n   void add() {\n     f();\n   }\n };\n class B {\n   void add() {\n+    g();\n   }\n };")
    #expect(places([Self.frame("B::add(int)")], in: [file]) == ["B::add(int) a.cc:8"])
    #expect(places([Self.frame("A::add(int)")], in: [file]).isEmpty)
  }

  @Test("A constant, a new function and a removed one beside the stack are not on it")
  func beside() {
    let file = Self.file(
      "app.py",
      """
      -SIZE = 10
      +SIZE = 1000
       def remember(key):
           return "x" * SIZE

      -def forget(key):
      -    del cache[key]
      +def other():
      +    pass
       remember(1)
      """)
    let frames = [("remember", 3), ("<module>", 7)].map { name, line in
      StackFrame(function: FunctionName(module: "app.py", name: name, isScript: true), file: "app.py", line: line)
    }
    #expect(places(frames, in: [file]).isEmpty)
    let called = Self.file("app.py", " def remember(key):\n     return 1\n+remember(2)")
    let top = StackFrame(
      function: FunctionName(module: "app.py", name: "<module>", isScript: true), file: "app.py", line: 3)
    #expect(places([top], in: [called]) == ["<module> app.py:3"])
  }

  @Test(
    "A function is new if the change adds all of it",
    arguments: [
      ("void old(void) {\n   f();\n+}\n+void keep(void) {\n+  g();\n }", true),
      ("void old(void) {\n   f();\n }\n+void keep(void) {\n+  g();\n+}", true),
      ("void keep(void) {\n+  g();\n }", false),
      ("int x;\n-void keep(void) {\n-  f();\n-}\n+static void keep(void) {\n+  g();\n+}", false),
    ]
  )
  func newFunction(diff: String, isNew: Bool) {
    let file = Self.file("src/cache.c", " " + diff)
    let hits = StackJoin([file]) { _ in file.path }.hits(on: [Self.frame("keep")])
    #expect(hits.map(\.isNew) == [isNew])
  }

  @Test("A decorator and indentation are code in Python")
  func python() {
    let frame = StackFrame(function: FunctionName(module: "a.py", name: "load", isScript: true), file: "a.py", line: 4)
    #expect(
      places(
        [frame], in: [Self.file("a.py", "-@lru_cache(9)\n+@lru_cache(None)\n def load(x):\n     if x:\n         y = x")]
      ) == ["load a.py:1"])
    #expect(
      places([frame], in: [Self.file("a.py", " def load(x):\n     if x:\n         pass\n-        y = 1\n+    y = 1")])
        == ["load a.py:4"])
    #expect(
      places([Self.frame("f", line: 2, file: "a.c")], in: [Self.file("a.c", " int f() {\n-  x();\n+\tx();\n }")])
        .isEmpty)
  }

  @Test(
    "Comments of several lines are no code, nor are the texts that document Python",
    arguments: [
      ("a.c", " /*\n-Old words\n+New words\n  */\n int f() { return 1; }", 0),
      ("a.c", " /* one */\n-int a;\n+int b;\n int f() { return 1; }", 1),
      ("a.c", " /*\n x */ int a;\n-int b;\n+int c;", 1), ("a.c", " glob(\"src/*\");\n-int b;\n+int c;", 1),
      ("a.py", "-\"\"\"Old words.\"\"\"\n+\"\"\"New words.\"\"\"\n import os", 0),
      ("a.py", " def f():\n     r'''First.\n \n-    Old words.\n+    New words.\n     '''\n     return 1", 0),
      ("a.py", " def f():\n     x = 1\n     \"\"\"\n-    Old words.\n+    New words.\n     \"\"\"", 1),
      ("a.py", " def f():\n     \"\"\"First.\"\"\"\n-    x = 1\n+    x = 2", 1),
    ])
  func longComments(path: String, change: String, count: Int) {
    #expect(Self.file(path, change).codeParts.count == count)
  }

  @Test(
    "Other names of local variables are no change of the code; what may be another value is one",
    arguments: [
      ("-order := read(body)\n-store.accept(order)\n+sent := read(body)\n+store.accept(sent)", 0),
      ("-int size = 3;\n+int count = 3;\n f();\n-show(size);\n+show(count);", 0),
      ("-show(size);\n+show(count);", 1),
      ("-show(small);\n-keep(small);\n+show(large);\n+keep(large);", 1),
      ("-int size = 3;\n-show(size);\n+int count = 30;\n+show(count);", 1),
      ("-int size = 3;\n-show(size);\n+int count = 3;\n+show(count);\n int count2;\n-g(count);\n+g(size);", 2),
      (" int count = 9;\n-int size = 3;\n-show(size);\n+int count = 3;\n+show(count);", 1),
      ("-int f = load(3);\n-show(f);\n+int f = store(3);\n+show(f);", 1),
      ("-LIMIT = 3\n-show(LIMIT)\n+OTHER = 3\n+show(OTHER)", 1),
      ("-from a import small\n-show(small)\n+from a import large\n+show(large)", 1),
      ("-let days = self.days;\n-f(day % days)\n+let length = self.days;\n+f(day % length)", 0),
      ("-let size = f();\n-for _ in 0..size {\n+let wanted = f();\n+for _ in 0..wanted {", 0),
      (
        "-let clamp = |x: i32| x.clamp(0, 9);\n-keep(clamp(x))\n+let narrow = |x: i32| x.clamp(0, 9);\n+keep(narrow(x))",
        0
      ),
      ("-fn pack(rows: &[Row]) {\n-rows.iter()\n+fn pack(lines: &[Row]) {\n+lines.iter()", 0),
      ("-def pack(rows, at):\n-  keep(rows)\n+def pack(lines, at):\n+  keep(lines)", 0),
      ("-for (auto &entry : all)\n-  f(entry);\n+for (auto &route : all)\n+  f(route);", 0),
      ("-int busy = 1;\n-show(\"busy hour\", busy);\n+int most = 1;\n+show(\"busy hour\", most);", 0),
      ("-int load(int x) {\n-load(3);\n+int store(int x) {\n+store(3);", 1),
    ]
  )
  func renamedVariables(diff: String, count: Int) {
    #expect(Self.file("src/a.c", diff).codeParts.count == count)
  }

  @Test(
    "Log statements and what is around them are no change of the code",
    arguments: [
      ("a.rs", "+if orders.len() % 50_000 == 0 {\n+  eprintln!(\"{} orders\", orders.len());\n+}"),
      ("a.rs", "-println!(\"{articles} articles\");\n+log::info!(\"{articles}\");"),
      ("a.cpp", "+std::printf(\"%zu clients\\n\", index->by_client().size());"),
      ("a.cpp", "+std::cerr << \"done \" << count << \"\\n\";\n+// so far"),
      ("a.c", "+if (turn % 100 == 0) fprintf(stderr, \"%d\", turn);"),
      ("a.py", "+if verbose:\n+    logger.info(\n+        \"%d rows\", len(rows))"),
      ("a.py", "-print(total)\n+logging.debug(total)"),
      ("a.js", "+console.log(`served ${count}`);"),
      ("a.go", "+log.Printf(\"%d rows\", len(rows))\n+fmt.Println(rows)"),
      ("a.java", "+System.out.println(\"served \" + count);\n+LOG.warn(\"late\");"),
    ])
  func logStatements(path: String, diff: String) {
    #expect(Self.file(path, diff).codeParts.isEmpty)
  }

  @Test(
    "What a log statement calls, or what is beside it, may be a change of the code",
    arguments: [
      ("a.js", "+console.log(JSON.stringify(cache));"), ("a.py", "+logger.info(render(page))"),
      ("a.rs", "+let rows = load();\n+println!(\"{}\", rows.len());"), ("a.c", "+if (isFull) {\n+  printf(\"x\");"),
      ("a.c", "-evict(cache);\n+printf(\"kept\");"), ("a.c", "+if (x) {\n+}"), ("a.c", "+puts(load(\"x\"));"),
      ("a.java", "+journal.info(row);"), ("a.cpp", "+std::cout << report();"), ("a.c", "+print_all(rows);"),
    ])
  func beyondLogs(path: String, diff: String) {
    #expect(Self.file(path, diff).codeParts.count == 1)
  }

  @Test("Lines of the text now are found in the text before")
  func lineBefore() {
    let file = Self.file("a", " 1\n+2\n+3\n 4\n-5\n-6\n 7\n-8\n+8\n 9")
    #expect((1...6).map(file.lineBefore) == [1, 2, 2, 2, 5, 6])
    #expect(file.lineBefore(7) == 7)
  }

  // MARK: What functions on the stack use

  @Test(
    "A class of Python that loses its slots or gets another base is a change of what makes its objects",
    arguments: [
      (" class Row:\n-    __slots__ = ('a',)\n-\n     def __init__(self):\n         self.a = 1", 1),
      (
        "-class Row:\n-    __slots__ = ('a',)\n+class Base:\n+    b = 1\n+\n+class Row(Base):\n     def __init__(self):\n         self.a = 1",
        4
      ),
    ])
  func pythonClasses(diff: String, line: Int) throws {
    #expect(try used(in: "rows.append(Row())", "row.py", diff) == ["Row row.py:\(line) by serve"])
  }

  private func used(by frames: [StackFrame], changed: [ChangedFile], in caller: ChangedFile) -> [String] {
    let tracked = TrackedFiles([caller.path] + changed.map(\.path), tops: ["/work"])
    return StackJoin(changed, tracked: tracked.file).used(by: frames) { _ in caller }.map {
      "\($0.function.name) \($0.file):\($0.line) by \($0.caller?.name ?? "")"
    }
  }

  /// What a function `serve` with this line uses of a change, in a file of the same language.
  private func used(in line: String, _ path: String, _ change: String) throws -> [String] {
    let ending = try #require(path.split(separator: ".").last)
    let body = ending == "py" ? " def serve():\n     \(line)" : " void serve() {\n   \(line)\n }"
    let (word, file) = (["rs": "fn", "go": "func"][ending], "main.\(ending)")
    let caller = Self.file(file, word.map { body.replacing("void", with: $0) } ?? body)
    let frame = StackFrame(
      function: FunctionName(module: file, name: "serve", isScript: ending == "py"), file: "/build/\(file)", line: 2)
    return used(by: [frame], changed: [Self.file(path, change)], in: caller)
  }

  private static let store = file(
    "src/store.py",
    """
     class Cache:
         def put(self, key, page):
             self.pages[key] = page
    -        self.pages.pop(next(iter(self.pages)))

         def get(self, key):
             return self.pages[key]
    """)

  @Test("A changed function that one on the stack calls is found, as one that no longer releases memory")
  func calledFunction() {
    let file = Self.file("src/main.py", " def serve(cache):\n     cache.put(1, page())\n \n def other():\n     put(1)")
    func frame(_ name: String, _ line: Int) -> StackFrame {
      StackFrame(
        function: FunctionName(module: "main.py", name: name, isScript: true), file: "/build/src/main.py", line: line)
    }
    let found = used(by: [frame("serve", 2)], changed: [Self.store], in: file)
    #expect(found == ["Cache.put src/store.py:3 by serve"])
    #expect(used(by: [frame("<module>", 3)], changed: [Self.store], in: file).isEmpty, "it calls neither itself")
    let top = Self.file("src/main.py", " def page():\n     put(1)\n cache.put(1, page())")
    #expect(used(by: [frame("<module>", 3)], changed: [Self.store], in: top).count == 1)
    let twice = [Self.store, Self.file("src/list.py", " def put(item):\n+    items.append(item)")]
    #expect(used(by: [frame("serve", 2)], changed: twice, in: file).isEmpty, "nobody knows which it is")
  }

  @Test(
    "A call is a name before parentheses, in no comment and of no other type",
    arguments: [
      ("cache.put(key);", true), ("Cache::put(key);", true), ("put<int>(key);", true), ("cache->put (key);", true),
      ("Table::put(key);", false), ("output(key);", false), ("puts(key);", false), ("int put = 1;", false),
      ("// put(key);", false), ("put = f(key);", false), ("CACHE.put(key);", true), ("T::put(key);", false),
    ])
  func calls(line: String, isCall: Bool) {
    let file = Self.file("main.cc", " void serve() {\n   \(line)\n }")
    let cache = Self.file("cache.cc", " class Cache {\n   void put(int key) {\n+    keep(key);\n   }\n };")
    let found = used(by: [Self.frame("serve()", line: 2, file: "/build/main.cc")], changed: [cache], in: file)
    #expect(found.count == (isCall ? 1 : 0))
  }

  @Test(
    "A type with another field is found by its name in a function on the stack, which may have many of it",
    arguments: [
      ("a.h", " struct entry {\n   int key;\n+  char text[4096];\n };", "struct entry *e = make();", "entry a.h:3"),
      ("a.h", " typedef struct {\n+  char text[4096];\n } entry_t;", "entry_t *e = make();", "entry_t a.h:2"),
      ("a.hpp", " class Page : Base {\n public:\n+  string text;\n };", "pages.push_back(Page{});", "Page a.hpp:3"),
      ("a.rs", " pub struct Page<T> {\n+    text: [u8; 4096],\n }", "pages.push(Page::default());", "Page a.rs:2"),
      ("a.go", " type Page struct {\n+\ttext [4096]byte\n }", "pages = append(pages, Page{})", "Page a.go:2"),
      ("a.py", " class Page:\n     key: int\n+    text: str = ''", "pages.append(Page(1))", "Page a.py:3"),
      ("a.h", " struct entry {\n+  void clear() const;\n+  int size() = 0;\n };", "entry *e = make();", nil),
      ("a.h", " struct entry {\n+  // the text\n };", "struct entry *e = make();", nil),
      ("a.h", " namespace entry {\n+int count;\n }", "entry::make();", nil),
      ("a.h", " struct entry {\n+  char text[4096];\n };", "// an entry", nil),
      ("a.h", " struct entry {\n+  char text[4096];\n };", "entries = make();", nil),
    ] as [(String, String, String, String?)])
  func changedType(path: String, change: String, use: String, expected: String?) throws {
    #expect(try used(in: use, path, change) == (expected.map { ["\($0) by serve"] } ?? []))
  }

  @Test("A type is also found by its name in the header of a function on the stack; a function is not")
  func typeInHeader() {
    let record = Self.file("record.h", " struct Record {\n   int key;\n+  std::array<char, 32> text{};\n };")
    let helper = Self.file("add.cc", " int add() {\n+  keep();\n }")
    let store = Self.file("store.cc", " void Store::add(Record record) {\n   all.push_back(std::move(record));\n }")
    let frame = Self.frame("Store::add(Record)", line: 2, file: "/build/store.cc")
    let hits = StackJoin([record, helper], tracked: TrackedFiles(["store.cc"], tops: ["/build"]).file)
      .used(by: [frame]) { _ in store }
    #expect(hits.map(\.function.name) == ["Record"] && hits.map(\.line) == [3])
  }

  @Test(
    "A value outside of functions is found by its name in a function on the stack",
    arguments: [
      ("a.rs", "-const WIDTH: usize = 1;\n+const WIDTH: usize = 64;", "vec![0; WIDTH]", "WIDTH a.rs:1"),
      ("a.rs", "+static SIZE: cell::Cell<usize> = cell::new(1);", "SIZE.get()", "SIZE a.rs:1"),
      ("a.h", "-#define WIDTH 8\n+#define WIDTH 64", "grow(WIDTH);", "WIDTH a.h:1"),
      ("a.cc", "+static const std::size_t width{8}, rows = 64;", "grow(rows);", "rows a.cc:1"),
      ("a.c", "+static char text[1 << 20];", "fill(text);", "text a.c:1"),
      ("a.py", "-LIMIT = 9\n+LIMIT = 90", "keep(LIMIT)", "LIMIT a.py:1"),
      ("a.go", " const (\n+\tLimit = 90\n )", "keep(Limit)", "Limit a.go:2"),
      ("a.py", "-setup(limit=9)\n+setup(limit=90)", "keep(limit)", nil),
      ("a.c", "-#include \"a.h\"\n+#include \"b.h\"", "keep(b)", nil),
      ("a.py", "-LIMIT = 9\n+LIMIT = 90", "keep(LIMITS)", nil),
    ] as [(String, String, String, String?)])
  func changedValue(path: String, change: String, use: String, expected: String?) throws {
    #expect(try used(in: use, path, change) == (expected.map { ["\($0) by serve"] } ?? []))
  }

  @Test("What functions use that one on the stack uses in turn is found, unless many do")
  func usedIndirectly() {
    let limits = Self.file(
      "limits.js", "-const LIMIT = 25;\n+const LIMIT = 9000;\n function page(size) {\n   return size || LIMIT;\n }")
    let file = Self.file("main.js", " function serve(query) {\n   return send(page(query));\n }")
    let frame = StackFrame(
      function: FunctionName(module: "main.js", name: "serve", isScript: true), file: "/build/main.js", line: 2)
    let join = StackJoin([limits], tracked: TrackedFiles(["main.js", "limits.js"], tops: ["/build"]).file)
    #expect(join.usableNames == ["LIMIT"] && join.used(by: [frame]) { _ in file }.isEmpty)
    let hits = join.used(by: [frame], through: [limits]) { _ in file }
    #expect(hits.map(\.function.name) == ["LIMIT"] && hits.map(\.line) == [1] && hits.map(\.caller?.name) == ["page"])
    let users = (1...6).map { Self.file("u\($0).js", " function page\($0)() {\n   return LIMIT;\n }") }
    #expect(join.used(by: [frame], through: [limits] + users) { _ in file }.isEmpty)
  }

  @Test("A value that the code of its own file uses outside of functions is known as such")
  func ownValue() throws {
    let prices = Self.file("prices.py", "-STEPS = 1\n+STEPS = 9\n TABLE = build(STEPS)")
    let other = Self.file("other.py", " from prices import STEPS\n build(STEPS)")
    for (file, isOwn) in [(prices, true), (other, false)] {
      let frame = StackFrame(
        function: FunctionName(module: file.path, name: "<module>", isScript: true), file: "/build/\(file.path)",
        line: 2)
      let tracked = TrackedFiles([prices.path, other.path], tops: ["/work"])
      let hits = StackJoin([prices], tracked: tracked.file).used(by: [frame]) { _ in file }
      #expect(hits.map(\.isOwnValue) == [isOwn])
    }
  }

  @Test("A changed line of the frame's statement counts as its own, before one of a caller")
  func statement() {
    let file = Self.file(
      "src/log.rs",
      " fn observe() {\n   worst.push(Slow {\n     key,\n+    text: record.clone(),\n   });\n }\n fn accept() {\n-  a();\n"
        + "+  observe();\n }")
    func frame(_ name: String, _ line: Int) -> StackFrame {
      StackFrame(function: FunctionName(module: "server", name: name), file: "/build/src/log.rs", line: line)
    }
    #expect(
      places([frame("observe", 2), frame("accept", 8)], in: [file]) == ["observe src/log.rs:4", "accept src/log.rs:8"])
  }

  @Test("A constructor with other lines stands for its type")
  func constructorAndType() {
    let page = Self.file(
      "page.py", " class Page:\n+    key = 1\n \n     def __init__(self, key):\n+        self.text = key * 100")
    let file = Self.file("main.py", " def serve():\n     return Page(1)")
    let frame = StackFrame(
      function: FunctionName(module: "main.py", name: "serve", isScript: true), file: "/build/main.py", line: 2)
    #expect(used(by: [frame], changed: [page], in: file) == ["Page.__init__ page.py:5 by serve"])
  }

  @Test("A class is called for its constructor")
  func constructor() {
    let file = Self.file("main.py", " def serve():\n     return Page(1)")
    let page = Self.file("page.py", " class Page:\n     def __init__(self, key):\n+        self.text = key * 100")
    let frame = StackFrame(
      function: FunctionName(module: "main.py", name: "serve", isScript: true), file: "/build/main.py", line: 2)
    #expect(used(by: [frame], changed: [page], in: file) == ["Page.__init__ page.py:3 by serve"])
    let script = Self.file("page.js", " class Page {\n   constructor(key) {\n+    this.text = [key];\n   }\n }")
    let caller = Self.file("main.js", " function serve() {\n   return new Page(1);\n }")
    let function = FunctionName(module: "main.js", name: "serve", isScript: true)
    let found = used(
      by: [StackFrame(function: function, file: "/build/main.js", line: 2)], changed: [script], in: caller)
    #expect(found == ["Page.constructor page.js:3 by serve"])
  }
}

@Suite("Paths of call stacks in a checkout")
struct TrackedFilesTests {
  private let files = TrackedFiles(
    ["src/cache.c", "lib/cache.c", "app.py", "tools/app.py", "src/vec/mod.rs", "main.rs", "json/decoder.py"],
    tops: ["/home/ci/shop"], folders: ["/home/ci/shop/tools"])

  @Test(
    "A path means one tracked file, or none",
    arguments: [
      ("/home/ci/shop/src/cache.c", "src/cache.c"), ("/home/ci/shop/build/../src/./cache.c", "src/cache.c"),
      ("/builds/17/shop/src/cache.c", "src/cache.c"), ("../src/cache.c", "src/cache.c"), ("cache.c", nil),
      ("/home/ci/shop/build/cache.c", nil), ("/home/ci/shop/venv/lib/app.py", nil), ("app.py", "tools/app.py"),
      ("/builds/main.rs", "main.rs"), ("/rustc/1234/library/src/vec/mod.rs", nil),
      ("/usr/lib/python3.11/json/decoder.py", nil), ("/home/ci/venv/site-packages/json/decoder.py", nil),
      ("/elsewhere/decoder.py", nil), ("/../../etc/passwd", nil), ("", nil),
    ] as [(String, String?)])
  func match(path: String, expected: String?) {
    #expect(files.file(path) == expected)
  }
}

@Suite("What else changed")
struct ElsewhereChangesTests {
  @Test("Dependencies come first, then code, data and tests; hidden files, texts and ignored folders are left out")
  func ranks() {
    let ranked = ElsewhereChanges.ranked(
      [
        ".github/ci.yml", "LICENSE", "README.txt", "data/words.txt", "tests/a.py", "src/a.py", "requirements.txt",
        "baselines/x",
      ],
      ignoring: ["baselines"])
    #expect(ranked.prefix(3) == ["requirements.txt", "src/a.py", "data/words.txt"])
    #expect(ranked.dropFirst(3) == ["tests/a.py"])
    #expect(ElsewhereChanges.ranked([".github/ci.yml", "a/.gitignore"], ignoring: []) == [".github/ci.yml"])
    let unconnected = ElsewhereChanges.ranked(["src/a.c", "limits.json", "Cargo.lock"], ignoring: [], dataFirst: true)
    #expect(unconnected == ["Cargo.lock", "limits.json", "src/a.c"], "what code changed has nothing to do with it")
    #expect(ElsewhereChanges.ranked(["README.md", "LICENSE"], ignoring: []) == ["LICENSE", "README.md"])
    #expect(ranked.filter(ElsewhereChanges.isOfProgram) == ["requirements.txt", "src/a.py", "data/words.txt"])
  }

  @Test(
    "Versions are read from the files of package managers",
    arguments: [
      ("requirements.txt", "pillow==9.0", "pillow==9.1"),
      ("package.json", #"    "pillow": "^9.0","#, #"    "pillow": "^9.1","#),
      ("go.sum", "pillow v9.0 h1:x=", "pillow v9.1 h1:y="), ("Cargo.toml", #"pillow = "9.0""#, #"pillow = "9.1""#),
      (
        "a.csproj", #"<PackageReference Include="pillow" Version="9.0" />"#,
        #"<PackageReference Include="pillow" Version="9.1" />"#
      ),
      ("Dockerfile", "FROM pillow:9.0 AS a", "FROM pillow:9.1 AS a"),
    ])
  func versions(path: String, before: String, now: String) throws {
    let file = ChangedFile(path: path, lines: [.same("x"), .removed(before), .added(now)])
    let change = try #require(DependencyVersions.changes(in: file).first)
    #expect(change.name == "pillow" && change.before?.hasSuffix("9.0") == true && change.now?.hasSuffix("9.1") == true)
  }

  @Test(
    "A version that stands below its name is that name's",
    arguments: [
      ("Cargo.lock", [#"name = "pillow""#], #"version = "9.0""#, #"version = "9.1""#),
      (
        "package-lock.json", [#"    "node_modules/pillow": {"#], #"      "version": "9.0","#,
        #"      "version": "9.1","#
      ),
      (
        "Package.resolved", [#"    "identity" : "pillow","#, "    x"], #"      "version" : "9.0""#,
        #"      "version" : "9.1""#
      ),
    ])
  func blocks(path: String, above: [String], before: String, now: String) {
    let file = ChangedFile(path: path, lines: above.map { .same($0) } + [.removed(before), .added(now)])
    #expect(DependencyVersions.changes(in: file) == [DependencyChange(name: "pillow", before: "9.0", now: "9.1")])
  }

  @Test("Other versions of dependencies stand before new and removed ones")
  func order() {
    let lines: [ChangedFile.Line] = [
      .removed("annotated==1.0"), .removed("square==41.0"), .added("anyio==4.0"), .added("square==42.0"),
      .added("zope==1.0"),
    ]
    let changes = DependencyVersions.changes(in: ChangedFile(path: "requirements.txt", lines: lines))
    #expect(changes.map(\.name) == ["square", "annotated", "anyio", "zope"])
  }

  @Test("A place elsewhere has the function that it is in, also if lines were only removed")
  func functionElsewhere() {
    let lines: [ChangedFile.Line] = [
      .same("LIMIT = 9"), .same("def put(key):"), .same("    PAGES[key] = 1"), .removed("    PAGES.pop()"),
      .same("put(1)"),
    ]
    let place = ElsewhereChanges.places(of: ChangedFile(path: "store.py", lines: lines))
    #expect(place.map(\.place) == [ChangedPlace(file: "store.py", line: 3, function: "put")])
    let two = lines + [.same("def get(key):"), .added("    x()"), .added("import a")]
    let found = ElsewhereChanges.places(of: ChangedFile(path: "store.py", lines: two))
    #expect(found.map(\.place.function) == ["put", "get"])
    let constant: [ChangedFile.Line] = [
      .removed("LIMIT = 9"), .added("LIMIT = 90"), .same("def put(key):"), .same("    x()"),
    ]
    let outside = ElsewhereChanges.places(of: ChangedFile(path: "store.py", lines: constant))
    #expect(outside.map(\.place) == [ChangedPlace(file: "store.py", line: 1)])
    let both: [ChangedFile.Line] = [
      .added("import zlib"), .same("def put(key):"), .removed("    x()"), .added(""), .added("    x(zlib)"),
    ]
    let inside = ElsewhereChanges.places(of: ChangedFile(path: "store.py", lines: both))
    #expect(inside.map(\.place) == [ChangedPlace(file: "store.py", line: 3, function: "put")], "not the import")
    let end: [ChangedFile.Line] = [
      .same("def put(key):"), .same("    x()"), .added("    y()"), .added("def keep(key):"), .added("    y()"),
    ]
    let added = ElsewhereChanges.places(of: ChangedFile(path: "store.py", lines: end))
    #expect(added.map(\.place.function) == ["put", "keep"], "one part ends a function and adds another")
  }
}
