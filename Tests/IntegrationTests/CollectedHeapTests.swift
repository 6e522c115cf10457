import Foundation
import Testing

/// Runs real programs; how heaps and rises are joined is tested with synthetic profiles elsewhere.
@Suite("Objects of garbage-collected heaps", .endsHangs, .enabled(if: Ballast.mayTrace, "requires ptrace(2)"))
struct CollectedHeapTests {
  /// Each keeps as many objects as `KEPT` says, beside garbage.
  private static let services: [(file: String, text: String, build: String, command: String, found: String)] = [
    (
      "service.js",
      """
      const kept = [];
      function remember(count) {
        for (let at = 0; at < count; at++) kept.push({ at, name: 'object ' + at, list: [at, at, at] });
      }
      function parse() { return Array.from({ length: 20000 }, (_, at) => ({ at })).length; }
      function serve() { parse(); remember(Number(process.env.KEPT)); }
      serve();
      const isUntouched = process.execArgv.length === 0 && process.env.NODE_OPTIONS.startsWith('--no-warnings');
      setTimeout(() => console.log(isUntouched ? 'ready' : 'has other options'), 300);
      setInterval(() => {}, 1000);
      """,
      ":", "node, service.js", "held by remember() (service.js:2) ← serve"
    ),
    (
      "Service.java",
      """
      import java.util.*;
      class Service {
        static final List<Object> kept = new ArrayList<>();
        static void remember(int count) {
          for (int at = 0; at < count; at++) kept.add(new long[] {at, at, at, at, at, at, at, at});
        }
        static int parse() { return new ArrayList<>(Collections.nCopies(20000, "x" + kept.size())).size(); }
        public static void main(String[] arguments) throws Exception {
          parse();
          remember(Integer.parseInt(System.getenv("KEPT")));
          Thread.sleep(300);
          System.out.println("ready");
          Thread.sleep(1000000);
        }
      }
      """,
      "javac Service.java", "java, -Xmx200m, Service", "held by Service.remember() (Service.java:5)"
    ),
    (
      "Service.java",
      """
      import java.nio.ByteBuffer;
      import java.util.*;
      class Service {
        static final List<ByteBuffer> kept = new ArrayList<>();
        static ByteBuffer open(int size) {
          ByteBuffer buffer = ByteBuffer.allocateDirect(size);
          for (int at = 0; at < size; at += 1024) buffer.put(at, (byte) 1);
          return buffer;
        }
        public static void main(String[] arguments) throws Exception {
          for (int at = 0; at < Integer.parseInt(System.getenv("KEPT")); at += 2000) kept.add(open(200_000));
          Thread.sleep(300);
          System.out.println("ready");
          Thread.sleep(1000000);
        }
      }
      """,
      "javac Service.java", "java, -Xmx200m, Service", "held by Service.open() (Service.java:6) ← Service.main"
    ),
    (
      "Service.java",
      """
      class Service {
        static void wait(Object lock) { synchronized (lock) { try { lock.wait(); } catch (InterruptedException ended) {} } }
        static void startPool(int count) {
          for (int at = 0; at < count; at++) {
            Thread thread = new Thread(() -> wait(new Object()));
            thread.setDaemon(true);
            thread.start();
          }
        }
        public static void main(String[] arguments) throws Exception {
          startPool(Integer.parseInt(System.getenv("KEPT")) / 1000);
          Thread.sleep(300);
          System.out.println("ready");
          Thread.sleep(1000000);
        }
      }
      """,
      "javac Service.java", "java, -Xmx200m, -XX:+UseSerialGC, Service", "held by Service.startPool() (Service.java:7)"
    ),
    (
      "service.go",
      """
      package main

      import ("fmt"; "os"; "strconv"; "strings"; "time")

      type object struct { name string; list [6]int }

      var kept []*object

      //go:noinline
      func remember(count int) {
      	for at := 0; at < count; at++ {
      		kept = append(kept, &object{strings.Repeat("x", 20), [6]int{at}})
      	}
      }

      func main() {
      	count, _ := strconv.Atoi(os.Getenv("KEPT"))
      	remember(count)
      	time.Sleep(300 * time.Millisecond)
      	fmt.Println("ready")
      	time.Sleep(time.Hour)
      }
      """,
      "go build -o service service.go", "./service", "held by main.remember() (service, service.go:"
    ),
    (
      "service.go",
      """
      package main

      import ("fmt"; "os"; "strconv"; "time")

      var ended = make(chan bool)

      //go:noinline
      func wait() { <-ended }

      func main() {
      	count, _ := strconv.Atoi(os.Getenv("KEPT"))
      	for at := 0; at < count / 20; at++ { go wait() }
      	time.Sleep(300 * time.Millisecond)
      	fmt.Println("ready")
      	time.Sleep(time.Hour)
      }
      """,
      "go build -o service service.go", "./service", "held by main.wait() (service, service.go:"
    ),
  ]

  @Test("The function is named that allocated the objects that are live in the heap", arguments: services.indices)
  func named(service: Int) throws {
    let service = Self.services[service]
    let project = try TemporaryProject(
      """
      version: 1
      scenarios:
        - name: service
          target: {command: [\(service.command)], inherit-env: [KEPT, NODE_OPTIONS]}
          ready: {log: ready}
      """)
    try service.text.write(to: project.url(service.file), atomically: true, encoding: .utf8)
    let built = try Highwater.shell(service.build, in: project)
    #expect(built.code == 0, "\(built.errors)")
    let found = try Highwater.run(
      "explain", "--against", "KEPT=1000", in: project,
      variables: ["KEPT": "200000", "NODE_OPTIONS": "--no-warnings"])
    #expect(found.code == 0, "\(found.errors)")
    #expect(found.text.contains(service.found), "\(found.text)")
    let files = try FileManager.default.contentsOfDirectory(atPath: project.url(".").path)
    #expect(!files.contains { $0.hasPrefix("isolate") }, "V8's logs stay in the working directory")
  }
}
