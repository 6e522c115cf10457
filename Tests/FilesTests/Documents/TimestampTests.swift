import FoundationEssentials
import Testing

@testable import GateApplication

@Suite("Timestamps in documents")
struct TimestampTests {
  @Test(
    "A timestamp is written in UTC with milliseconds and survives a round trip",
    arguments: [
      (0, "1970-01-01T00:00:00.000Z"), (951_782_399_999, "2000-02-28T23:59:59.999Z"),
      (951_868_800_000, "2000-03-01T00:00:00.000Z"), (1_709_164_800_001, "2024-02-29T00:00:00.001Z"),
      (1_767_323_045_678, "2026-01-02T03:04:05.678Z"), (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
      (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
    ]
  )
  func roundTrip(milliseconds: Int64, text: String) {
    let date = Date(timeIntervalSince1970: Double(milliseconds) / 1000)
    #expect(Timestamp.text(of: date) == text)
    #expect(Timestamp.date(from: text) == date)
  }

  @Test("Every millisecond of a second survives a round trip")
  func everyMillisecond() {
    for milliseconds in 1_767_323_045_000..<1_767_323_046_000 {
      let date = Date(timeIntervalSince1970: Double(milliseconds) / 1000)
      #expect(Timestamp.date(from: Timestamp.text(of: date)) == date)
    }
  }

  @Test(
    "Offsets and other fractions of a second are read",
    arguments: [
      ("2026-01-02T05:04:05.678+02:00", 1_767_323_045_678), ("2026-01-01T21:34:05-05:30", 1_767_323_045_000),
      ("2026-01-02T03:04:05Z", 1_767_323_045_000), ("2026-01-02T03:04:05.6Z", 1_767_323_045_600),
      ("2026-01-02T03:04:05.678999999Z", 1_767_323_045_679),
    ] as [(String, Int64)]
  )
  func variants(text: String, milliseconds: Int64) {
    #expect(Timestamp.date(from: text) == Date(timeIntervalSince1970: Double(milliseconds) / 1000))
  }

  @Test(
    "A malformed timestamp is rejected",
    arguments: [
      "", "yesterday", "2026-01-02", "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z",
      "2026-01-02T24:00:00Z", "2026-01-02T03:04:05", "2026-01-02T03:04:05.Z", "2026-01-02 03:04:05Z",
      "2026-01-02T03:04:05.1234567890Z", "2026-01-02T03:04:05+2:00", "-026-01-02T03:04:05Z", "1969-12-31T23:59:59Z",
      "2026-01-02T03:04:05Zulu",
    ]
  )
  func refused(text: String) {
    #expect(Timestamp.date(from: text) == nil)
  }
}
