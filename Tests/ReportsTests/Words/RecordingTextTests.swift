import GateCore
import Testing

@testable import GateApplication

private func killed(by sender: KillSender?) -> KilledProcess {
  let heaviest: [KilledProcess.Other] = [
    .init(command: "cc1", resident: .mebibytes(64)), .init(command: "ld", resident: .mebibytes(8)),
  ]
  var process = KilledProcess(id: 7, command: "cc1", heaviest: heaviest, tree: .mebibytes(72))
  (process.sender, process.limit) = (sender, .mebibytes(80))
  return process
}

@Suite("Texts of recordings")
struct RecordingTextTests {
  private static let term = Signal.term

  @Test(
    "Texts of ends",
    arguments: [
      (End(.exited, code: 3), "exited with code 3"),
      (End(.crash, signal: .segv, cause: .coreDumped), "crash (SIGSEGV): core dumped"),
      (End(.stopped, signal: .term), "stopped (SIGTERM)"),
      (
        End(.exited, code: 137, cause: .signalOfChild(signal: .kill)),
        "exited with code 137: a shell exits with this code if a child was killed by SIGKILL"
      ),
      (
        End(.exited, code: 0, oomKills: 2),
        "exited with code 0: 2 processes of the tree were killed by the OOM killer"
      ),
      (
        End(.exited, code: 137, cause: .signalOfChild(signal: .kill), oomKills: 1),
        "exited with code 137: a shell exits with this code if a child was killed by SIGKILL; "
          + "1 process of the tree was killed by the OOM killer"
      ),
      (
        End(.oom, signal: .kill, cause: .memoryLimit(limit: .own(limit: .mebibytes(100))), oomKills: 1),
        "killed by the OOM killer: at its memory-limit of 100.0 MiB"
      ),
      (
        End(.killed, signal: .kill, cause: .senderUnknown(nearLimit: nil)),
        "killed by SIGKILL; sender unknown (not the OOM killer, not Highwater)"
      ),
      (
        End(.killed, signal: .kill, cause: .senderUnknown(nearLimit: .init(percent: 98, limit: .mebibytes(100)))),
        "killed by SIGKILL; sender unknown (not Highwater): 98 % of the limit of 100.0 MiB in use at the last reading, "
          + "but the kernel counted no OOM kill"
      ),
      (
        End(
          .killed, signal: .kill,
          cause: .killedBy(sender: KillSender(process: 7, command: "timeout", isOfTarget: false))),
        "killed by SIGKILL from `timeout` (process 7)"
      ),
      (
        End(
          .killed, signal: .kill, cause: .killedBy(sender: KillSender(process: 7, command: nil, isOfTarget: true))),
        "killed by SIGKILL from process 7, which has ended, a process of the target"
      ),
      (
        End(.timeout, cause: .timeout(kind: .notReady(within: .seconds(30)), limitHits: nil)),
        "timeout: not ready within 30 s"
      ),
      (
        End(.timeout, cause: .timeout(kind: .notReady(within: .seconds(30), last: .status(code: 503)), limitHits: nil)),
        "timeout: not ready within 30 s (the last answer had status 503, expected 200 to 399)"
      ),
      (
        End(
          .timeout,
          cause: .timeout(
            kind: .notReady(within: .seconds(30), last: .command(status: .exited(code: 2))), limitHits: nil)),
        "timeout: not ready within 30 s (the command last exited with code 2)"
      ),
      (
        End(
          .timeout,
          cause: .timeout(kind: .notEnded(within: .seconds(300)), limitHits: .init(count: 1000, limit: .mebibytes(64)))),
        "timeout: did not end within 5 min; at the memory limit of 64.0 MiB, which it hit 1000 times"
      ),
      (End(.startFailed, cause: .setupFailed), "start-failed: setup failed"),
      (End(.unknown, cause: .statusUnknown), "unknown: its exit status is unknown"),
      (End(.stopped, cause: .statusTakenByParent), "stopped: its parent collected the exit status"),
    ] as [(End, String)]
  )
  func ends(end: End, text: String) {
    #expect(end.displayText == text)
  }

  @Test(
    "Texts of memory limits",
    arguments: [
      (.machine, "the machine ran out of memory"),
      (.unknown, "at the limit of the machine, or of a cgroup that is not visible here"),
      (.outerCgroup(limit: .mebibytes(2048)), "at the limit of 2.00 GiB of the cgroup around it"),
      (
        .outside(own: .mebibytes(100)),
        "below its memory-limit of 100.0 MiB: a cgroup around it or the machine ran out of memory"
      ),
    ] as [(End.MemoryLimit, String)]
  )
  func limits(limit: End.MemoryLimit, text: String) {
    #expect(End(.oom, signal: .kill, cause: .memoryLimit(limit: limit)).detailText == text)
  }

  @Test(
    "Texts of evidence",
    arguments: [
      (.kernelLog(line: "Killed process 7"), "Killed process 7"),
      (
        .ownCgroup(kills: .init(before: 0, after: 1), limit: .mebibytes(100)),
        "memory cgroup oom_kill 0 → 1, limit 100.0 MiB"
      ),
      (.ownCgroup(kills: .init(before: 0, after: 1), limit: nil), "memory cgroup oom_kill 0 → 1, no limit"),
      (
        .sharedCgroup(kills: .init(before: 7, after: 8)),
        "likely: oom_kill 7 → 8 in the memory cgroup that it shared with other programs"
      ),
      (
        .machine(kills: .init(before: 3, after: 4)),
        "likely: oom_kill 3 → 4 on this machine, where it was one of the largest processes"
      ),
      (
        .nearLimit(share: .init(percent: 98, limit: .mebibytes(100))),
        "inferred: 98 % of the limit of 100.0 MiB in use at the last reading"
      ),
      (.failedAllocation(line: "failed to allocate 8 bytes"), "failed to allocate 8 bytes"),
    ] as [(End.Proof, String)]
  )
  func proofs(proof: End.Proof, text: String) {
    #expect(End(.oom, proof: proof).proofText == text)
  }

  @Test(
    "Texts of notes on a repetition",
    arguments: [
      (.brief, "the target ran for less than 0.5 s"),
      (.treeMethod(method: .upperBound), "tree_peak and tree_steady are upper bounds"),
      (.treeMethod(method: .proportional), "tree_peak and tree_steady count shared memory in parts (Pss)"),
      (.treeMethod(method: .cgroup), "tree_peak and tree_steady are the values of the target's own cgroup"),
      (
        .filesNotCounted(folder: "/dev/shm"),
        "the memory of the tree does not include the files in memory that the target has written in `/dev/shm`: only a "
          + "memory cgroup counts them"
      ),
      (
        .filesNotCounted(folder: nil),
        "the memory of the tree does not include the files in memory that the target has written without a name: only a "
      ),
      (.downsampled(stride: 4), "the repetition was long: of each 4 readings only the highest was stored"),
      (
        .notSampled(failure: SystemFailure(.thread, code: 11)),
        "there are only the first and the last reading: cannot start a thread: resource temporarily unavailable"
      ),
      (.tooFewDescriptors(limit: 20), "Highwater ran out of file descriptors (`ulimit -n` is 20): "),
      (.threadsNotFollowed(command: "java", count: 64), "`java` creates and ends many threads: after 64 had ended, "),
      (.threadsNotFollowed(command: nil, count: 64), "a process creates and ends many threads: "),
      (.unknownMarks(lines: 1), "1 line written to HIGHWATER_MARKS is not a valid message"),
      (.unknownMarks(lines: 2), "2 lines written to HIGHWATER_MARKS are not valid messages"),
      (.marksDropped(count: 5, most: 9), "5 marks were dropped: at most 9 are stored"),
      (.messagesDropped(count: 5), "the target dropped 5 messages to HIGHWATER_MARKS"),
      (.tooManyValues(most: 100), "the target reported more than 100 values; the later names are left out"),
      (.numbersTooLarge, "the target reported numbers beyond 2^60, which are left out"),
      (
        .secondUnits(values: [.init(metric: "value.x", first: "bytes", second: "items")]),
        "the target reported values in a second unit, which are left out: value.x (bytes at first, then items)"
      ),
      (.tooManyEvents(most: 100), "the target reported more than 100 events; the later ones are left out"),
      (
        .event(event: TargetEvent(.launchFailures(count: 3), at: .zero)),
        "the target reported that the 3 launches before failed while starting"
      ),
      (
        .stepsSkipped(from: .init(.step, at: [.step(number: 4, of: 7)], text: "wait: 1 s")),
        "the target ended before the script did: `step 4 of 7 `wait: 1 s`` and the steps after it were not run"
      ),
      (
        .killedAfterStop(signal: .term, grace: .seconds(10)),
        "the target did not end within 10 s of SIGTERM and was killed"
      ),
      (
        .survivors(count: 1, first: ["cat"]),
        "1 process outlived the target and was killed: cat"
      ),
      (
        .survivors(count: 3, first: ["cat", "tee"]),
        "3 processes outlived the target and were killed: cat, tee …"
      ),
      (
        .containerLeft(id: "0123456789abcdef", answer: "no space left"),
        "the container 0123456789ab could not be removed: no space left"
      ),
      (.unkillable(pids: [7, 8]), "could not be killed: process 7, 8"),
      (
        .notResident(swapped: .mebibytes(12), hugeTLB: .mebibytes(64)),
        "resident memory does not contain all that the target holds: up to 12.0 MiB were swapped out, and 64.0 MiB are "
          + "huge pages of hugetlbfs"
      ),
      (
        .notResident(swapped: .zero, hugeTLB: .mebibytes(2)),
        "resident memory does not contain all that the target holds: up to 2.0 MiB are huge pages of hugetlbfs"
      ),
      (
        .behindTool(tool: "make", program: "server"),
        "`make` is a build tool, so `server` is judged, the largest process that it started besides build tools and "
      ),
      (.behindTool(tool: "go", program: nil), "`go` started only build tools and compilers, so the largest of"),
      (
        .runsElsewhere(command: "docker"),
        "`docker` starts programs outside the target's process tree; their memory is not measured: start "
          + "Highwater where they run, as in their container"
      ),
      (.killed(process: killed(by: nil)), "`cc1` was killed by SIGKILL; sender unknown (not Highwater); the heaviest "),
      (
        .killed(process: killed(by: KillSender(process: nil, command: nil, isOfTarget: false))),
        "`cc1` was killed by SIGKILL from the kernel; the heaviest processes then: `cc1` 64.0\u{a0}MiB, `ld` 8.0\u{a0}MiB; "
          + "the target held 72.0\u{a0}MiB of the limit of 80.0\u{a0}MiB"
      ),
      (.attached(isReset: true), "the target ran already: peaks are since the start of each repetition"),
      (.notTraced(command: "x", code: 1), "`x` cannot be traced (operation not permitted): "),
      (.processesNotListed(count: 9), "9 more processes were seen than are listed"),
      (
        .outputNotStored(failure: SystemFailure(.write, path: "/x", code: 28)),
        "the target's output is not stored, or not all of it: cannot write to `/x`: no space left on device"
      ),
    ] as [(RecordingNote, String)]
  )
  func notes(note: RecordingNote, start: String) {
    #expect(note.displayText.hasPrefix(start))
  }

  @Test(
    "Notes on the machine give the finding and a remedy",
    arguments: [
      (
        .noTracing(barrier: .yama(scope: 2)), "ptrace is not permitted here (kernel.yama.ptrace_scope is 2): ",
        "CAP_SYS_PTRACE"
      ),
      (
        .noTracing(barrier: .yama(scope: 3)), "ptrace is not permitted here (kernel.yama.ptrace_scope is 3): ",
        "set it lower"
      ),
      (.noTracing(barrier: .seccomp), "ptrace is not permitted here (a seccomp filter is in force): ", "--cap-add"),
      (
        .noMemoryCgroup(error: .readOnly(folder: "/x")),
        "cannot create a memory cgroup here (`/x` is mounted read-only): ",
        "mount"
      ),
      (.hugePagesAlways, "transparent huge pages are on for every program", "thp: off"),
      (.swapInUse(used: .mebibytes(12)), "12.0 MiB of swap are in use", "swapoff"),
      (
        .smallLimit(limit: .mebibytes(256), used: .mebibytes(30)), "the runner's cgroup is limited to 256.0 MiB",
        "raise"
      ),
      (
        .hiddenLimit(limit: .mebibytes(100), wanted: .mebibytes(200)), "`memory-limit` is 200.0 MiB",
        "lower `memory-limit`"
      ),
      (.fewerCPUs(usable: 2, online: 8), "2 of 8 CPUs may be used here", "cpus:"),
      (.addressesNotFixed, "addresses cannot be fixed here", "aslr: on"),
    ] as [(MachineNote, String, String)]
  )
  func machine(note: MachineNote, start: String, remedy: String) {
    #expect(note.displayText.hasPrefix(start))
    #expect(note.displayText.contains("; ") && note.displayText.contains(remedy))
  }

  @Test(
    "A cgroup error names its folder and a remedy",
    arguments: [
      .noMemoryController(folder: "/x"), .noFile(file: "cgroup.freeze", folder: "/x"), .readOnly(folder: "/x"),
      .notPermitted(folder: "/x"), .notDelegated(folder: "/x"), .internalProcesses(folder: "/x"),
      .failed(folder: "/x", code: 95),
    ] as [CgroupError]
  )
  func cgroups(error: CgroupError) {
    #expect(error.causeText.contains("`/x`") && !error.remedyText.isEmpty)
  }
}
