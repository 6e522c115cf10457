import GateCore
import Glibc
import Testing

@testable import GateProbe

@Suite("A family of processes", .timeLimit(.minutes(5)))
struct FamilyTests {
  let household = Household()

  @Test("The leader's exit code arrives", arguments: [0, 1, 2, 77, 126, 127, 137, 255] as [Int32])
  func exitCode(code: Int32) throws {
    let family = try household.shell("exit \(code)")
    #expect(family.leaderEnding() == .exited(code))
  }

  @Test(
    "Every signal that ends a process arrives",
    arguments: ["HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE"]
      + ["ALRM", "TERM", "STKFLT", "XCPU", "XFSZ", "VTALRM", "PROF", "IO", "PWR", "SYS"]
  )
  func signal(name: String) throws {
    let signal = try #require(Signal(name: name))
    let family = try household.shell("ulimit -c 0; kill -\(signal.number) $$; sleep 1000")
    #expect(family.leaderEnding() == .signaled(signal.number, coreDumped: false))
  }

  @Test("A signal that is sent to the leader ends it")
  func send() throws {
    let family = try household.family("sleep", "1000")
    #expect(family.send(.term, to: family.leader))
    #expect(family.leaderEnding() == .signaled(15, coreDumped: false))
    #expect(
      eventually {
        family.collect(); return family.isDispersed
      })
    #expect(!family.send(.term, to: family.leader), "it has gone")
  }

  @Test("A signal goes to members only")
  func sendToStrangers() throws {
    let stranger = try household.family("sleep", "1000")
    let family = try household.family("sleep", "1000")
    for pid in [stranger.leader, stranger.shepherd, family.shepherd, getpid(), 1, 0, -1, -family.leader] {
      #expect(!family.send(.kill, to: pid), "to \(pid)")
    }
    #expect(stranger.members().map(\.pid) == [stranger.leader])
    #expect(family.members().map(\.command) == ["sleep"])
  }

  @Test("The leader starts with no signal blocked, none ignored, in a group of its own, with three descriptors")
  func cleanStart() throws {
    let family = try household.shell(
      "grep -E '^Sig(Blk|Ign)' /proc/self/status; ls /proc/$$/fd; cut -d' ' -f5,6 /proc/$$/stat")
    #expect(family.leaderEnding() == .exited(0))
    let zeros = "0000000000000000"
    let expected = "SigBlk:\t\(zeros)\nSigIgn:\t\(zeros)\n0\n1\n2\n\(family.leader) \(family.shepherd)\n"
    #expect(household.output == expected)
  }

  @Test("A daemon is a member, its end is known, and it goes with the rest")
  func daemon() throws {
    let family = try household.shell("(setsid sh -c 'echo $$ > pid; exec sleep 1000' &) ; exit 3")
    #expect(family.leaderEnding() == .exited(3))
    #expect(eventually { family.members().map(\.command) == ["sleep"] })
    let daemon = try #require(family.members().first)
    #expect(daemon.parent == family.shepherd)
    #expect(!family.isDispersed)
    #expect(family.disperse() == [])
    #expect(family.ending(of: daemon.pid) == .signaled(9, coreDumped: false))
    #expect(family.isDispersed)
    #expect(household.processes == [])
  }

  @Test(
    "All that is left is killed",
    arguments: [
      // Deaf to the polite signals.
      "trap '' TERM INT HUP; echo ready; while :; do sleep 1000; done",
      // A wide tree.
      "for n in $(seq 50); do sleep 1000 & done; echo ready; wait",
      // A tree of three generations with sessions of their own.
      "for n in 1 2 3 4 5 6 7; do setsid sh -c 'for m in 1 2 3 4 5 6; do sleep 1000 & done; wait' & done; echo ready; wait",
      // Stopped, all of it.
      "sleep 1000 & kill -STOP $!; echo ready; kill -STOP $$",
      // A chain.
      "f() { if [ $1 -gt 0 ]; then (f $(($1 - 1))); : ; else echo ready; sleep 1000; fi; }; f 30",
    ]
  )
  func disperse(script: String) throws {
    let family = try household.shell(script)
    #expect(eventually { household.output.contains("ready") })
    #expect(household.processes != [])
    #expect(family.disperse() == [])
    #expect(family.isDispersed)
    #expect(family.members() == [])
    #expect(household.processes == [])
  }

  @Test("A family that forks without end is killed all the same")
  func forkingWithoutEnd() throws {
    let family = try household.python(
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
    #expect(eventually { household.output.contains("ready") })
    usleep(300_000)
    #expect(family.disperse() == [])
    #expect(household.processes == [])
  }

  @Test("More orphans than the report pipe holds are all reaped")
  func manyOrphans() throws {
    let family = try household.python(
      """
      import os
      for turn in range(4000):
        if os.fork() == 0:
          if os.fork() == 0: os._exit(0)
          os._exit(0)
        os.wait()
      """)
    // Nobody collects: the pipe fills up.
    usleep(500_000)
    #expect(family.leaderEnding() == .exited(0))
    #expect(
      eventually {
        family.collect(); return family.isDispersed
      })
    #expect(household.processes == [])
  }

  @Test("A family that is let go of is dispersed")
  func letGo() throws {
    _ = try household.shell("setsid sleep 1000 & sleep 1000")
    #expect(eventually { household.processes == [] })
  }

  @Test("A shepherd that somebody kills leaves nothing behind")
  func lostShepherd() throws {
    let family = try household.shell("setsid sleep 1000 & sleep 1000 & echo ready; wait")
    #expect(eventually { household.output.contains("ready") && family.members().count == 3 })
    kill(family.shepherd, SIGKILL)
    #expect(
      eventually {
        family.collect(); return family.isDispersed
      })
    #expect(family.hasLostShepherd)
    #expect(eventually { household.processes == [] })
  }

  @Test("A daemon that nobody has seen is found by the FIFO's path when somebody kills the shepherd")
  func unseenDaemon() throws {
    var request = household.request(["/bin/sh", "-c", "(setsid sleep 1000 &); echo ready; sleep 1000"])
    let folder = try PrivateFolder(in: household.folder)
    defer { folder.remove() }
    request.scratch = folder
    request.environment["HIGHWATER_MARKS"] = folder.marksPath
    let family = try Family(starting: request)
    #expect(eventually { household.output.contains("ready") && household.processes.count == 3 })
    kill(family.shepherd, SIGKILL)
    #expect(
      eventually {
        family.collect(); return family.isDispersed
      })
    #expect(eventually { household.processes == [] })
  }

  @Test("A shepherd that somebody stops still disperses")
  func stoppedShepherd() throws {
    let family = try household.family("sleep", "1000")
    kill(family.shepherd, SIGSTOP)
    #expect(family.disperse() == [])
    #expect(!family.hasLostShepherd)
    #expect(household.processes == [])
  }

  @Test("The output ends when the family does, and the input has no reader then")
  func streamsEnd() throws {
    let output = try #require(LinuxCalls.pipe())
    let input = try #require(LinuxCalls.pipe())
    var request = household.request(["cat"])
    request.input = input.reading
    request.output = output.writing
    let family = try Family(starting: request)
    close(input.reading)
    close(output.writing)
    write(input.writing, "hello", 5)
    close(input.writing)
    var text = [UInt8](repeating: 0, count: 100)
    #expect(read(output.reading, &text, 100) == 5)
    #expect(read(output.reading, &text, 100) == 0)
    #expect(family.leaderEnding() == .exited(0))
    close(output.reading)
  }
}
