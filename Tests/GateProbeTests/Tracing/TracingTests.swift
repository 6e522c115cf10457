import FoundationEssentials
import GateCore
import Glibc
import Testing

@testable import GateProbe

/// Whether this machine lets us trace; tried, not guessed.
private let canTrace = LinuxCalls.canTrace

@Suite("Traced programs", .enabled(if: canTrace, "ptrace(2) is refused here"), .timeLimit(.minutes(5)))
struct TracingTests {
  private let testProcesses = TestProcesses()

  private struct Story {
    var events: [TraceEvent]
    var leader: Int32

    func events(of pid: Int32) -> [TraceEvent.Kind] { events.filter { $0.pid == pid }.map(\.kind) }

    /// The last values of each process that ended.
    var lastMemory: [(pid: Int32, program: TraceEvent.Program)] {
      events.compactMap { event in
        guard case .exiting(let program) = event.kind else { return nil }
        return (event.pid, program)
      }
    }
  }

  private func request(_ words: [String]) -> LaunchRequest {
    var request = testProcesses.request(words)
    request.isTraced = true
    return request
  }

  /// All that was told of a program, once nothing is left of it.
  private func story(of words: [String], meanwhile: (ProcessTree) -> Void = { _ in }) throws -> Story {
    let processTree = try ProcessTree(starting: request(words))
    meanwhile(processTree)
    #expect(processTree.leaderEnding() != nil)
    #expect(
      eventually {
        processTree.collect(); return processTree.isEmpty
      })
    return Story(events: processTree.takeTraceEvents(), leader: processTree.leader)
  }

  private func story(python script: String) throws -> Story {
    try story(of: [Self.python, "-c", script])
  }

  /// The interpreter itself: what is called `python3` may be a script that starts it.
  private static let python = "/usr/bin/python3"

  @Test("A program that forks without end keeps its supervisor from nothing: it is killed when that is asked")
  func forksWithoutEnd() throws {
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

  @Test("A program's exec, last values and end are told, in this order, however short it lives")
  func shortest() throws {
    for _ in 0..<20 {
      let story = try story(of: ["true"])
      let kinds = story.events(of: story.leader)
      try #require(kinds.count == 3)
      guard case .executed(let first) = kinds[0], case .exiting(let last) = kinds[1] else {
        Issue.record("\(kinds)")
        return
      }
      #expect(kinds[2] == .ended(.exited(0)))
      #expect(first.command == "true" && last.command == "true")
      #expect(try #require(last.memory).peak >= .kibibytes(500))
    }
  }

  @Test(
    "The peak is what was held for an instant, however the program ends",
    arguments: [
      "", "; os._exit(7)", "; os.kill(os.getpid(), 9)", "; os.kill(os.getpid(), 11)", "; os.abort()",
      "; signal.alarm(1); signal.pause()",
    ]
  )
  func peak(end: String) throws {
    let base = try #require(story(python: "import os, signal").lastMemory.last?.program.memory)
    let spike = try story(python: "import os, signal; a = bytearray(64 << 20); del a\(end)")
    let memory = try #require(spike.lastMemory.last?.program.memory)
    // 0.4 MiB: the kernel keeps the mark by counters that may be off by 31 pages a CPU each, see `Recording`.
    #expect(abs(memory.peak.count - base.peak.count - 64 << 20) < 1 << 20)
    #expect(memory.resident < .mebibytes(40))
  }

  @Test("A child by fork, by vfork with exec, and by vfork that fails, is told with its maker")
  func children() throws {
    let story = try story(
      python: """
        import os, subprocess
        if os.fork() == 0: os._exit(3)
        os.wait()
        subprocess.run(['/bin/true'])
        try: os.posix_spawn('/no/such/file', ['x'], {})
        except FileNotFoundError: pass
        """)
    let made = story.events.filter { if case .forked = $0.kind { true } else { false } }
    #expect(made.map(\.kind).contains(.forked(parent: story.leader, borrowsMemory: false)))
    #expect(made.map(\.kind).contains(.forked(parent: story.leader, borrowsMemory: true)))
    #expect(made.count == 3)
    for child in made { #expect(story.events(of: child.pid).contains { if case .ended = $0 { true } else { false } }) }
    let commands = Set(story.lastMemory.map(\.program.command))
    #expect(commands.contains("true"))
  }

  @Test("Grandchildren of a daemon are followed")
  func daemon() throws {
    let story = try story(of: ["/bin/sh", "-c", "setsid sh -c 'sh -c \"sleep 0.1; true\" & true' &"])
    #expect(story.lastMemory.filter { $0.program.command == "sleep" }.count == 1)
  }

  @Test("Each exec tells the new program's name, and the peak counts from there")
  func images() throws {
    let story = try story(of: [
      "/bin/sh", "-c",
      "exec \(Self.python) -c 'import os; a = bytearray(50 << 20); os.execv(\"/bin/true\", [\"true\"])'",
    ])
    let kinds = story.events(of: story.leader)
    let programs = kinds.compactMap { if case .executed(let program) = $0 { program.command } else { nil } }
    #expect(programs.count == 3 && programs.first == "sh" && programs.last == "true")
    #expect(try #require(story.lastMemory.last?.program.memory).peak < .mebibytes(10))
  }
}

// MARK: - Signals and job control

extension TracingTests {
  @Test("Signals reach the program as without a tracer", arguments: [SIGUSR1, SIGTERM, SIGINT, SIGALRM, SIGCHLD])
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

  @Test("A stopped program stays stopped until it is continued")
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

  @Test("A shell's job control works: its child stops, is seen to stop, and goes on")
  func jobControl() throws {
    let story = try story(
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
    #expect(story.events(of: story.leader).last == .ended(.exited(25)))
  }

  @Test("A program that stops itself and is killed ends")
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
  @Test("Memory that a second thread holds when the first has ended is in the peak")
  func headless() throws {
    let story = try story(of: [
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
    #expect(story.events(of: story.leader).last == .ended(.exited(9)))
    let peaks = story.lastMemory.filter { $0.pid == story.leader }.compactMap { $0.program.memory?.peak }
    #expect(try #require(peaks.max()) >= .mebibytes(48))
  }

  @Test("An exec by a second thread makes a new program of the whole process")
  func execByThread() throws {
    let story = try story(of: [
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
    let kinds = story.events(of: story.leader)
    #expect(kinds.last == .ended(.exited(6)))
    #expect(kinds.contains { if case .executed(let program) = $0 { program.command == "sh" } else { false } })
    #expect(Set(story.events.map(\.pid)) == [story.leader], "threads are no processes")
  }

  @Test("Threads that come and go by the thousand are no processes, and are told of once")
  func manyThreads() throws {
    let story = try story(of: [
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
    #expect(story.events(of: story.leader).last == .ended(.exited(4)))
    let reported = story.events.filter { if case .madeManyThreads = $0.kind { true } else { false } }
    #expect(reported.count == 1)
    #expect(try #require(story.lastMemory.last?.program.memory).peak >= .mebibytes(20))
    #expect(story.events.contains { if case .forked = $0.kind { true } else { false } }, "the first thread is followed")
  }
}

// MARK: - What is left

extension TracingTests {
  @Test("Nothing outlives a supervisor that somebody kills, however deep it is")
  func supervisorKilled() throws {
    let processTree = try ProcessTree(
      starting: request([
        "/bin/sh", "-c", "setsid sh -c 'trap \"\" TERM HUP; (sleep 1000 &) ; sleep 1000' & sleep 1000",
      ]))
    #expect(eventually { testProcesses.processes.count >= 4 })
    LinuxCalls.killChild(processTree.supervisor)
    #expect(eventually { testProcesses.processes.isEmpty })
  }

  @Test(
    "A traced program can be executed though it fails at once, and its error is told", arguments: ["/no/such", "/"])
  func failedStart(path: String) {
    #expect(throws: LaunchError.self) { try ProcessTree(starting: request([path])) }
    #expect(testProcesses.processes == [])
  }

  @Test("A program that is not traced has no events")
  func untraced() throws {
    let processTree = try testProcesses.processTree("true")
    #expect(processTree.leaderEnding() == .exited(0))
    #expect(processTree.takeTraceEvents() == [])
  }
}
