import Testing

@testable import LaunchRecords

@Suite("The format of a launch record")
struct LaunchPageTests {
  private var record: LaunchRecord {
    var record = LaunchRecord()
    record.run.pid = 4711
    record.run.startTime = 123_456
    record.run.bootID = "b97c1a9b-1d1c-4d5c-8e0c-2f8a9a0a9c11"
    record.run.kernelRelease = "6.1.0"
    record.run.osRelease = "Debian 1a2b"
    record.run.appVersion = "1.4.2 🚀"
    record.run.buildID = "00ff"
    record.run.cgroup = "/sys/fs/cgroup/memory/a"
    record.run.cgroupInode = .max
    record.oomKillsAtStart = 0
    record.last.resident = 1 << 40
    record.last.limit = nil
    record.last.oomKills = 3
    record.last.pressure = 12.5
    record.activity = .idle
    record.launchFailures = 2
    record.tag = 77
    record.hangBegan = 5
    return record
  }

  private var empty: [UInt8] { [UInt8](repeating: 0, count: LaunchPage.size) }

  private func store(_ record: LaunchRecord, _ sequence: UInt64, in page: inout [UInt8]) {
    page.withUnsafeMutableBytes { LaunchPage.store(record, sequence: sequence, in: $0) }
  }

  @Test("CRC-32C of the examples in RFC 3720 B.4, and of `123456789`")
  func checksums() {
    func checksum(_ bytes: [UInt8]) -> UInt32 {
      var sum = CRC32C()
      bytes.withUnsafeBytes { sum.add($0) }
      return sum.value
    }
    #expect(checksum([UInt8](repeating: 0, count: 32)) == 0x8a91_36aa)
    #expect(checksum([UInt8](repeating: 0xff, count: 32)) == 0x62a8_ab43)
    #expect(checksum(Array(0..<32)) == 0x46dd_794e)
    #expect(checksum(Array("123456789".utf8)) == 0xe306_9283)
  }

  @Test("All fields round-trip")
  func roundTrip() throws {
    var page = empty
    var written = record
    written.isStopped = true
    written.crash = 11
    written.exit = LaunchRecord.Exit(code: 3)
    written.request = LaunchRecord.Request(signal: 15, sender: .process(4_194_303))
    store(written, 9, in: &page)
    let read = try #require(try LaunchPage.load(page))
    #expect(read.record == written)
    #expect(read.sequence == 9)
  }

  @Test(
    "Each kind of mark round-trips",
    arguments: [
      (nil, nil, .kernel), (0, nil, .unknown), (255, 4, .process(1)),
    ] as [(Int32?, Int32?, LaunchRecord.Sender)]
  )
  func marks(code: Int32?, crash: Int32?, sender: LaunchRecord.Sender) throws {
    var page = empty
    var written = record
    written.crash = crash
    written.exit = LaunchRecord.Exit(code: code)
    written.request = LaunchRecord.Request(signal: 2, sender: sender)
    store(written, 1, in: &page)
    #expect(try LaunchPage.load(page)?.record == written)
  }

  @Test("A page of zeros, a new file, and a page whose first record was not completed contain no record")
  func none() throws {
    #expect(try LaunchPage.load(empty) == nil)
    #expect(try LaunchPage.load([]) == nil)
    var page = empty
    store(record, 1, in: &page)
    page.replaceSubrange(0..<12, with: [UInt8](repeating: 0, count: 12))
    #expect(try LaunchPage.load(page) == nil)
  }

  @Test("The newest change is read, and the previous one stays valid")
  func slots() throws {
    var page = empty
    for (sequence, activity) in [LaunchRecord.Activity.active, .idle, .stopping].enumerated() {
      var changed = record
      changed.activity = activity
      store(changed, UInt64(sequence), in: &page)
      #expect(try LaunchPage.load(page)?.record.activity == activity)
    }
    // If any byte of the newest slot is wrong, the older change is read.
    let newest = 512..<(512 + 100)
    for place in newest {
      var broken = page
      broken[place] ^= 0x40
      #expect(try LaunchPage.load(broken)?.record.activity == .idle)
    }
  }

  @Test("Wrong checksums in both slots are a damaged record")
  func damaged() {
    var page = empty
    store(record, 1, in: &page)
    store(record, 2, in: &page)
    page[600] ^= 1
    page[2400] ^= 1
    #expect(throws: LaunchPageError.corrupt) { try LaunchPage.load(page) }
  }

  @Test("Other bytes are a damaged record, and another version is reported")
  func foreign() {
    var page = empty
    store(record, 1, in: &page)
    #expect(throws: LaunchPageError.corrupt) { try LaunchPage.load(Array(page.dropLast())) }
    #expect(throws: LaunchPageError.corrupt) { try LaunchPage.load(Array("not a record".utf8)) }
    page[8] = 9
    #expect(throws: LaunchPageError.unknownVersion(9)) { try LaunchPage.load(page) }
  }

  @Test("Marks of an earlier run, and words of zeros or other bytes, are not valid")
  func staleMarks() throws {
    var page = empty
    var earlier = record
    earlier.crash = 11
    store(earlier, 1, in: &page)
    var later = record
    later.tag = 78
    store(later, 2, in: &page)
    #expect(try LaunchPage.load(page)?.record == later)
    page.replaceSubrange(72..<88, with: [UInt8](repeating: 0xa5, count: 16))
    #expect(try LaunchPage.load(page)?.record == later)
  }

  @Test("A change leaves a mark that a handler made meanwhile")
  func markStays() throws {
    var page = empty
    store(record, 1, in: &page)
    page.withUnsafeMutableBytes {
      $0.storeBytes(
        of: LaunchPage.word(11, tag: 77), toByteOffset: LaunchPage.crashWord, as: UInt64.self)
    }
    store(record, 2, in: &page)
    #expect(try LaunchPage.load(page)?.record.crash == 11)
  }

  @Test("Texts of any length fit, and what is too long is cut")
  func longest() throws {
    var page = empty
    var written = record
    let long = String(repeating: "é", count: 5000)
    written.run.bootID = long
    written.run.kernelRelease = long
    written.run.osRelease = long
    written.run.appVersion = long
    written.run.buildID = long
    written.run.cgroup = long
    store(written, 1, in: &page)
    let read = try #require(try LaunchPage.load(page))
    #expect(read.record.run.appVersion == String(repeating: "é", count: 128))
    #expect(read.record.hangBegan == 5)
  }

  @Test("No bytes upset the reading", arguments: 0..<50)
  func noise(seed: UInt64) {
    var page = empty
    store(record, 1, in: &page)
    store(record, 2, in: &page)
    var state = seed &* 0x9e37_79b9_7f4a_7c15 | 1
    for _ in 0..<40 {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      page[Int(state % 4096)] = UInt8(truncatingIfNeeded: state >> 20)
    }
    let read = try? LaunchPage.load(page)
    #expect(read == nil || read?.record.run == record.run)
  }
}
