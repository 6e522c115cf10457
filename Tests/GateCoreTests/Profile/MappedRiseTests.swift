import GateCore
import Testing

@Suite("A rise of mapped memory")
struct MappedRiseTests {
  private func composition(
    anonymous: Int64 = 9, file: Int64 = 4, shared: Int64 = 0, _ mappings: [String: Int64]
  ) -> Composition {
    Composition(
      anonymous: .mebibytes(anonymous), file: .mebibytes(file), shared: .mebibytes(shared),
      libraries: mappings.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        .map { Composition.Library(name: $0.key, resident: .mebibytes($0.value)) })
  }

  @Test("The library, the deleted file, the shared segment and the memfd are named that rose")
  func named() throws {
    let before = composition(["libc.so.6": 2, "app": 1, "data.db": 1])
    for (name, kind) in [
      ("libtorch.so", MappedRise.Kind.files), ("cache (deleted)", .files), ("/dev/shm/pool", .shared),
      ("/memfd:pool", .shared), ("/SYSV0000002a", .shared),
    ] {
      let isShared = kind == .shared
      let now = composition(
        file: isShared ? 4 : 34, shared: isShared ? 30 : 0, ["libc.so.6": 2, "app": 1, "data.db": 1, name: 30])
      let rise = try #require(MappedRise(from: before, to: now, of: .mebibytes(31)))
      #expect(rise == MappedRise(kind, rise: .mebibytes(30), largest: [.init(name, rise: .mebibytes(30))]))
    }
  }

  @Test("Files in memory that no process has mapped count for the tree, and no more than the rise")
  func unmapped() {
    var (before, now) = (composition(["libc.so.6": 2]), composition(["libc.so.6": 2]))
    before.unmapped = [.init(name: "/dev/shm/old", resident: .mebibytes(5))]
    now.unmapped = [.init(name: "/dev/shm/new", resident: .mebibytes(200))]
    #expect(MappedRise(from: before, to: now, of: .mebibytes(195)) == nil, "of one process")
    let rise = MappedRise(from: before.countingUnmapped, to: now.countingUnmapped, of: .mebibytes(195))
    #expect(rise == MappedRise(.shared, rise: .mebibytes(195), largest: [.init("/dev/shm/new", rise: .mebibytes(195))]))
    now.libraries += now.unmapped
    #expect(now.countingUnmapped == now, "a file that a process has mapped meanwhile")
    now.unmapped = [.init(name: "/tmp/pool (deleted)", resident: .mebibytes(9))]
    now.libraries += [.init(name: "pool (deleted)", resident: .mebibytes(9))]
    #expect(now.countingUnmapped == now, "the same on another tmpfs")
  }

  @Test("It explains nothing if anonymous memory is most of the rise, or it is small")
  func unexplained() {
    let before = composition(["libc.so.6": 2])
    let held = composition(anonymous: 30, file: 8, ["libc.so.6": 6])
    #expect(MappedRise(from: before, to: held, of: .mebibytes(25)) == nil)
    #expect(MappedRise(from: before, to: before, of: .mebibytes(1)) == nil)
  }

  @Test("A mapping that a full list lacks may have been there before")
  func fullLists() {
    let many = Dictionary(uniqueKeysWithValues: (0..<10).map { ("lib\($0).so", Int64(5)) })
    let now = composition(file: 60, many.merging(["small.so": 4, "large.so": 6]) { $1 })
    #expect(now.mappingChanges(since: composition(many)).map(\.name) == ["large.so"])
    #expect(now.mappingChanges(since: composition([:])) == [], "unknown")
    // A wheel has another hash in each build.
    let (old, new) = (composition(["libhdf5-8c29085d.so": 35]), composition(["libhdf5-9e18f0c6.so": 46]))
    let change = Composition.Library(name: "libhdf5-9e18f0c6.so", resident: .mebibytes(11))
    #expect(new.mappingChanges(since: old) == [change])
  }
}
