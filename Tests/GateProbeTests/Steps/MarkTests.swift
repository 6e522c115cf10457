import Foundation
import GateCore
import Glibc
import Synchronization
import Testing

@testable import GateProbe

@Suite("Marks of a target", .timeLimit(.minutes(60)))
struct MarkTests {
  let harness = ScenarioHarness()

  @Test("A shell script sends marks with echo")
  func shell() throws {
    let recording = try harness.run(
      harness.scenario(
        """
        echo "phase load" > "$HIGHWATER_MARKS"; sleep 0.05; echo "iteration" > "$HIGHWATER_MARKS"
        echo "value queue.depth 17 items" > "$HIGHWATER_MARKS"; echo "what is this" > "$HIGHWATER_MARKS"
        echo "mark end" > "$HIGHWATER_MARKS"; sleep 1 # the memory at the first mark is read while the target lives
        """))
    #expect(
      recording.events == [
        .phase("load"), .iteration, .value(name: "queue.depth", number: 17, unit: "items"), .mark("end"),
      ])
    #expect(recording.unknownMarks == 1)
    #expect(recording.failure == nil)
    let times = recording.marks.map(\.time)
    #expect(times == times.sorted())
    #expect(times.allSatisfy { $0 > .zero && $0 <= recording.duration })
    #expect(recording.marks.first?.resident != nil)
  }

  @Test("A target that dropped root sends marks", .enabled(if: geteuid() == 0))
  func droppedRoot() throws {
    let line = """
      chmod 755 . tmp
      exec setpriv --reuid=65534 --clear-groups sh -ec 'echo phase a > "$HIGHWATER_MARKS"'
      """
    let recording = try harness.run(harness.scenario(line))
    #expect(recording.failure == nil)
    #expect(recording.events == [.phase("a")])
  }

  @Test("The documented line does not end a shell with `set -e`", arguments: ["", "/dev/full", "/nonexistent/marks"])
  func shellWithoutMarks(path: String) throws {
    let text = try #require(SmallFile.text(at: Self.documentation, atMost: 1 << 20))
    let line = try #require(text.split(separator: "\n").first { $0.contains("echo \"phase load\" >") })
    let recording = try harness.run(
      harness.scenario("set -eu; HIGHWATER_MARKS=\(path)\n\(line)\nunset HIGHWATER_MARKS\n\(line)\nexit 7"))
    #expect(recording.end.kind == .exited && recording.end.code == 7)
    #expect(recording.outputTail.isEmpty)
    let marked = try harness.run(harness.scenario("set -eu\n\(line)"))
    #expect(marked.events == [.phase("load")])
  }

  private static let documentation =
    #filePath.components(separatedBy: "/Tests/")[0] + "/Sources/highwater/Documentation.docc/inside-the-target.md"

  @Test("Marks of the target and of the steps are in one list")
  func together() throws {
    var scenario = harness.scenario("echo 'phase inner' > $HIGHWATER_MARKS; echo up; exec sleep 1000")
    scenario.steps = [
      Step(.expectOutput(try Pattern(parsing: "up"), within: .seconds(30))), Step(.wait(.milliseconds(100))),
      Step(.phase("outer")),
    ]
    let marks = try harness.run(scenario).marks
    #expect(marks.map(\.event) == [.phase("inner"), .phase("outer")])
    #expect(marks.map(\.isLate) == [true, false])
  }

  @Test("Incomplete, overlong and malformed lines are counted, never fatal")
  func noise() throws {
    let recording = try harness.run(
      harness.python(
        """
        import os
        f = open(os.environ['HIGHWATER_MARKS'], 'wb', buffering=0)
        f.write(b'x' * 2000 + b'\\n'); f.write(b'\\0\\xff\\n'); f.write(b'mark fine\\n'); f.write(b'mark torn')
        """))
    #expect(recording.events == [.mark("fine")])
    #expect(recording.unknownMarks == 3)
  }

  @Test("Of several iterations in one read, only the last has a memory level; other marks keep theirs")
  func burst() {
    let list = MarkList { reading in
      Sampler.Level(
        time: .seconds(1), resident: .mebibytes(20), peakBefore: reading == .peak ? .mebibytes(30) : nil)
    }
    list.read(Array("iteration\niteration\nmark a\niteration\nphase b\n".utf8)[...])
    let marks = list.finish(at: .seconds(1)).marks
    #expect(marks.map(\.event) == [.iteration, .iteration, .mark("a"), .iteration, .phase("b")])
    #expect(marks.map { $0.resident != nil } == [false, false, true, true, true])
    #expect(marks.map(\.peakBefore) == [nil, nil, nil, nil, .mebibytes(30)])
  }

  @Test("The first iteration is told once, whether a step or the target marks it")
  func firstIteration() {
    for marksItself in [true, false] {
      let count = Mutex(0)
      let list = MarkList(
        level: { _ in Sampler.Level(time: .seconds(1)) }, firstIteration: { count.withLock { $0 += 1 } })
      list.read(Array("mark a\n".utf8)[...])
      #expect(count.withLock(\.self) == 0)
      if marksItself { list.read(Array("iteration\niteration\n".utf8)[...]) }
      list.add(.iteration)
      #expect(count.withLock(\.self) == 1)
    }
  }

  @Test("A phase is late if its writer no longer waits, also if that is read after it")
  func late() {
    let list = MarkList { _ in Sampler.Level(time: .seconds(1), resident: .mebibytes(20)) }
    for text in ["late\nphase a wait\nphase b wait\n", "mark c\nlate\nphase d wait\n"] {
      list.read(Array(text.utf8)[...])
    }
    let (marks, unknownLines, _) = list.finish(at: .seconds(1))
    #expect(marks.map(\.event) == [.phase("a"), .phase("b"), .mark("c"), .phase("d")])
    #expect(marks.map(\.isLate) == [false, true, true, false])
    #expect(unknownLines == 0)
  }

  @Test("A message that a phase was late is never about a phase of a step")
  func lateBesideStep() {
    let list = MarkList { _ in Sampler.Level(time: .seconds(1), resident: .mebibytes(20)) }
    list.read(Array("late\nphase own wait\n".utf8)[...])
    list.add(.phase("step"))
    list.read(Array("late\n".utf8)[...])
    #expect(list.finish(at: .seconds(1)).marks.map(\.isLate) == [true, false])
  }

  @Test("Only the last activity mark is kept, however many there are")
  func activities() {
    let list = MarkList { _ in Sampler.Level(time: .seconds(1), resident: .mebibytes(20)) }
    list.read(Array("mark a\n".utf8)[...])
    let turn = Array("mark activity.active\nmark activity.idle\n".utf8)
    for _ in 0..<MarkList.maxMarks { list.read(turn[...]) }
    list.read(Array("mark b\n".utf8)[...])
    let (marks, unknownLines, note) = list.finish(at: .seconds(2))
    #expect(marks.map(\.event) == [.mark("a"), .mark("b"), .mark("activity.idle")])
    #expect(unknownLines == 0 && note == nil)
  }

  @Test("Marks beyond 100 000 are dropped, with a note")
  func many() throws {
    let recording = try harness.run(
      harness.python(
        """
        import os
        f = open(os.environ['HIGHWATER_MARKS'], 'wb', buffering=0)
        for _ in range(1050): f.write(b'iteration\\n' * 100)
        """))
    #expect(recording.marks.count == 100_000)
    #expect(recording.notes == [.marksDropped(count: 5000, most: 100_000)])
  }

  @Test("A target without marks has none")
  func none() throws {
    let recording = try harness.run(harness.scenario("test -p \"$HIGHWATER_MARKS\""))
    #expect(recording.end == End(.exited, code: 0))
    #expect(recording.marks == [])
    #expect(recording.unknownMarks == 0)
  }
}
