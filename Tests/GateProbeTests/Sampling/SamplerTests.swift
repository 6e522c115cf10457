import Foundation
import GateCore
import Glibc
import Testing

@testable import GateProbe

@Suite("Sampling a tree", .timeLimit(.minutes(60)))
struct SamplerTests {
  let testProcesses = TestProcesses()

  /// Samples from the start of the tree until its leader has ended.
  private func report(of processTree: ProcessTree, main: Target.MainProcess? = nil) -> SamplingReport {
    let sampler = Sampler(processTree: processTree, interval: .milliseconds(10), main: main)
    sampler.start()
    _ = processTree.leaderEnding()
    return sampler.finish()
  }

  @Test("The highest peak seen matches the program's own VmHWM within 1 %")
  func peak() throws {
    let processTree = try testProcesses.python(
      """
      import mmap, time
      m = mmap.mmap(-1, 50 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
      for at in range(0, 50 << 20, 4096): m[at] = 1
      time.sleep(0.3)
      m.close()
      time.sleep(0.1)
      print([l for l in open('/proc/self/status') if l.startswith('VmHWM')][0].split()[1])
      """)
    let report = report(of: processTree)
    let own = try #require(Int64(testProcesses.output.split(separator: "\n").last ?? ""))
    let measured = try #require(report.samples.compactMap(\.main?.peak).max())
    #expect(abs(measured.count - own * 1024) * 100 <= own * 1024, "measured \(measured), own \(own) KiB")
    #expect(measured > .mebibytes(50))
    let record = try #require(report.processes.first { $0.isMain })
    #expect(record.id == processTree.leader && record.peak == measured && record.command.hasPrefix("python"))
    // After the free, resident memory falls, but the peak does not.
    let last = try #require(report.samples.compactMap(\.main).last)
    #expect(last.resident < .mebibytes(40))
    #expect(last.anonymous + last.file + last.shared == last.resident)
  }

  @Test("Samples are in order of time, and the widest gap is reported")
  func times() throws {
    let processTree = try testProcesses.processTree("sleep", "0.5")
    let report = report(of: processTree)
    let times = report.samples.map(\.time)
    #expect(times.count >= 10)
    #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
    #expect(report.widestGap > .zero)
    let gaps = zip(times, times.dropFirst()).map { $1 - $0 }
    #expect((gaps.max() ?? .zero) <= report.widestGap)
  }

  @Test("The time from the last reading to the end of the target is a gap, too")
  func lastGap() throws {
    let processTree = try testProcesses.processTree("sleep", "0.3")
    let sampler = Sampler(processTree: processTree, interval: .milliseconds(10), main: nil)
    let begin = ContinuousClock.now
    _ = processTree.leaderEnding()
    let gap = ContinuousClock.now - begin
    #expect(sampler.finish().widestGap >= gap)
  }

  @Test("The first reading precedes the start of the thread, so that a short program has one")
  func firstReading() throws {
    let processTree = try testProcesses.processTree("sleep", "1000")
    let sampler = Sampler(processTree: processTree, interval: .milliseconds(10), main: nil)
    let first = try #require(sampler.recent(10).first)
    #expect(sampler.recent(10).count == 1)
    #expect(first.main != nil && first.processes == 1)
    #expect(sampler.finish().samples.count == 2, "a last one is made when it stops, started or not")
  }

  @Test("Page faults and CPU time are read with the first sample, then less often than memory")
  func activity() throws {
    let processTree = try testProcesses.processTree("sleep", "1000")
    let sampler = Sampler(processTree: processTree, interval: .milliseconds(1), main: nil)
    sampler.start()
    #expect(eventually { sampler.recent(1).first.map { $0.time > .milliseconds(500) } ?? false })
    let samples = sampler.finish().samples
    let known = samples.filter { $0.activity != nil }
    #expect(samples.first?.activity != nil)
    #expect(known.count >= 3 && known.count < samples.count, "\(known.count) of \(samples.count)")
    let gaps = zip(known.dropFirst(), known).map { ($0.time - $1.time, $1.time) }
    #expect(gaps.allSatisfy { gap, time in gap >= min(time / 32, .milliseconds(40)) })
  }

  @Test("The largest process is the main one; all count for the tree")
  func children() throws {
    let processTree = try testProcesses.python(
      """
      import os, subprocess, sys, time
      code = "import time; b = bytearray(20 << 20); print('up', flush=True); time.sleep(1000)"
      for n in range(3): subprocess.Popen([sys.executable, '-c', code])
      time.sleep(1000)
      """)
    let sampler = Sampler(processTree: processTree, interval: .milliseconds(10), main: nil)
    sampler.start()
    #expect(eventually { testProcesses.output == "up\nup\nup\n" })
    #expect(eventually { (sampler.recent(1).first?.tree ?? .zero) > .mebibytes(80) })
    let last = try #require(sampler.recent(1).first)
    #expect(last.processes == 4)
    let main = try #require(last.main).resident
    #expect(main > .mebibytes(20) && main < .mebibytes(40))
    #expect(try #require(sampler.residentNow()) < .mebibytes(40))
    #expect(sampler.mainProcess != processTree.leader)
    let report = sampler.finish()
    #expect(report.processes.count >= 4)
    #expect(report.processes.count(where: \.isMain) == 1)
    #expect(report.processes.first { $0.id == processTree.leader }?.isMain == false)
    #expect(report.processes.filter { $0.parent == processTree.leader && $0.peak > .mebibytes(20) }.count == 3)
  }

  @Test("The memory of a child between vfork and exec is not counted twice")
  func borrowedMemory() throws {
    // The child of a vfork shares its parent's memory until its exec; this one waits for a writer of a FIFO.
    let source = testProcesses.file(
      "vfork.c",
      """
      #define _GNU_SOURCE
      #include <fcntl.h>
      #include <stdlib.h>
      #include <string.h>
      #include <unistd.h>
      int main(int count, char **words) {
        char *block = malloc(64 << 20);
        memset(block, 1, 64 << 20);
        if (vfork() == 0) { write(1, "up", 2); open(words[1], O_RDONLY); _exit(block[0] - 1); }
        write(1, "down", 4);
        pause();
      }
      """)
    let program = testProcesses.folder + "/vfork"
    let compiler = try testProcesses.processTree("cc", "-w", "-O1", "-o", program, source)
    try #require(compiler.leaderEnding() == .exited(0), "\(testProcesses.output)")
    let fifo = testProcesses.folder + "/fifo"
    mkfifo(fifo, 0o600)
    let processTree = try testProcesses.processTree(program, fifo)
    #expect(eventually { testProcesses.output.contains("up") })
    let sampler = Sampler(processTree: processTree, interval: .milliseconds(2), main: nil)
    sampler.start()
    #expect(eventually { sampler.recent(100).count == 100 })
    let writer = open(fifo, O_WRONLY | O_NONBLOCK)
    #expect(eventually { testProcesses.output.contains("down") })
    close(writer)
    let report = sampler.finish()
    let tree = try #require(report.samples.map(\.tree).max())
    #expect(tree > .mebibytes(64) && tree < .mebibytes(80), "the tree had \(tree)")
    #expect(report.processes.count == 2)
    #expect(report.processes.last?.peak == .zero)
  }

  @Test("The pidfile identifies the main process of a daemon")
  func pidfile() throws {
    let path = testProcesses.file("daemon.pid", "1\n")
    let processTree = try testProcesses.shell("(setsid sh -c 'sleep 0.1; echo $$ > daemon.pid; exec sleep 1000' &)")
    let sampler = Sampler(processTree: processTree, interval: .milliseconds(10), main: .pidfile(path))
    sampler.start()
    #expect(sampler.residentNow() == nil, "the pid in a stale pidfile is not a member")
    #expect(eventually { sampler.mainProcess != nil })
    // The shell that started it may still be a member.
    #expect(eventually { sampler.mainProcess == processTree.members().first?.pid })
    #expect(eventually { sampler.residentNow() != nil })
    #expect(eventually { sampler.recent(1).first?.main != nil })
    // Not stopped at its exec, which the tracer must have seen.
    let status = "/proc/\(sampler.mainProcess ?? 0)/stat"
    #expect(eventually { (try? String(contentsOfFile: status, encoding: .utf8))?.contains("(sleep) S") == true })
    let report = sampler.finish()
    #expect(report.samples.first?.main == nil, "no values while it is unknown")
    #expect(report.processes.filter(\.isMain).map(\.command) == ["sleep"])
  }

  @Test("The main process is found by its name or its command line", arguments: ["^sleep$", "sleep 9[0-9]{2}$"])
  func name(pattern: String) throws {
    let processTree = try testProcesses.shell("sh -c 'sleep 987; :' & wait")
    let sampler = Sampler(
      processTree: processTree, interval: .milliseconds(5), main: .name(try Pattern(parsing: pattern)))
    sampler.start()
    #expect(eventually { sampler.mainProcess != nil })
    let main = sampler.mainProcess
    let report = sampler.finish()
    let found = try #require(report.processes.first { $0.isMain })
    #expect(found.id == main)
    // The shells' command lines do not match: they end differently.
    #expect(found.command == "sleep")
  }

  @Test("A shell is not the main process, even if its command line contains the name")
  func nameInLine() throws {
    let processTree = try testProcesses.shell("sleep 986; :")
    let name = try Pattern(parsing: "sleep 98[0-9]")
    let sampler = Sampler(processTree: processTree, interval: .milliseconds(5), main: .name(name))
    sampler.start()
    #expect(eventually { sampler.mainProcess != nil })
    #expect(sampler.mainProcess != processTree.leader)
    let report = sampler.finish()
    #expect(report.processes.filter(\.isMain).map(\.command) == ["sleep"])
  }

  @Test("A forked copy of that shell is not the main process either")
  func nameInCopiedLine() throws {
    // The subshell in parentheses waits for a line from the FIFO.
    let processTree = try testProcesses.shell("mkfifo gate; (echo copied; read line <gate); sleep 985; :")
    let name = try Pattern(parsing: "sleep 98[0-9]")
    let sampler = Sampler(processTree: processTree, interval: .milliseconds(5), main: .name(name))
    #expect(eventually { testProcesses.output == "copied\n" })
    sampler.start()
    // The first search precedes the first sample.
    #expect(eventually { !sampler.recent(1).isEmpty })
    #expect(sampler.mainProcess == nil)
    let opener = try testProcesses.shell("echo >gate")
    #expect(opener.leaderEnding() == .exited(0))
    #expect(eventually { sampler.mainProcess != nil })
    let report = sampler.finish()
    #expect(report.processes.filter(\.isMain).map(\.command) == ["sleep"])
  }

  @Test("After an exec, the process keeps the higher peak of both programs")
  func exec() throws {
    let processTree = try testProcesses.python(
      """
      import os, time
      b = bytearray(40 << 20); time.sleep(0.2)
      os.execvp('sleep', ['sleep', '0.3'])
      """)
    let report = report(of: processTree)
    let main = try #require(report.processes.first { $0.isMain })
    #expect(main.peak > .mebibytes(40))
    #expect(main.command == "sleep")
    #expect(try #require(report.samples.compactMap(\.main).last).peak < .mebibytes(20))
  }

  @Test("A process whose first thread has ended is read via another thread")
  func firstThreadEnded() throws {
    let processTree = try testProcesses.python(
      """
      import ctypes, threading, time
      b = bytearray(60 << 20)
      threading.Thread(target=lambda: time.sleep(1000)).start()
      time.sleep(0.05)
      print('up', flush=True)
      ctypes.CDLL(None).pthread_exit(None)
      """)
    let sampler = Sampler(processTree: processTree, interval: .milliseconds(10), main: nil)
    sampler.start()
    #expect(
      eventually { testProcesses.output == "up\n" && ProcessStat(of: processTree.leader)?.state == UInt8(ascii: "Z") })
    usleep(300_000)
    let resident = try #require(sampler.residentNow())
    #expect(resident > .mebibytes(60))
    let last = try #require(sampler.recent(1).first)
    #expect(last.tree > .mebibytes(60) && last.processes == 1)
    #expect(try #require(last.main).peak > .mebibytes(60))
    _ = sampler.finish()
  }

  @Test("After the end of the main process, the largest of the others is the main one")
  func mainEnds() throws {
    let processTree = try testProcesses.shell("trap 'exit 0' USR1; sleep 1000 & sleep 1000 & wait")
    let sampler = Sampler(processTree: processTree, interval: .milliseconds(5), main: nil)
    sampler.start()
    #expect(eventually { sampler.recent(1).first?.processes == 3 })
    kill(processTree.leader, SIGUSR1)
    #expect(processTree.leaderEnding() == .exited(0))
    #expect(eventually { sampler.recent(1).first.map { $0.main != nil && $0.processes == 2 } ?? false })
    #expect(sampler.mainProcess != processTree.leader)
    #expect(sampler.residentNow() != nil)
    let report = sampler.finish()
    #expect(report.samples.first?.main != nil)
    #expect(report.processes.count == 3)
  }

  @Test("A program that forks often is sampled, and ended processes are removed")
  func forkHeavy() throws {
    let processTree = try testProcesses.python(
      """
      import os, time
      end = time.monotonic() + 1
      while time.monotonic() < end:
        for n in range(20):
          if os.fork() == 0: time.sleep(0.01); os._exit(0)
        for n in range(20): os.wait()
      for n in range(20):
        if os.fork() == 0: time.sleep(1000)
      time.sleep(1000)
      """)
    let sampler = Sampler(processTree: processTree, interval: .milliseconds(5), main: nil)
    sampler.start()
    #expect(eventually { sampler.recent(1).first?.processes == 21 })
    let report = sampler.finish()
    #expect(report.processes.count > 21, "some of the processes that lived for 10 ms were seen, too")
    #expect(report.processes.filter(\.isMain).count == 1)
  }

  @Test(
    "A program that was reaped before its trace events are read has one record, with its exact peak",
    .enabled(if: LinuxCalls.canTrace, "requires permission to trace"))
  func reapedFirst() throws {
    var request = testProcesses.request(["true"])
    request.isTraced = true
    for _ in 0..<50 {
      let processTree = try ProcessTree(starting: request)
      var state = SamplerState(processTree: processTree, cgroup: nil, main: nil, capacity: 100)
      // Some of these readings find a zombie.
      while ProcessStat(of: processTree.leader) != nil { state.sweep(at: 1) }
      state.sweep(at: 1)
      state.takeTraceEvents()
      let processes = state.report(at: 2).processes
      #expect(processes.count == 1 && processes[0].isMain && processes[0].isExact, "\(processes)")
      #expect(processes.allSatisfy { $0.peak > .kibibytes(500) })
    }
  }

  @Test(
    "A process that asks not to be traced is searched for, since the cgroup counts its memory",
    .enabled(if: LinuxCalls.canTrace && TestCgroup.canCount, "requires permission to trace, and a memory cgroup"))
  func untraced() throws {
    let program = try testProcesses.compiled(
      """
      #define _GNU_SOURCE
      #include <sched.h>
      #include <signal.h>
      #include <stdio.h>
      #include <stdlib.h>
      #include <string.h>
      #include <sys/syscall.h>
      #include <unistd.h>
      int main(void) {
        if (syscall(SYS_clone, CLONE_UNTRACED | SIGCHLD, 0, 0, 0, 0) == 0) {
          memset(malloc(30 << 20), 1, 30 << 20);
          puts("up");
          fflush(stdout);
        }
        for (;;) pause();
      }
      """)
    let cgroup = try #require(Cgroup(at: .current))
    var request = testProcesses.request([program])
    (request.isTraced, request.containment) = (true, cgroup.containment)
    let processTree = try ProcessTree(starting: request)
    defer { processTree.killAll() }
    #expect(eventually(within: .seconds(600)) { testProcesses.output == "up\n" })
    var state = SamplerState(processTree: processTree, cgroup: cgroup, main: nil, capacity: 100)
    state.takeTraceEvents()
    let isReportedAtFirst = state.isEachProcessReported
    state.sweep(at: 1_000_000_000)
    let isReported = state.isEachProcessReported
    #expect(isReportedAtFirst && !isReported)
    state.discover(at: 2_000_000_000)
    state.sweep(at: 2_000_000_000)
    let peaks = state.report(at: 3_000_000_000).processes.map(\.peak)
    #expect(peaks.count == 2 && peaks.contains { $0 >= .mebibytes(30) }, "\(peaks)")
  }

  @Test(
    "The events of a forked copy can precede the one of its fork: it counts by its growth, in one record",
    .enabled(if: LinuxCalls.canTrace, "requires permission to trace"))
  func forkedLast() throws {
    let script = "import time; x = b'1' * (50 << 20); print('up', flush=True); time.sleep(1000)"
    var request = testProcesses.request(["python3", "-S", "-c", script])
    request.isTraced = true
    let processTree = try ProcessTree(starting: request)
    #expect(eventually { testProcesses.output == "up\n" })
    var state = SamplerState(processTree: processTree, cgroup: nil, main: nil, capacity: 100)
    state.sweep(at: 1)
    let copy = MemoryReading(
      resident: .mebibytes(60), peak: .mebibytes(60), anonymous: .mebibytes(60), file: .zero, shared: .zero)
    let exiting = TraceEvent.Kind.exiting(.init(command: "copy", memory: copy), isLast: true)
    let forked = TraceEvent.Kind.forked(parent: processTree.leader, copied: .mebibytes(50))
    let orders: [[TraceEvent.Kind]] = [
      [forked, exiting, .ended(.exited(0))], [exiting, forked, .ended(.exited(0))],
      [exiting, .ended(.exited(0)), forked],
    ]
    // No process has a pid above PID_MAX_LIMIT, 4,194,304 (include/linux/threads.h).
    for (index, events) in orders.enumerated() {
      for kind in events { state.take(TraceEvent(pid: 5_000_000 + Int32(index), kind: kind, time: .now()), at: 2) }
    }
    let report = state.report(at: 3)
    #expect(report.processes.map(\.id) == [processTree.leader, 5_000_000, 5_000_001, 5_000_002])
    #expect(report.processes.dropFirst().allSatisfy { $0.isExact && $0.parent == processTree.leader })
    // The program's 50 MiB and the interpreter's own, and a copy's growth.
    let highest = try #require((report.samples.map(\.tree) + [report.treePeak]).max())
    #expect(highest >= .mebibytes(60) && highest < .mebibytes(75), "\(highest)")
  }

  @Test("The composition matches the kernel's own sum")
  func composition() throws {
    let processTree = try testProcesses.python(
      "import time; b = [bytes(1000) for n in range(30000)]; print('up', flush=True); time.sleep(1000)")
    let sampler = Sampler(processTree: processTree, interval: .milliseconds(10), main: nil)
    sampler.start()
    #expect(eventually { testProcesses.output == "up\n" })
    sampler.takeFinalComposition()
    let composition = try #require(sampler.finish().composition)
    let heap = try #require(composition.heap)
    let stack = try #require(composition.stack)
    #expect(stack > .zero && stack < .mebibytes(1))
    #expect(heap > .zero && heap + stack <= composition.anonymous)
    #expect(composition.anonymous > .mebibytes(30))
    #expect(composition.file > .mebibytes(1))
    // The kernel's own sum for the same process.
    let rollup = SmallFile.text(at: "/proc/\(processTree.leader)/smaps_rollup") ?? ""
    let line = rollup.split(separator: "\n").first { $0.hasPrefix("Anonymous:") } ?? ""
    let anonymous = try #require(Int64(line.split(separator: " ").dropFirst().first ?? ""))
    #expect(composition.anonymous == .kibibytes(anonymous))
  }

  @Test("The sums of all mappings contain what is swapped out, and the pages of hugetlbfs, both private and shared")
  func mappingTotals() throws {
    // The lines of Linux 6.18, for a program with 64 MiB of MAP_HUGETLB.
    let text = """
      00400000-7fff5f5ac000 ---p 00000000 00:00 0                              [rollup]
      Rss:                1764 kB
      Pss:                 644 kB
      Anonymous:           120 kB
      LazyFree:              0 kB
      AnonHugePages:         0 kB
      Shared_Hugetlb:     2048 kB
      Private_Hugetlb:   65536 kB
      Swap:                300 kB
      SwapPss:             300 kB
      """
    let totals = try #require(Array(text.utf8).withUnsafeBytes { MappingTotals(inRollup: $0) })
    #expect(totals.resident == .kibibytes(1764) && totals.swapped == .kibibytes(300))
    #expect(totals.hugeTLB == .mebibytes(66))
  }
}

extension Sampler {
  /// The main process's current resident memory.
  func residentNow() -> Bytes? {
    level(reading: .plain).resident
  }

  /// Stops sampling, and returns the report.
  func finish() -> SamplingReport {
    stop()
    return report()
  }
}
