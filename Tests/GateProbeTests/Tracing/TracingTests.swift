import FoundationEssentials
import GateCore
import Glibc
import Testing

@testable import GateProbe

@Suite("Traced programs", .enabled(if: LinuxCalls.canTrace, "requires ptrace(2)"), .timeLimit(.minutes(60)))
struct TracingTests {
  private let testProcesses = TestProcesses()

  private struct Trace {
    var events: [TraceEvent]
    var leader: Int32

    func events(of pid: Int32) -> [TraceEvent.Kind] { events.filter { $0.pid == pid }.map(\.kind) }

    /// The last values of each ended process.
    var lastMemory: [(pid: Int32, program: TraceEvent.Program)] {
      events.compactMap { event in
        guard case .exiting(let program, _) = event.kind else { return nil }
        return (event.pid, program)
      }
    }
  }

  private func request(_ words: [String]) -> LaunchRequest {
    var request = testProcesses.request(words)
    request.isTraced = true
    return request
  }

  /// Runs a program until its tree is empty, and returns the reported events.
  private func trace(of words: [String]) throws -> Trace {
    let processTree = try ProcessTree(starting: request(words))
    #expect(processTree.leaderEnding() != nil)
    #expect(
      eventually {
        processTree.collect(); return processTree.isEmpty
      })
    return Trace(events: processTree.takeTraceEvents(), leader: processTree.leader)
  }

  private func trace(python script: String) throws -> Trace {
    try trace(of: [Self.python, "-c", script])
  }

  /// The interpreter itself: `python3` in `PATH` may be a wrapper script.
  private static let python = "/usr/bin/python3"

  @Test("A program that forks endlessly does not keep its supervisor from killing it")
  func forksEndlessly() throws {
    let program = try testProcesses.compiled(
      """
      #include <sys/wait.h>
      #include <unistd.h>
      int main(void) {
        for (int n = 0; n < 40; n++) if (fork() == 0) break;
        for (;;) { if (fork() == 0) _exit(0); wait(0); }
      }
      """)
    let processTree = try ProcessTree(starting: request([program]))
    var reported = 0
    #expect(
      eventually {
        reported += processTree.takeTraceEvents().count; return reported > 5000
      })
    #expect(processTree.killAll() == [])
    #expect(!processTree.hasLostSupervisor)
    #expect(testProcesses.processes == [])
  }

  @Test("The exec, last values and end of even the shortest program are reported, in this order")
  func shortest() throws {
    for _ in 0..<20 {
      let trace = try trace(of: ["true"])
      let kinds = trace.events(of: trace.leader)
      try #require(kinds.count == 3)
      guard case .executed(let first, inherited: .zero) = kinds[0], case .exiting(let last, isLast: true) = kinds[1]
      else {
        Issue.record("\(kinds)")
        return
      }
      #expect(kinds[2] == .ended(.exited(0)))
      #expect(first.command == "true" && last.command == "true")
      #expect(try #require(last.memory).peak >= .kibibytes(500))
    }
  }

  @Test(
    "The peak includes a short spike, however the program ends",
    arguments: [
      "", "; os._exit(7)", "; os.kill(os.getpid(), 9)", "; os.kill(os.getpid(), 11)", "; os.abort()",
      "; signal.alarm(1); signal.pause()",
    ]
  )
  func peak(end: String) throws {
    let base = try #require(trace(python: "import os, signal").lastMemory.last?.program.memory)
    let spike = try trace(python: "import os, signal; a = bytearray(64 << 20); del a\(end)")
    let memory = try #require(spike.lastMemory.last?.program.memory)
    // 0.4 MiB of tolerance: each of the kernel's counters may be off by 31 pages per CPU, see `Recording`.
    #expect(abs(memory.peak.count - base.peak.count - 64 << 20) < 1 << 20)
    #expect(memory.resident < .mebibytes(40))
  }

  @Test("Children by fork, by vfork with exec, and by vfork with a failed exec are reported with their parents")
  func children() throws {
    let trace = try trace(
      python: """
        import os, subprocess
        if os.fork() == 0: os._exit(3)
        os.wait()
        subprocess.run(['/bin/true'])
        try: os.posix_spawn('/no/such/file', ['x'], {})
        except FileNotFoundError: pass
        """)
    let forks = trace.events.filter { if case .forked = $0.kind { true } else { false } }
    let copies = forks.compactMap { if case .forked(trace.leader, let copied) = $0.kind { copied } else { nil } }
    #expect(forks.count == 3 && forks.contains { $0.kind == .forked(parent: trace.leader, copied: nil) })
    #expect(copies.count == 1 && copies.allSatisfy { $0 > .mebibytes(1) && $0 < .mebibytes(64) })
    for child in forks { #expect(trace.events(of: child.pid).contains { if case .ended = $0 { true } else { false } }) }
    let commands = Set(trace.lastMemory.map(\.program.command))
    #expect(commands.contains("true"))
  }

  @Test("Descendants of a daemon are traced")
  func daemon() throws {
    let trace = try trace(of: ["/bin/sh", "-c", "setsid sh -c 'sh -c \"sleep 0.1; true\" & true' &"])
    #expect(trace.lastMemory.filter { $0.program.command == "sleep" }.count == 1)
  }

  @Test("Each exec reports the new program's name, and starts a new peak")
  func execs() throws {
    let trace = try trace(of: [
      "/bin/sh", "-c",
      "exec \(Self.python) -c 'import os; a = bytearray(50 << 20); os.execv(\"/bin/true\", [\"true\"])'",
    ])
    let kinds = trace.events(of: trace.leader)
    let programs = kinds.compactMap { if case .executed(let program, _) = $0 { program.command } else { nil } }
    #expect(programs.count == 3 && programs.first == "sh" && programs.last == "true")
    #expect(try #require(trace.lastMemory.last?.program.memory).peak < .mebibytes(10))
  }
}

// MARK: - Signals and job control

extension TracingTests {
  @Test("Signals reach a traced program", arguments: [SIGUSR1, SIGTERM, SIGINT, SIGALRM, SIGCHLD])
  func signals(number: Int32) throws {
    let script = """
      import signal, sys, time
      got = []
      signal.signal(\(number), lambda n, f: got.append(n))
      print('up', flush=True)
      while not got: time.sleep(0.01)
      sys.exit(40 + got[0])
      """
    let processTree = try ProcessTree(starting: request([Self.python, "-c", script]))
    #expect(eventually { testProcesses.output == "up\n" })
    #expect(processTree.send(Signal(number: number), to: processTree.leader))
    #expect(processTree.leaderEnding() == .exited(40 + number))
  }

  @Test("A stopped program stays stopped until SIGCONT")
  func groupStop() throws {
    let script = "import os, time; print('up', flush=True); time.sleep(0.3); print('on', flush=True)"
    let processTree = try ProcessTree(starting: request([Self.python, "-c", script]))
    #expect(eventually { testProcesses.output == "up\n" })
    #expect(processTree.send(Signal(number: SIGSTOP), to: processTree.leader))
    usleep(700_000)
    #expect(testProcesses.output == "up\n")
    #expect(processTree.send(Signal(number: SIGCONT), to: processTree.leader))
    #expect(processTree.leaderEnding() == .exited(0))
    #expect(testProcesses.output == "up\non\n")
  }

  @Test("Job control works: the parent sees its child stop and continue")
  func jobControl() throws {
    let trace = try trace(
      python: """
        import os, signal, sys
        pid = os.fork()
        if pid == 0:
            os.kill(os.getpid(), signal.SIGTSTP)
            os._exit(5)
        _, status = os.waitpid(pid, os.WUNTRACED)
        assert os.WIFSTOPPED(status) and os.WSTOPSIG(status) == signal.SIGTSTP
        os.kill(pid, signal.SIGCONT)
        _, status = os.waitpid(pid, os.WCONTINUED)
        if os.WIFCONTINUED(status): _, status = os.waitpid(pid, 0)
        sys.exit(os.WEXITSTATUS(status) + 20)
        """)
    #expect(trace.events(of: trace.leader).last == .ended(.exited(25)))
  }

  @Test("A stopped program can be killed")
  func killedWhileStopped() throws {
    let processTree = try ProcessTree(starting: request(["/bin/sh", "-c", "echo up; kill -STOP $$"]))
    #expect(eventually { testProcesses.output == "up\n" })
    usleep(50_000)
    #expect(processTree.killAll() == [])
    #expect(processTree.ending(of: processTree.leader) == .signaled(SIGKILL, coreDumped: false))
  }
}

// MARK: - Threads

extension TracingTests {
  @Test("The peak includes memory that another thread allocates after the first one has ended")
  func firstThreadEnded() throws {
    let trace = try trace(of: [
      try testProcesses.compiled(
        """
        #include <pthread.h>
        #include <stdlib.h>
        #include <string.h>
        #include <unistd.h>
        static void *work(void *nothing) {
          usleep(100000);
          char *memory = malloc(48 << 20);
          memset(memory, 1, 48 << 20);
          exit(memory[5] + 8);
        }
        int main(void) {
          pthread_t thread;
          pthread_create(&thread, NULL, work, NULL);
          pthread_exit(NULL);
        }
        """)
    ])
    #expect(trace.events(of: trace.leader).last == .ended(.exited(9)))
    let peaks = trace.lastMemory.filter { $0.pid == trace.leader }.compactMap { $0.program.memory?.peak }
    #expect(try #require(peaks.max()) >= .mebibytes(48))
  }

  @Test("An exec by another thread replaces the program of the whole process")
  func execByThread() throws {
    let trace = try trace(of: [
      try testProcesses.compiled(
        """
        #include <pthread.h>
        #include <unistd.h>
        static void *work(void *nothing) {
          execl("/bin/sh", "sh", "-c", "exit 6", NULL);
          return nothing;
        }
        int main(void) {
          pthread_t threads[4];
          for (int at = 0; at < 3; at++) pthread_create(&threads[at], NULL, (void *(*)(void *))pause, NULL);
          pthread_create(&threads[3], NULL, work, NULL);
          for (;;) pause();
        }
        """)
    ])
    let kinds = trace.events(of: trace.leader)
    #expect(kinds.last == .ended(.exited(6)))
    #expect(kinds.contains { if case .executed(let program, _) = $0 { program.command == "sh" } else { false } })
    #expect(Set(trace.events.map(\.pid)) == [trace.leader], "threads are not processes")
  }

  @Test("Threads that end at once are not processes, also of a forked process beside others that keep the CPUs busy")
  func briefThreads() throws {
    let trace = try trace(of: [
      try testProcesses.compiled(
        """
        #include <pthread.h>
        #include <sys/wait.h>
        #include <unistd.h>
        static void *nothing(void *argument) { return argument; }
        int main(void) {
          pid_t child = fork();
          for (int at = 0; child == 0 && at < 200; at++) {
            pthread_t threads[10];
            for (int one = 0; one < 10; one++) pthread_create(&threads[one], NULL, nothing, NULL);
            for (int one = 0; one < 10; one++) pthread_join(threads[one], NULL);
            if (at == 19) _exit(0);
          }
          waitpid(child, NULL, 0);
          return 5;
        }
        """)
    ])
    #expect(trace.events(of: trace.leader).last == .ended(.exited(5)))
    #expect(trace.events.count { if case .forked = $0.kind { true } else { false } } == 1)
    #expect(Set(trace.events.map(\.pid)).count == 2)
  }

  @Test("Thousands of short-lived threads are not processes, and are reported once")
  func manyThreads() throws {
    let trace = try trace(of: [
      try testProcesses.compiled(
        """
        #include <pthread.h>
        #include <string.h>
        #include <stdlib.h>
        #include <sys/wait.h>
        #include <unistd.h>
        static void *nothing(void *argument) { return argument; }
        int main(void) {
          for (int at = 0; at < 2000; at++) {
            pthread_t thread;
            if (pthread_create(&thread, NULL, nothing, NULL) != 0) return 1;
            pthread_join(thread, NULL);
          }
          memset(malloc(20 << 20), 1, 20 << 20);
          if (fork() == 0) _exit(0);
          wait(NULL);
          return 4;
        }
        """)
    ])
    #expect(trace.events(of: trace.leader).last == .ended(.exited(4)))
    let reported = trace.events.filter { if case .madeManyThreads = $0.kind { true } else { false } }
    #expect(reported.count == 1)
    #expect(try #require(trace.lastMemory.last?.program.memory).peak >= .mebibytes(20))
    #expect(trace.events.contains { if case .forked = $0.kind { true } else { false } }, "the first thread is traced")
  }
}

// MARK: - Cleanup

extension TracingTests {
  @Test("No process outlives a killed supervisor, at any depth of the tree")
  func supervisorKilled() throws {
    let processTree = try ProcessTree(
      starting: request([
        "/bin/sh", "-c", "setsid sh -c 'trap \"\" TERM HUP; (sleep 1000 &) ; sleep 1000' & sleep 1000",
      ]))
    #expect(eventually { testProcesses.processes.count >= 4 })
    kill(processTree.supervisor, SIGKILL)
    #expect(eventually { testProcesses.processes.isEmpty })
  }

  @Test(
    "A failed exec of a traced program throws an error", arguments: ["/no/such", "/"])
  func failedStart(path: String) {
    #expect(throws: LaunchError.self) { try ProcessTree(starting: request([path])) }
    #expect(testProcesses.processes == [])
  }

  @Test("An untraced program has no events")
  func untraced() throws {
    let processTree = try testProcesses.processTree("true")
    #expect(processTree.leaderEnding() == .exited(0))
    #expect(processTree.takeTraceEvents() == [])
  }
}
