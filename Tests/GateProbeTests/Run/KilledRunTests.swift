import Glibc
import Testing

@testable import GateProbe

@Suite("What a killed run left")
struct KilledRunTests {
  @Test("A run's folder stays, for a later run to clean up, as long as one of its cgroups cannot be removed")
  func busyCgroup() throws {
    let place = TestProcesses()
    let (cgroup, folder) = ("\(place.folder)/highwater-1-ab-0", "\(place.folder)/highwater-run-1")
    for path in [cgroup, folder] { try #require(mkdir(path, 0o755) == 0) }
    _ = place.file("highwater-run-1/cgroups", "\(place.folder)/highwater-1-ab-\n")
    let busy = place.file("highwater-1-ab-0/busy", "")

    RunFolder.removeAbandoned(in: place.folder)
    #expect(access(folder, F_OK) == 0 && KilledRun(folder: folder).hasCgroups)

    unlink(busy)
    RunFolder.removeAbandoned(in: place.folder)
    #expect(access(folder, F_OK) != 0 && access(cgroup, F_OK) != 0)
  }
}
