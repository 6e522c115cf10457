import Glibc
import LinuxSystem
import Synchronization
import Testing

@Suite("Threads")
struct PosixThreadTests {
  private final class Seen: Sendable {
    let name = Mutex("")
    let hasAllBlocked = Mutex(false)
  }

  @Test("A thread has its name, and all signals are blocked in it")
  func properties() throws {
    let seen = Seen()
    let thread = try PosixThread(named: "hw-test") {
      let comm = (try? Descriptor.open("/proc/thread-self/comm", O_RDONLY).read(atMost: 100)) ?? []
      seen.name.withLock { $0 = String(decoding: comm, as: UTF8.self) }
      var mask = sigset_t()
      pthread_sigmask(SIG_BLOCK, nil, &mask)
      seen.hasAllBlocked.withLock { $0 = [SIGTERM, SIGINT, SIGHUP].allSatisfy { sigismember(&mask, $0) == 1 } }
    }
    thread.join()
    #expect(seen.name.withLock { $0 } == "hw-test\n")
    #expect(seen.hasAllBlocked.withLock { $0 })
  }
}
