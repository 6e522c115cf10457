// Marks its work in the way that its first argument names, and prints what its tests ask for.

import Dispatch
import Glibc
import MemoryMarkers

/// Prints a line at once, since a killed program flushes nothing.
func say(_ words: String) {
  let line = Array("\(words)\n".utf8)
  _ = write(STDOUT_FILENO, line, line.count)
}

/// The files that this process has open.
func openFiles() -> Int {
  guard let folder = opendir("/proc/self/fd") else { return -1 }
  defer { closedir(folder) }
  var count = 0
  while readdir(folder) != nil { count += 1 }
  return count
}

func markAll(_ name: String) {
  Marks.phase(name)
  Marks.mark(name)
  Marks.iteration()
  Marks.value(name, 1.5, unit: "items")
}

/// Waits for a line of the standard input, so that a test decides when to go on.
func waitForTest() { _ = readLine() }

switch CommandLine.arguments.dropFirst().first {
case "all":
  let before = openFiles()
  markAll("load")
  say("connected=\(Marks.isConnected) dropped=\(Marks.dropped) opened=\(openFiles() - before)")
case "threads":
  // Each thread has numbers of its own.
  DispatchQueue.concurrentPerform(iterations: 4) { thread in
    for number in 0..<10_000 { Marks.value("thread.\(thread)", Double(number), unit: "turns") }
  }
  say("dropped=\(Marks.dropped)")
case "flood":
  // Nobody reads meanwhile; then there is room again.
  for _ in 0..<20_000 { Marks.iteration() }
  let dropped = Marks.dropped
  say("dropped=\(dropped)")
  waitForTest()
  Marks.mark("room")
  say("dropped=\(Marks.dropped)")
case "gone":
  Marks.mark("first")
  say("ready")
  waitForTest()
  for _ in 0..<20_000 { Marks.iteration() }
  say("dropped=\(Marks.dropped > 0)")
case "names":
  for name in ["two\nlines", "phase a b", ".hidden", "", "é", String(repeating: "n", count: 300)] { Marks.mark(name) }
  for number in [Double.nan, .infinity, 0.1, 1e300, -0.0, .leastNonzeroMagnitude, 1_000_000] {
    Marks.value("n", number, unit: "")
  }
  Marks.value("unit", 1, unit: "way too long for a unit of the gate\n")
case "daemon":
  // Closes all files, as daemons do, and gets another one under the FIFO's number.
  Marks.mark("before")
  for descriptor in 3..<64 as Range<CInt> { close(descriptor) }
  let path = CommandLine.arguments[2]
  for _ in 0..<8 { _ = open(path, O_RDWR | O_CREAT, 0o600) }
  Marks.mark("after")
  say("connected=\(Marks.isConnected)")
case "streams":
  // Without standard streams the FIFO's descriptor must not become one of them.
  close(STDIN_FILENO)
  close(STDERR_FILENO)
  Marks.mark("first")
  _ = "diagnostic\n".withCString { write(STDERR_FILENO, $0, 10) }
  Marks.mark("second")
case "loop", "loop-off":
  final class Model {}
  let model = Model()
  let hunter = LoopHunter(turn: ManualTurn()) { _ in }
  hunter.watch(model, "update()")
  LoopHunter.isEnabled = CommandLine.arguments[1] == "loop"
  for _ in 0..<150 { hunter.hit(model, "update()") }
  say("largest=\(hunter.largestCount(of: model, "update()"))")
default:
  exit(2)
}
