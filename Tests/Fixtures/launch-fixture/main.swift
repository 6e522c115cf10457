// Records its launches, and ends in the way that its arguments select:
//   launch-fixture FOLDER VERSION END [ACTIVITY [DETAIL]]
// It prints how other instances ended, why it was started and how the previous run ended, with FIXTURE_ERRORS also warnings. FIXTURE_PROC and
// FIXTURE_LOG replace /proc and /dev/kmsg, FIXTURE_POLICY the policy, FIXTURE_STOP the milliseconds after which a request
// no longer counts; with FIXTURE_STORE the record is kept as JSON.

import Glibc
import MemoryMarkers

/// Prints a line without buffering, because a killed program does not flush.
func say(_ text: String) {
  let line = Array("\(text)\n".utf8)
  _ = write(STDOUT_FILENO, line, line.count)
}

let arguments = CommandLine.arguments
guard arguments.count >= 4 else { exit(2) }
let detail = arguments.count > 5 ? arguments[5] : ""

func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

if variable("FIXTURE_ERRORS") != nil { dup2(STDOUT_FILENO, STDERR_FILENO) }

var folders = SystemFolders()
folders.proc = variable("FIXTURE_PROC") ?? folders.proc
folders.kernelLog = variable("FIXTURE_LOG") ?? folders.kernelLog

let policy: LaunchReason.Policy =
  switch variable("FIXTURE_POLICY") {
  case "elimination": .elimination
  case "off": .off
  default: .evidence
  }
let store: any PriorRunStore =
  if let kind = variable("FIXTURE_STORE") {
    JSONStore(path: "\(arguments[1])/record.json", failing: kind)
  } else {
    FileRunStore(folder: arguments[1], instance: "fixture")
  }
if arguments[3] == "handler" {
  let launch = LaunchReason(store: store, appVersion: arguments[2], heartbeat: .manual) { startup, previous in
    say("handler: \(startup), \(previous.map { "\($0)" } ?? "none")")
  }
  say("startup=\(launch.startup)")
  exit(0)
}
if arguments[3] == "path" {
  say(FileRunStore(instance: "fixture").path ?? "none")
  exit(0)
}
if arguments[3] == "released" {
  say("startup=\(LaunchReason(store: store, appVersion: arguments[2]).startup)")
  wait()
}
let launch = LaunchReason(
  store: store, appVersion: arguments[2], policy: policy, heartbeat: detail == "thread" ? .thread : .manual,
  folders: folders,
  longestStop: variable("FIXTURE_STOP").flatMap { UInt64($0) }.map { $0 * 1_000_000 } ?? 100_000_000_000
)
for (run, end) in launch.endedInstances { say("ended=\(run.appVersion) \(run.activity) \(end)") }
say("startup=\(launch.startup)")
say("previous=\(launch.previous.map { "\($0)" } ?? "none")")
say("failures=\(launch.consecutiveLaunchFailures)")

switch arguments.count > 4 ? arguments[4] : "" {
case "active": launch.set(.active)
case "idle": launch.set(.idle)
case "stopping": launch.set(.stopping)
default: break
}

/// Allocates memory until that fails or the process is killed.
func exhaustMemory() {
  let size = 1 << 20
  while let block = malloc(size) { memset(block, 1, size) }
}

func recurse(_ depth: Int) -> Int {
  withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 16) { buffer in
    buffer.initializeMemory(as: UInt8.self, repeating: UInt8(truncatingIfNeeded: depth))
    return recurse(depth + 1) + Int(buffer[depth % 4096])
  }
}

/// Runs a function on a new thread, and waits for its end.
func onThread(_ body: @escaping () -> Void) {
  final class Work {
    let body: () -> Void
    init(_ body: @escaping () -> Void) { self.body = body }
  }
  var thread = pthread_t()
  let work = Unmanaged.passRetained(Work(body)).toOpaque()
  pthread_create(
    &thread, nil,
    { work in
      if let work { Unmanaged<Work>.fromOpaque(work).takeRetainedValue().body() }
      return nil
    }, work)
  pthread_join(thread, nil)
}

func wait() -> Never {
  say("ready")
  while true { pause() }
}

/// Looked up at run time, because Swift does not import fork(2).
func fork() -> Int32 {
  typealias Fork = @convention(c) () -> Int32
  guard let symbol = dlsym(nil, "fork") else { exit(2) }
  return unsafeBitCast(symbol, to: Fork.self)()
}

switch arguments[3] {
case "return": break
case "knows":
  // What is known of the previous run, and whether this one is recorded.
  let prior = launch.priorRun
  say("recording=\(launch.isRecording) \(launch.notRecording.map { "\($0)" } ?? "")")
  say("prior=\(prior.map { "\($0.appVersion) \($0.processID) \($0.activity)" } ?? "none")")
  say("memory=\(prior?.resident ?? 0) \(prior?.peakResident ?? 0) \(prior?.memoryLimit ?? 0)")
  say("seen=\(prior?.lastSeen ?? 0)")
case "exit": exit(Int32(detail) ?? 0)
case "quick-exit": quick_exit(0)
case "note-exit":
  launch.noteExit()
  _exit(0)
case "_exit": _exit(0)
case "abort":
  launch.installSignalHandlers()
  abort()
case "trap":
  launch.installSignalHandlers()
  fatalError("on purpose")
case "fault":
  // The second call has no effect: handlers must not be taken for earlier ones.
  launch.installSignalHandlers()
  launch.installSignalHandlers()
  UnsafeMutablePointer<Int>(bitPattern: 16)?.pointee = 1
case "overflow":
  launch.installSignalHandlers()
  say("\(recurse(0))")
case "recovered":
  // An earlier handler recovers from the fault; the mark must be removed.
  signal(SIGSEGV) { _ in _ = write(1, "recovered\n", 10) }
  launch.installSignalHandlers()
  raise(SIGSEGV)
  wait()
case "thread-overflow":
  launch.installSignalHandlers()
  onThread {
    if detail == "prepared" { LaunchReason.prepareThread() }
    say("\(recurse(0))")
  }
case "signal":
  launch.installSignalHandlers()
  raise(Int32(detail) ?? 0)
case "survives":
  // Its own handler returns.
  signal(SIGTERM) { _ in _ = write(1, "survived\n", 9) }
  launch.installSignalHandlers()
  say("ready")
  while true {
    usleep(10_000)
    launch.tick()
  }
case "child-eats":
  let child = fork()
  if child == 0 { exhaustMemory() }
  waitpid(child, nil, 0)
case "daemon":
  guard daemon(1, 1) == 0 else { exit(2) }
  launch.set(.active)
  say("daemon=\(getpid()) recording=\(launch.isRecording)")
  wait()
case "request":
  launch.installSignalHandlers()
  wait()
case "ignored":
  signal(SIGHUP, SIG_IGN)
  launch.installSignalHandlers()
  wait()
case "wait": wait()
case "eat": exhaustMemory()
case "eat-later":
  signal(SIGUSR1) { _ in }
  say("ready")
  pause()
  exhaustMemory()
case "restarts":
  // Exits by itself on SIGTERM.
  launch.installSignalHandlers()
  signal(SIGTERM) { _ in exit(0) }
  wait()
case "hang":
  launch.hangBegan()
  wait()
case "hung-once":
  launch.hangBegan()
  launch.hangEnded()
  wait()
case "stop":
  launch.stop()
  launch.set(.active)
  wait()
case "second":
  let second = LaunchReason(store: store, appVersion: "another", folders: folders)
  say("second=\(second.startup)")
  second.set(.stopping)
  wait()
case "fork":
  // Nothing that the child does affects the record.
  let child = fork()
  if child == 0 {
    launch.set(.stopping)
    launch.stop()
    exit(7)
  }
  var status: Int32 = 0
  waitpid(child, &status, 0)
  say("child=\(status >> 8)")
  wait()
case "orphan":
  // The child outlives the parent; it must not keep the lock.
  let parent = getpid()
  let child = fork()
  if child == 0 {
    while getppid() == parent { usleep(1000) }
    wait()
  }
  say("child=\(child)")
  _exit(0)
case "replace":
  // The same process, another version.
  let command = [arguments[0], arguments[1], detail, "return"]
  var copies: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
  execv("/proc/self/exe", &copies)
  exit(2)
case "change":
  // Changes its activity as fast as possible; the number of the current change is in a file.
  let file = open(detail, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
  guard ftruncate(file, 8) == 0, let page = mmap(nil, 8, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0),
    page != MAP_FAILED
  else { exit(2) }
  // Not the number of the previous run, if it is killed before its first change.
  page.storeBytes(of: 0, as: UInt64.self)
  say("ready")
  for number in 1... {
    page.storeBytes(of: UInt64(number), as: UInt64.self)
    launch.set([.active, .idle, .stopping, .starting][number % 4])
  }
default: exit(2)
}
