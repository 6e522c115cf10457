// Counts its own instances as its first argument selects, and prints what its tests check.

import Dispatch
import Foundation
import MemoryMarkers

class Node {
  var next: Node?
}

final class Other {}
final class Third {}

final class Failing {
  let node: Node
  init?(_ fails: Bool) {
    node = Node()
    if fails { return nil }
  }
}

/// Keeps the optimizer from removing an object, or moving it to the stack.
@inline(never)
func use(_ object: AnyObject) { withExtendedLifetime(object) {} }

@inline(never)
func makeCycles(_ count: Int) {
  for _ in 0..<count {
    let node = Node()
    node.next = node
    use(node)
  }
}

func live(_ type: AnyClass) -> String { InstanceProfiler.liveCount(of: type).map(String.init) ?? "untracked" }

/// What `ci/bench instances` measures.
func work(_ kind: String) {
  switch kind {
  case "short":
    for _ in 0..<300 {
      for _ in 0..<10_000 { kept.append(Node()) }
      kept.removeAll(keepingCapacity: true)
    }
  case "living": for _ in 0..<1_000_000 { kept.append(Node()) }
  default:
    for round in 0..<1000 {
      let words = (0..<1000).map { "the word number \($0 + round) of a text" }
      let lengths = Dictionary(grouping: words, by: \.count)
      if lengths.isEmpty { print("no words") }
    }
  }
}

nonisolated(unsafe) var kept: [AnyObject] = []
kept.reserveCapacity(100_000)

/// Ends the program if it cannot count.
func start(_ mode: InstanceProfiler.Mode = .counts, _ hook: InstanceProfiler.Hook = .auto) {
  do {
    try InstanceProfiler.start(mode, hook: hook)
    print("hook=\(InstanceProfiler.snapshot().hook)")
  } catch {
    print("refused: \(error)")
    exit(0)
  }
}

switch CommandLine.arguments.dropFirst().first {
case "counts":
  start()
  for _ in 0..<100 { kept += [Node(), Other(), Third()] }
  print("kept", live(Node.self), live(Other.self), live(Third.self))
  for _ in 0..<100 { use(Node()) }
  print("temporary", live(Node.self))
  for _ in 0..<100 { use(Failing(true) ?? Third()) }
  print("failing", live(Failing.self), live(Third.self))
  makeCycles(1000)
  print("cycles", live(Node.self))
  kept.removeAll()
  print("released", live(Node.self), live(Other.self), live(Third.self))
case "generations":
  for _ in 0..<100 { kept.append(Node()) }
  start(.exact)
  print("marks", (1...10).map { _ in InstanceProfiler.markGeneration() })
  for _ in 0..<100 { kept.append(Node()) }
  print("tenth", Set(InstanceProfiler.objects(of: Node.self, inGeneration: 10)).count)
  print("mark", InstanceProfiler.markGeneration())
  for _ in 0..<5 { kept.append(Node()) }
  print("newest", (9...12).map { InstanceProfiler.objects(of: Node.self, inGeneration: $0).count })
  print("live", live(Node.self))
  kept.removeAll()
  print("released", live(Node.self), InstanceProfiler.objects(of: Node.self, inGeneration: 10).count)
case "arrays":
  start(.counts, CommandLine.arguments.last == "tables" ? .tables : .entry)
  var numbers: [Int] = []
  for number in 0..<100_000 { numbers.append(number) }
  kept.append(Node())
  print("nodes", live(Node.self), "numbers", numbers.count)
  print("untracked", InstanceProfiler.snapshot().untracked.map(\.name))
case "threads":
  start(CommandLine.arguments.last == "exact" ? .exact : .counts)
  DispatchQueue.concurrentPerform(iterations: 4) { _ in
    for _ in 0..<50_000 { use(Node()) }
  }
  let count = InstanceProfiler.snapshot()["instances_fixture.Node"]
  print("live", live(Node.self), "allocated", count?.allocated ?? -1)
case "late":
  let thread = DispatchQueue(label: "other")
  thread.sync { print("started") }
  // Not concurrentPerform, which stays on this thread where there is one CPU.
  let isRunning = DispatchSemaphore(value: 0)
  DispatchQueue.global().async {
    isRunning.signal()
    sleep(60)
  }
  isRunning.wait()
  start(.counts, .entry)
case "restart":
  for round in 1...3 {
    start()
    start(.exact)
    for _ in 0..<round * 10 { kept.append(Node()) }
    InstanceProfiler.stop()
    kept.removeAll()
    print("round", live(Node.self), InstanceProfiler.isRunning)
  }
case "toggle":
  start()
  let threads = DispatchGroup()
  for _ in 0..<3 {
    DispatchQueue.global().async(group: threads) {
      for round in 0..<20_000 { use(Set(["\(round)", "a text that is too long to need no object"]) as AnyObject) }
    }
  }
  for round in 0..<200 {
    InstanceProfiler.stop()
    try InstanceProfiler.start(round % 2 == 0 ? .exact : .counts)
  }
  threads.wait()
  print("hook=\(InstanceProfiler.snapshot().hook)", InstanceProfiler.snapshot().classes.isEmpty)
case "signal":
  start()
  for _ in 0..<100 { kept.append(Node()) }
  InstanceProfiler.writeSnapshots(to: CommandLine.arguments[2], at: SIGUSR1)
  // The tests' threads block signals, and so does what they start.
  var signals = sigset_t()
  sigemptyset(&signals)
  sigaddset(&signals, SIGUSR1)
  pthread_sigmask(SIG_UNBLOCK, &signals, nil)
  raise(SIGUSR1)
  let data = try Data(contentsOf: URL(fileURLWithPath: CommandLine.arguments[2]))
  let written = try JSONDecoder().decode(InstanceSnapshot.self, from: data)
  print(written.label, written.classes.count > 1, written["instances_fixture.Node"] as Any)
case "diff":
  start()
  let counts = CommandLine.arguments[2...].compactMap { Int($0) }
  let snapshots = counts.map { count in
    while kept.count < count { kept.append(Node()) }
    while kept.count > count { kept.removeLast() }
    return InstanceProfiler.snapshot(label: "full")
  }
  let diff = SnapshotDiff(from: Array(snapshots.prefix(3)), to: Array(snapshots.dropFirst(3)))
  let other = SnapshotDiff(from: snapshots, to: [InstanceProfiler.snapshot(label: "empty")])
  let nodes = diff?.changes.filter { "\($0)".contains("Node") } ?? []
  print(nodes, diff?.flagged.count ?? -1, "other label:", other == nil)
case "iterations":
  start()
  let snapshots = (0..<10).map { iteration in
    // One that stays in each iteration, a cache that is filled by the first, and one that comes and goes.
    kept.append(Node())
    if iteration == 0 { (0..<500).forEach { _ in kept.append(Other()) } }
    let third = iteration % 2 == 0 ? Third() : nil
    return withExtendedLifetime(third) { InstanceProfiler.snapshot() }
  }
  let own = { (diff: SnapshotDiff) in diff.changes.filter { "\($0)".contains("instances_fixture") } }
  print(own(SnapshotDiff(iterations: snapshots)), own(SnapshotDiff(iterations: snapshots.dropLast())))
case "cost":
  if CommandLine.arguments[2] != "off" { start(CommandLine.arguments[2] == "exact" ? .exact : .counts) }
  work(CommandLine.arguments[3])
  let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
  let line = status.components(separatedBy: "\n").first { $0.hasPrefix("VmHWM") } ?? ""
  print(line.filter(\.isNumber))
default:
  print("unknown argument")
  exit(2)
}
