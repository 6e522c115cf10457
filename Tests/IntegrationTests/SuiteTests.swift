import Foundation
import Testing

@Suite("Suites of tests of real frameworks", .endsHangs)
struct SuiteTests {
  private func suite(_ command: [String], in project: TemporaryProject) throws -> Highwater.Outcome {
    try Highwater.start(["suite", "--"] + command, in: project).wait()
  }

  /// Approves the tests, changes a file, and expects the regression of one test only.
  private func expectRegression(
    of test: String, in project: TemporaryProject, _ command: [String], after change: () throws -> Void
  ) throws {
    let first = try suite(command, in: project)
    #expect(first.code == 5, "\(first.text)")
    let approved = try Highwater.run("approve", in: project)
    #expect(approved.code == 0, "\(approved.text)")
    let same = try suite(command, in: project)
    #expect(same.code == 0, "\(same.text)")
    try change()
    let changed = try suite(command, in: project)
    #expect(changed.code == 1 && changed.text.contains(test), "\(changed.text)")
    #expect(changed.text.contains("also when it runs alone") && !changed.text.contains("innocent"), "\(changed.text)")
  }

  @Test("pytest reports each test by a plugin: one that keeps memory is named, and those after it are not")
  func pytest() throws {
    let project = try TemporaryProject()
    func tests(keeping mebibytes: Int) -> String {
      """
      kept = []
      def test_innocent_before(): pass
      def test_grown(): kept.append(bytearray(b"x" * (\(mebibytes) << 20)))
      def test_innocent_after(): assert bytearray(b"y" * (4 << 20))
      """
    }
    try project.write(tests(keeping: 1), to: "tests/test_it.py")
    try expectRegression(
      of: "tests/test_it.py::test_grown (tests/test_it.py:3)", in: project,
      ["python3", "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"]
    ) { try project.write(tests(keeping: 40), to: "tests/test_it.py") }
  }

  @Test("A test that needs more because of another one is not blamed, also if it loads modules when it runs alone")
  func disturbed() throws {
    let project = try TemporaryProject()
    func tests(_ disturbance: String) -> String {
      """
      import tracemalloc
      kept = []
      def load(): import asyncio, email.message, http.client, multiprocessing.pool, unittest.mock, xml.dom.minidom
      def keep(): kept.append([bytearray(9) for _ in range(60000)])
      def test_loads(): load()
      def test_culprit(): \(disturbance)
      def test_innocent(): keep()
      def test_innocent_alone(): load(); keep()
      """
    }
    try project.write(tests("pass"), to: "test_it.py")
    let command = ["python3", "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py"]
    #expect(try suite(command, in: project).code == 5)
    #expect(try Highwater.run("approve", in: project).code == 0)
    try project.write(tests("tracemalloc.start(9)"), to: "test_it.py")
    let outcome = try suite(command, in: project)
    #expect(outcome.code == 1 && outcome.text.contains("test_culprit (test_it.py:6) makes another"), "\(outcome.text)")
    #expect(outcome.text.contains("innocent_alone keeps") && !outcome.text.contains("runs alone"), "\(outcome.text)")
  }

  @Test("A test that breaks what the plugin needs passes as without it, and the suite is not called measured")
  func brokenPlugin() throws {
    let project = try TemporaryProject()
    let tests = """
      import os, time
      def test_closed():
        for number in os.listdir("/proc/self/fd"):
          path = f"/proc/self/fd/{number}"
          name = os.readlink(path) if os.path.lexists(path) else ""
          if name.endswith((".jsonl", "/status", "/clear_refs")): os.close(int(number))
      def test_after(tmp_path):
        files = [open(tmp_path / str(number), "w+") for number in range(9)]
        time.monotonic = None
        assert all(file.read() == "" for file in files)
      """
    try project.write(tests, to: "tests/test_it.py")
    let outcome = try suite(["python3", "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"], in: project)
    #expect(outcome.code == 3 && outcome.text.contains("1 process could not record"), "\(outcome.text)")
    #expect(!outcome.text.contains("tests failed") && !outcome.text.contains("INTERNALERROR"), "\(outcome.text)")
  }

  /// The launcher with all engines, from Debian's package `junit5`.
  private static let junitConsole = "/usr/share/java/junit-platform-console-standalone.jar"

  private func compileJava(_ text: String, in project: TemporaryProject) throws {
    try project.write(text, to: "CacheTest.java")
    let outcome = try Highwater.shell("javac -d classes -cp \(Self.junitConsole) CacheTest.java", in: project)
    #expect(outcome.code == 0, "\(outcome.text)")
  }

  @Test("JUnit reports each test by an agent, also one of several invocations of a method")
  func junit() throws {
    let project = try TemporaryProject()
    func tests(keeping mebibytes: Int) -> String {
      """
      import java.util.Arrays;
      import org.junit.jupiter.api.*;
      import org.junit.jupiter.params.ParameterizedTest;
      import org.junit.jupiter.params.provider.ValueSource;

      @TestMethodOrder(MethodOrderer.MethodName.class)
      class CacheTest {
        static byte[] kept;
        @Test void a_innocent() {}
        @ParameterizedTest @ValueSource(ints = {1, \(mebibytes)}) void b_grown(int mebibytes) {
          kept = new byte[mebibytes << 20];
          Arrays.fill(kept, (byte) 1);
        }
        @Test void c_innocent() {}
      }
      """
    }
    try compileJava(tests(keeping: 1), in: project)
    try expectRegression(
      of: "CacheTest#b_grown(int)[2] (CacheTest.java:", in: project,
      ["java", "-jar", Self.junitConsole, "-cp", "classes", "--scan-classpath"]
    ) { try compileJava(tests(keeping: 40), in: project) }
  }

  @Test("Programs that list their tests run each of them in a process of its own")
  func go() throws {
    let project = try TemporaryProject()
    func tests(taking mebibytes: Int) -> String {
      """
      package a
      import "testing"
      var kept []byte
      func take(mebibytes int) { kept = make([]byte, mebibytes << 20); for i := range kept { kept[i] = 1 } }
      func TestGrown(t *testing.T) { take(\(mebibytes)) }
      func TestInnocent(t *testing.T) { take(8) }
      """
    }
    try project.write("module example.com/a\n\ngo 1.19\n", to: "go.mod")
    try project.write(tests(taking: 8), to: "sub/a_test.go")
    try expectRegression(of: "sub/TestGrown", in: project, ["go", "test", "./..."]) {
      try project.write(tests(taking: 60), to: "sub/a_test.go")
    }
  }
}
