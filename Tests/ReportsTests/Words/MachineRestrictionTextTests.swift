import GateCore
import Testing

@testable import GateApplication

@Suite("Words for machines where nothing can be measured")
struct MachineRestrictionTextTests {
  @Test(
    "Each restriction has its place, its cause and a hint",
    arguments: [
      (
        .noProc,
        """
        /proc: error: not mounted; highwater reads memory usage from it
          hint: mount -t proc proc /proc
        """
      ),
      (
        .otherProc,
        """
        /proc: error: it shows the processes of another PID namespace
          hint: mount one of this namespace, as `unshare --pid --fork --mount-proc` does
        """
      ),
      (
        .temporaryFolder(failure: SystemFailure(.mkdtemp, path: "/no", code: 2)),
        """
        /no: error: cannot create a temporary folder: no such file or directory
          hint: set TMPDIR to a writable folder
        """
      ),
      (
        .tooFew(resource: .descriptors, needed: 32),
        """
        error: the limit of open files is too low: 32 more cannot be opened
          hint: raise it (ulimit -n)
        """
      ),
      (
        .tooFew(resource: .processes, needed: 16),
        """
        error: process limit too low: 16 more needed
          hint: raise it (ulimit -u, or pids.max of the cgroup)
        """
      ),
      (
        .tooFew(resource: .fileSize, needed: 16 << 20),
        """
        error: the limit of file sizes is below 16.0 MiB
          hint: raise it (ulimit -f)
        """
      ),
      (
        .tooFew(resource: .addressSpace, needed: 64 << 20),
        """
        error: the limit of memory is too low: 64.0 MiB more cannot be reserved
          hint: raise it (ulimit -v, ulimit -d)
        """
      ),
    ] as [(MachineRestriction, String)])
  func words(restriction: MachineRestriction, expected: String) {
    #expect(restriction.diagnostic.description == expected)
  }
}
