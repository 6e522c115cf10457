import GateCore
import Glibc
import Testing

@testable import GateProbe

@Suite("Process trees", .timeLimit(.minutes(60)))
struct ProcessTreeTests {
  let testProcesses = TestProcesses()

  @Test("The leader's exit code is reported", arguments: [0, 1, 2, 77, 126, 127, 137, 255] as [Int32])
  func exitCode(code: Int32) throws {
    let processTree = try testProcesses.shell("exit \(code)")
    #expect(processTree.leaderEnding() == .exited(code))
  }

  @Test(
    "Every signal that terminates the leader is reported",
    arguments: ["HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE"]
      + ["ALRM", "TERM", "STKFLT", "XCPU", "XFSZ", "VTALRM", "PROF", "IO", "PWR", "SYS"]
  )
  func signal(name: String) throws {
    let signal = try #require(Signal(name: name))
    let processTree = try testProcesses.shell("ulimit -c 0; kill -\(signal.number) $$; sleep 1000")
    #expect(processTree.leaderEnding() == .signaled(signal.number, coreDumped: false))
  }

  @Test("A signal sent to the leader terminates it")
  func send() throws {
    let processTree = try testProcesses.processTree("sleep", "1000")
    #expect(processTree.send(.term, to: processTree.leader))
    #expect(processTree.leaderEnding() == .signaled(15, coreDumped: false))
    #expect(
      eventually {
        processTree.collect(); return processTree.isEmpty
      })
    #expect(!processTree.send(.term, to: processTree.leader), "it has ended")
  }

  @Test("Signals are sent to members only")
  func sendToNonMembers() throws {
    let other = try testProcesses.processTree("sleep", "1000")
    let processTree = try testProcesses.processTree("sleep", "1000")
    for pid in [other.leader, other.supervisor, processTree.supervisor, getpid(), 1, 0, -1, -processTree.leader] {
      #expect(!processTree.send(.kill, to: pid), "to \(pid)")
    }
    #expect(other.members().map(\.pid) == [other.leader])
    #expect(processTree.members().map(\.command) == ["sleep"])
  }

  @Test("The leader starts with no blocked or ignored signals, in its own process group, with three descriptors")
  func cleanStart() throws {
    let processTree = try testProcesses.shell(
      "grep -E '^Sig(Blk|Ign)' /proc/self/status; ls /proc/$$/fd; cut -d' ' -f5,6 /proc/$$/stat")
    #expect(processTree.leaderEnding() == .exited(0))
    let zeros = "0000000000000000"
    let expected = "SigBlk:\t\(zeros)\nSigIgn:\t\(zeros)\n0\n1\n2\n\(processTree.leader) \(processTree.supervisor)\n"
    #expect(testProcesses.output == expected)
  }

  @Test("A daemon is a member, is killed with the tree, and its end is reported")
  func daemon() throws {
    let processTree = try testProcesses.shell("(setsid sh -c 'echo $$ > pid; exec sleep 1000' &) ; exit 3")
    #expect(processTree.leaderEnding() == .exited(3))
    #expect(eventually { processTree.members().map(\.command) == ["sleep"] })
    let daemon = try #require(processTree.members().first)
    #expect(daemon.parent == processTree.supervisor)
    #expect(!processTree.isEmpty)
    #expect(processTree.killAll() == [])
    #expect(processTree.ending(of: daemon.pid) == .signaled(9, coreDumped: false))
    #expect(processTree.isEmpty)
    #expect(testProcesses.processes == [])
  }

  @Test(
    "killAll kills every process",
    arguments: [
      // Ignores termination signals.
      "trap '' TERM INT HUP; echo ready; while :; do sleep 1000; done",
      // A wide tree.
      "for n in $(seq 50); do sleep 1000 & done; echo ready; wait",
      // Three generations, with several sessions.
      "for n in 1 2 3 4 5 6 7; do setsid sh -c 'for m in 1 2 3 4 5 6; do sleep 1000 & done; wait' & done; echo ready; wait",
      // All stopped.
      "sleep 1000 & kill -STOP $!; echo ready; kill -STOP $$",
      // A chain.
      "f() { if [ $1 -gt 0 ]; then (f $(($1 - 1))); : ; else echo ready; sleep 1000; fi; }; f 30",
    ]
  )
  func killAll(script: String) throws {
    let processTree = try testProcesses.shell(script)
    #expect(eventually { testProcesses.output.contains("ready") })
    #expect(testProcesses.processes != [])
    #expect(processTree.killAll() == [])
    #expect(processTree.isEmpty)
    #expect(processTree.members() == [])
    #expect(testProcesses.processes == [])
  }

  @Test("A tree that forks endlessly is killed")
  func forksEndlessly() throws {
    let processTree = try testProcesses.python(
      """
      import os, time
      print('ready', flush=True)
      while True:
        if os.fork() == 0:
          if os.fork() == 0:
            os.setsid(); time.sleep(0.2)
          os._exit(0)
        os.wait()
      """)
    #expect(eventually { testProcesses.output.contains("ready") })
    usleep(300_000)
    #expect(processTree.killAll() == [])
    #expect(testProcesses.processes == [])
  }

  @Test("All orphans are reaped, even more than the report pipe can hold")
  func manyOrphans() throws {
    let processTree = try testProcesses.python(
      """
      import os
      for turn in range(4000):
        if os.fork() == 0:
          if os.fork() == 0: os._exit(0)
          os._exit(0)
        os.wait()
      """)
    // Let the pipe fill up.
    usleep(500_000)
    #expect(processTree.leaderEnding() == .exited(0))
    #expect(
      eventually {
        processTree.collect(); return processTree.isEmpty
      })
    #expect(testProcesses.processes == [])
  }

  @Test("Releasing the last reference kills the tree")
  func deinitialization() throws {
    _ = try testProcesses.shell("setsid sleep 1000 & sleep 1000")
    #expect(eventually { testProcesses.processes == [] })
  }

  @Test("A killed supervisor leaves no process behind")
  func lostSupervisor() throws {
    let processTree = try testProcesses.shell("setsid sleep 1000 & sleep 1000 & echo ready; wait")
    #expect(eventually { testProcesses.output.contains("ready") && processTree.members().count == 3 })
    kill(processTree.supervisor, SIGKILL)
    #expect(
      eventually {
        processTree.collect(); return processTree.isEmpty
      })
    #expect(processTree.hasLostSupervisor)
    #expect(eventually { testProcesses.processes == [] })
  }

  @Test("After the supervisor is killed, an unseen daemon is found by the FIFO's path")
  func unseenDaemon() throws {
    var request = testProcesses.request(["/bin/sh", "-c", "(setsid sleep 1000 &); echo ready; sleep 1000"])
    let folder = try PrivateFolder(in: testProcesses.folder)
    defer { folder.remove() }
    request.marksPath = folder.marksPath
    request.environment["HIGHWATER_MARKS"] = folder.marksPath
    let processTree = try ProcessTree(starting: request)
    #expect(eventually { testProcesses.output.contains("ready") && testProcesses.processes.count == 3 })
    kill(processTree.supervisor, SIGKILL)
    #expect(
      eventually {
        processTree.collect(); return processTree.isEmpty
      })
    #expect(eventually { testProcesses.processes == [] })
  }

  @Test("killAll works with a stopped supervisor")
  func stoppedSupervisor() throws {
    let processTree = try testProcesses.processTree("sleep", "1000")
    kill(processTree.supervisor, SIGSTOP)
    #expect(processTree.killAll() == [])
    #expect(!processTree.hasLostSupervisor)
    #expect(testProcesses.processes == [])
  }

  @Test("Output reaches end of file when the tree ends")
  func streamsEnd() throws {
    let output = try #require(LinuxCalls.pipe())
    let input = try #require(LinuxCalls.pipe())
    var request = testProcesses.request(["cat"])
    request.input = input.reading
    request.output = output.writing
    let processTree = try ProcessTree(starting: request)
    close(input.reading)
    close(output.writing)
    write(input.writing, "hello", 5)
    close(input.writing)
    var text = [UInt8](repeating: 0, count: 100)
    #expect(read(output.reading, &text, 100) == 5)
    #expect(read(output.reading, &text, 100) == 0)
    #expect(processTree.leaderEnding() == .exited(0))
    close(output.reading)
  }
}
