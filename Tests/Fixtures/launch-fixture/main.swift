// A program that records its launches and ends in the way that it is reported:
//   launch-fixture FOLDER VERSION END [ACTIVITY [DETAIL]]
// It prints why it started and how the run before ended, with FIXTURE_ERRORS also what it complains of. FIXTURE_PROC,
// FIXTURE_LOG and FIXTURE_POLICY replace what the library would ask; with FIXTURE_STORE the record is kept as JSON.

import Glibc
import MemoryMarkers

/// Prints a line at once, since a killed program flushes nothing.
func say(_ words: String) {
  let line = Array("\(words)\n".utf8)
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

let policy: Policy =
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
let launch = LaunchReason(
  store: store, appVersion: arguments[2], policy: policy, heartbeat: detail == "thread" ? .thread : .manual,
  folders: folders
)
say("startup=\(launch.startup)")
say("previous=\(launch.previous.map { "\($0)" } ?? "none")")
say("failures=\(launch.consecutiveLaunchFailures)")

switch arguments.count > 4 ? arguments[4] : "" {
case "active": launch.set(.active)
case "idle": launch.set(.idle)
case "stopping": launch.set(.stopping)
default: break
}

/// Takes memory until it is refused or the process is killed.
func eat() {
  let size = 1 << 20
  while let block = malloc(size) { memset(block, 1, size) }
}

func recurse(_ depth: Int) -> Int {
  withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 16) { buffer in
    buffer.initializeMemory(as: UInt8.self, repeating: UInt8(truncatingIfNeeded: depth))
    return recurse(depth + 1) + Int(buffer[depth % 4096])
  }
}

func wait() -> Never {
  say("ready")
  while true { pause() }
}

switch arguments[3] {
case "return": break
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
  // A second time is as good as once: handlers must not take themselves for the earlier ones.
  launch.installSignalHandlers()
  launch.installSignalHandlers()
  UnsafeMutablePointer<Int>(bitPattern: 16)?.pointee = 1
case "overflow":
  launch.installSignalHandlers()
  say("\(recurse(0))")
case "healed":
  // Somebody else's handler heals the fault; the mark must go, too.
  signal(SIGSEGV) { _ in _ = write(1, "healed\n", 7) }
  launch.installSignalHandlers()
  raise(SIGSEGV)
  wait()
case "request":
  launch.installSignalHandlers()
  wait()
case "ignored":
  signal(SIGHUP, SIG_IGN)
  launch.installSignalHandlers()
  wait()
case "wait": wait()
case "eat": eat()
case "restarts":
  // Ends by itself when it is asked to.
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
  // The child changes and ends as it likes: the record is the parent's. Bound at run time, since Swift hides fork(2).
  typealias Fork = @convention(c) () -> Int32
  guard let symbol = dlsym(nil, "fork") else { exit(2) }
  let child = unsafeBitCast(symbol, to: Fork.self)()
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
  // The child outlives the parent; it must not hold the lock.
  let parent = getpid()
  typealias Fork = @convention(c) () -> Int32
  guard let symbol = dlsym(nil, "fork") else { exit(2) }
  let child = unsafeBitCast(symbol, to: Fork.self)()
  if child == 0 {
    while getppid() == parent { usleep(1000) }
    wait()
  }
  say("child=\(child)")
  _exit(0)
case "replace":
  // The same process, another version.
  let words = [arguments[0], arguments[1], detail, "return"]
  var copies: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
  execv("/proc/self/exe", &copies)
  exit(2)
case "change":
  // Changes its activity as fast as it can; the number of the change under way stands in a file of its own.
  let file = open(detail, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
  guard ftruncate(file, 8) == 0, let page = mmap(nil, 8, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0),
    page != MAP_FAILED
  else { exit(2) }
  // Not the number of the run before, for one that is killed before its first change.
  page.storeBytes(of: 0, as: UInt64.self)
  say("ready")
  for number in 1... {
    page.storeBytes(of: UInt64(number), as: UInt64.self)
    launch.set([.active, .idle, .stopping, .starting][number % 4])
  }
default: exit(2)
}
