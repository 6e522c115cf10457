@testable import GateCore
import Testing

@Suite("Functions in source files")
struct FunctionExtentTests {
  /// As in `Cache.remember 3-7`.
  private func functions(_ text: String, _ path: String) throws -> [String] {
    let language = try #require(SourceLanguage(path: path))
    return FunctionExtent.all(
      in: text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init), language
    )
    .map { extent in
      let name = (extent.scopes + [extent.name.isEmpty ? "?" : extent.name]).joined(separator: ".")
      return "\(name) \(extent.lines.lowerBound)-\(extent.lines.upperBound)"
    }
  }

  @Test("Python: bodies, decorators, nested functions, texts and brackets of several lines")
  func python() throws {
    let text = #"""
      SIZE = 10

      @cache(
        size=3)
      def remember(key,
                   value="def x():"):
          text = """
      def not_a_function():
          """
          return {
      1: 2}

      class Store:
          async def put(self, key):
              def inner():
                  return 1
              return inner()  # )

          def get(self): return None

      print(remember(1))
      """#
    #expect(
      try functions(text, "app.py") == [
        "remember 3-11", "Store.put 14-17", "Store.put.inner 15-16", "Store.get 19-19",
      ])
  }

  @Test("C and C++: several styles, initializers, lambdas, conditions and macros")
  func c() throws {
    let text = #"""
      #include "x.h"
      static int table[] = {1, 2};
      struct entry { int key; };
      struct entry *find(int key) {
        if (key) { return 0; }
        return 0;
      }
      static void __attribute__((noinline))
      grow(int size)
      {
      #ifdef A
        while (size) {
      #else
        for (;;) {
      #endif
          size--; char c = '{'; const char *s = "}";
        }
      }
      namespace shop {
      class Cache : public Base {
       public:
        explicit Cache(int size = {}) : size_{size}, map_() { reserve(size); }
        ~Cache() noexcept(true) override {}
        int get() const { return size_; }
        bool operator==(const Cache &other) const { return true; }
      };
      template <typename T>
      auto Cache::each(std::function<void(int)> f) -> int {
        run([&](int x) { if (x) { f(x); } });
        auto text = R"(})";
        return 1;  // }
      }
      }  // namespace
      int main() try { return 0; } catch (...) { return 1; }
      void shop::List<int, std::less<int>>::grow(size_t by) { ::grow(by); }
      """#
    #expect(
      try functions(text, "a/cache.cc") == [
        "find 4-7", "grow 8-18", "shop.Cache.Cache 22-22", "shop.Cache.~Cache 23-23", "shop.Cache.get 24-24",
        "shop.Cache.operator 25-25", "shop.Cache.each 27-32", "main 34-34",
        "shop.List.grow 35-35",
      ])
  }

  @Test("Rust, Go and Swift: the word before the name counts, lifetimes and raw texts are no ends")
  func keywords() throws {
    let rust = #"""
      impl<T> Store for Cache<T> {
          fn keep<'a>(&'a mut self, key: &'a str) -> Option<u32>
          where T: Into<String>,
          {
              let c = '{'; let raw = r#"}"#;
              self.map.entry(key).or_insert_with(|| { vec![0; 10] });
              match key { _ => None }
          }
      }
      pub async fn serve() { loop { } }
      impl Audit { fn record(&mut self, id: u32) { self.all.push(id); } }
      """#
    #expect(try functions(rust, "src/main.rs") == ["Cache.keep 2-8", "serve 10-10", "Audit.record 11-11"])
    let go = """
      package main
      var limits = map[string]int{"a": 1}
      func (c *Cache) Remember(key string) func(int) int {
      \treturn func(x int) int { return x }
      }
      func main() {
      \tfor i := 0; i < 3; i++ { go func() { work(`}`) }() }
      }
      """
    #expect(try functions(go, "main.go").filter { !$0.contains("?") } == ["Remember 3-5", "main 6-8"])
    let swift = """
      struct Cache: Sendable {
        var count: Int { items.count }
        init(_ size: Int) { self.size = size }
        mutating func remember(_ key: String) -> Int {
          lock.withLock { items[key] = "\\(key) {" }
        }
      }
      """
    #expect(try functions(swift, "Cache.swift") == ["Cache.init 3-3", "Cache.remember 4-6"])
  }

  @Test("JavaScript: names by declaration, assignment, property and method")
  func javaScript() throws {
    let text = #"""
      const cache = new Map()
      function remember(key, value = {}) {
        if (/[{"]/.test(key)) { return `}${key}` }
      }
      const forget = async (key) => {
        cache.delete(key)
      }
      exports.handle = function (request) { return { a: 1 } }
      class Store extends Map {
        static async open(path) { return new Store() }
        get size() { return 1 }
        set(key, value) { super.set(key, value) }
        async export(response) { response.end() }
      }
      app.get('/x', (request, response) => {
        response.end()
      })
      """#
    #expect(
      try functions(text, "server.mjs") == [
        "remember 2-4", "forget 5-7", "handle 8-8", "Store.open 10-10", "Store.size 11-11", "Store.set 12-12",
        "Store.export 13-13", "? 15-17",
      ])
  }

  @Test(
    "A text that is cut or odd gives no crash",
    arguments: ["}}}{{{(((", "def", "#if\n#else\n#endif", "\"", "R\"(", "/*", "'"])
  func odd(text: String) throws {
    for path in ["a.c", "a.py", "a.js", "a.rs", "a.rb"] { _ = try functions(text, path) }
  }
}
