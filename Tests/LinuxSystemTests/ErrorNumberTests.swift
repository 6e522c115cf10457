import Glibc
import LinuxSystem
import Testing

@Suite("Error numbers of system calls")
struct ErrorNumberTests {
  @Test(
    "Texts are in lower case, but for names",
    arguments: [
      (ENOENT, "no such file or directory"), (EINVAL, "invalid argument"), (ENOTTY, "inappropriate ioctl for device"),
    ]
  )
  func text(code: Int32, text: String) {
    #expect(ErrorNumber(code).text == text)
  }

  @Test("An interrupted call is made again, and another failure is thrown")
  func retries() throws {
    var results: [(value: Int, code: Int32)] = [(-1, EINTR), (-1, EINTR), (7, 0)]
    func call() -> Int {
      let result = results.removeFirst()
      errno = result.code
      return result.value
    }
    #expect(try retrying(call) == 7)
    results = [(-1, EBADF)]
    #expect(throws: ErrorNumber(EBADF)) { try retrying(call) }
    results = [(-1, EINTR), (5, 0)]
    #expect(retried(call) == 5)
    results = [(-1, EBADF)]
    #expect(retried(call) == -1)
  }

  @Test("A call that is interrupted each time fails in the end")
  func endlessInterruptions() {
    func call() -> Int {
      errno = EINTR
      return -1
    }
    #expect(throws: ErrorNumber(EINTR)) { try retrying(call) }
    #expect(retried(call) == -1)
  }

  @Test("A temporary folder can be read by its owner only, and a missing parent is an error")
  func folder() throws {
    let path = try makeTemporaryFolder(in: "/tmp")
    var status = stat()
    #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o700)
    #expect(rmdir(path) == 0)
    #expect(throws: ErrorNumber(ENOENT)) { try makeTemporaryFolder(in: "/no/such/folder") }
  }
}
