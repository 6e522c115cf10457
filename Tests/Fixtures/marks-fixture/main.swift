// Sends the marks that its first argument selects, and prints what its tests check.

import Dispatch
import Glibc
import MemoryMarkers

/// Prints a line without buffering, because a killed program does not flush.
func say(_ text: String) {
  let line = Array("\(text)\n".utf8)
  _ = write(STDOUT_FILENO, line, line.count)
}

/// An object to watch.
final class Model {}

/// The number of open files of this process.
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

/// Waits for a line of standard input, which the test sends.
func waitForTest() { _ = readLine() }

switch CommandLine.arguments.dropFirst().first {
case "all":
  let before = openFiles()
  markAll("load")
  say("connected=\(Marks.isConnected) dropped=\(Marks.dropped) opened=\(openFiles() - before)")
case "threads":
  // Each thread sends its own sequence of numbers.
  DispatchQueue.concurrentPerform(iterations: 4) { thread in
    for number in 0..<10_000 { Marks.value("thread.\(thread)", Double(number), unit: "turns") }
  }
  say("dropped=\(Marks.dropped)")
case "flood":
  // The FIFO becomes full, until the test reads it.
  for _ in 0..<20_000 { Marks.iteration() }
  let dropped = Marks.dropped
  say("dropped=\(dropped)")
  waitForTest()
  Marks.mark("resumed")
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
  // Closes all files, as daemons do, so that the FIFO's descriptor is reused.
  Marks.mark("before")
  for descriptor in 3..<64 as Range<CInt> { close(descriptor) }
  let path = CommandLine.arguments[2]
  for _ in 0..<8 { _ = open(path, O_RDWR | O_CREAT, 0o600) }
  Marks.mark("after")
  say("connected=\(Marks.isConnected)")
case "streams":
  // The FIFO must not get the descriptor of a closed standard stream.
  close(STDIN_FILENO)
  close(STDERR_FILENO)
  Marks.mark("first")
  _ = "diagnostic\n".withCString { write(STDERR_FILENO, $0, 10) }
  Marks.mark("second")
case "loop", "loop-off":
  let model = Model()
  let hunter = LoopHunter(turn: ManualTurn()) { _ in }
  hunter.watch(model, "update()")
  LoopHunter.isEnabled = CommandLine.arguments[1] == "loop"
  for _ in 0..<150 { hunter.hit(model, "update()") }
  say("largest=\(hunter.largestCount(of: model, "update()"))")
case "mismatch":
  // What is told of a name that never matches, on standard error.
  dup2(STDOUT_FILENO, STDERR_FILENO)
  let (model, other) = (Model(), Model())
  let hunter = LoopHunter(turn: ManualTurn()) { _ in say("loop") }
  hunter.watch(model, "update")
  hunter.watch(other, "update")
  hunter.hit(other, "update")
  for _ in 0..<300 {
    hunter.hit(model, "draw(_:)")
    hunter.hit(other, "draw(_:)")
  }
case "growth": grow(threshold: 1000, limit: 64 << 20)
case "growth-off": grow(threshold: 1000, limit: nil)
case "growth-late": grow(threshold: 1, limit: 16 << 20)
default:
  exit(2)
}

/// Prints each loop that is found while memory grows by 150 MiB in one turn, and the count of the last event.
func grow(threshold: Int, limit: UInt64?) {
  let model = Model()
  let turn = ManualTurn()
  nonisolated(unsafe) var lastCount = 0
  let hunter = LoopHunter(threshold: threshold, growth: limit, turn: turn, notify: .oncePerTurn) { event in
    say("\(event.cause) in turn \(event.turn)")
    lastCount = event.count
  }
  hunter.watch(model, "update")
  let size = 1 << 20
  for _ in 0..<150 {
    hunter.hit(model, "update")
    if let block = malloc(size) { memset(block, 1, size) }
    // Memory is read at most once a millisecond.
    usleep(2000)
  }
  if threshold > 1 {
    turn.advance()
    hunter.hit(model, "update")
  }
  say("\(lastCount)")
}
