// Measures the cost of one part of the library to the program; prints nanoseconds of CPU time per call.
//   costs calls                 outside the gate, compared with a call of an empty function
//   costs writes                inside the gate, compared with one write(2) of the same bytes
//   costs loops                 hits of a LoopHunter
//   costs launches FOLDER       a change of activity, and a heartbeat that is not due

import Glibc
import MemoryMarkers

/// The CPU time of this thread, which other programs do not change as much as they change the time that passes.
func nanoseconds() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
}

func say(_ words: String) {
  let line = Array("\(words)\n".utf8)
  _ = write(STDOUT_FILENO, line, line.count)
}

/// The time of one call, the median of 21 rounds.
func measure(_ calls: Int, between: () -> Void = {}, _ work: (Int) -> Void) -> Double {
  let rounds = (0..<21).map { _ in
    let start = nanoseconds()
    work(calls)
    let time = (nanoseconds() - start) / Double(calls)
    between()
    return time
  }
  return rounds.sorted()[10]
}

/// An empty function that the optimiser keeps: no call can be cheaper.
@inline(never)
@_optimize(none)
func nothing(_ name: String) {}

final class Model {}

/// Turns that all go on, as those of concurrent requests.
struct Turns: TurnSource {
  nonisolated(unsafe) static var current: UInt64 = 0
  nonisolated(unsafe) private static var last: UInt64 = 0

  static func next() -> UInt64 {
    last += 1
    return last
  }

  func currentTurn() -> UInt64 { Self.current }
  func hasEnded(_ turn: UInt64) -> Bool { false }
}

switch CommandLine.arguments.dropFirst().first {
case "calls":
  say("bare call \(measure(5_000_000) { for _ in 0..<$0 { nothing("load") } })")
  say("mark \(measure(5_000_000) { for _ in 0..<$0 { Marks.mark("load") } })")
  say("iteration \(measure(5_000_000) { for _ in 0..<$0 { Marks.iteration() } })")
  say("value \(measure(5_000_000) { for _ in 0..<$0 { Marks.value("load", 1, unit: "s") } })")
case "writes":
  // Few enough for a FIFO of 64 KiB, which is emptied between the rounds.
  let fifo = open(String(cString: getenv("HIGHWATER_MARKS")), O_RDWR | O_NONBLOCK)
  var buffer = [UInt8](repeating: 0, count: 65_536)
  let empty = { while read(fifo, &buffer, buffer.count) > 0 {} }
  let line = Array("mark load\n".utf8)
  say("write(2) \(measure(1500, between: empty) { for _ in 0..<$0 { _ = write(fifo, line, line.count) } })")
  say("mark \(measure(1500, between: empty) { for _ in 0..<$0 { Marks.mark("load") } })")
  say("iteration \(measure(1500, between: empty) { for _ in 0..<$0 { Marks.iteration() } })")
  say("value \(measure(1500, between: empty) { for _ in 0..<$0 { Marks.value("load", 0.1, unit: "s") } })")
  say("dropped \(Marks.dropped)")
case "loops":
  let turn = ManualTurn()
  let hunter = LoopHunter(threshold: .max, turn: turn) { _ in }
  let (watched, other) = (Model(), Model())
  hunter.watch(watched, "update")
  say("bare call \(measure(5_000_000) { for _ in 0..<$0 { nothing("load") } })")
  say("unwatched \(measure(5_000_000) { for _ in 0..<$0 { hunter.hit(other, "update") } })")
  say("watched \(measure(100_000) { for _ in 0..<$0 { hunter.hit(watched, "update") } })")
  let turns = (0..<1000).map { _ in Turns.next() }
  let tasks = LoopHunter(threshold: .max, turn: Turns()) { _ in }
  tasks.watch(watched, "update")
  for number in turns { Turns.current = number; tasks.hit(watched, "update") }
  say(
    "one of 1000 turns \(measure(100_000) { for call in 0..<$0 { Turns.current = turns[call % 1000]; tasks.hit(watched, "update") } })"
  )
  say("new turn \(measure(1000) { for _ in 0..<$0 { turn.advance(); hunter.hit(watched, "update") } })")
case "launches":
  let launch = LaunchReason(store: FileRunStore(folder: CommandLine.arguments[2]), appVersion: "1")
  launch.set(.active)
  say("set \(measure(10_000) { for _ in 0..<$0 { launch.set(.active) } })")
  say("tick \(measure(10_000) { for _ in 0..<$0 { launch.tick() } })")
default:
  exit(2)
}
