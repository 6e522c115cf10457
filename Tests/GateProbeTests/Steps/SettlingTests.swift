import GateCore
import Testing

@testable import GateProbe

@Suite("The steadiness rule")
struct SettlingTests {
  /// Samples 10 ms apart, starting at 5 s.
  private func samples(_ count: Int, interval: Int = 10, resident: (Int) -> Int64) -> [Sample] {
    (0..<count).map { index in
      let bytes = Bytes(resident(index))
      let memory = MemoryReading(resident: bytes, peak: bytes, anonymous: bytes, file: .zero, shared: .zero)
      return Sample(time: .milliseconds(5000 + index * interval), main: memory, tree: bytes, processes: 1)
    }
  }

  @Test("Constant memory is steady after one second")
  func flat() {
    #expect(Settling(of: samples(101) { _ in 50 << 20 }, since: .seconds(5))?.isSteady == true)
    #expect(Settling(of: samples(100) { _ in 50 << 20 }, since: .seconds(5)) == nil)
    #expect(Settling(of: samples(101) { _ in 50 << 20 }, since: .seconds(5) + .milliseconds(1)) == nil)
  }

  @Test("With a long interval, 20 samples are needed")
  func coarse() {
    #expect(Settling(of: samples(19, interval: 500) { _ in 50 << 20 }, since: .zero) == nil)
    #expect(Settling(of: samples(20, interval: 500) { _ in 50 << 20 }, since: .zero)?.isSteady == true)
  }

  @Test("A rise beyond the band is not steady, and its size is reported", arguments: [3, 10, 200] as [Int64])
  func rising(mebibytes: Int64) throws {
    let settling = try #require(
      Settling(of: samples(200) { 50 << 20 + Int64($0) * (mebibytes << 20) / 100 }, since: .zero))
    #expect(!settling.isSteady)
    let share = Double(settling.moved.count) / Double(mebibytes << 20)
    #expect((0.8...1.0).contains(share), "the medians of the outer segments are 90 % of the rise apart")
  }

  @Test("Changes of 1 % or 256 KiB are within the band")
  func band() {
    #expect(Settling(of: samples(150) { (1 << 20) + Int64($0 % 2) * (256 << 10) }, since: .zero)?.isSteady == true)
    #expect(Settling(of: samples(150) { (100 << 20) + Int64($0 / 15) * (100 << 10) }, since: .zero)?.isSteady == true)
  }

  @Test("A fast sawtooth is steady")
  func sawtooth() {
    #expect(Settling(of: samples(150) { (50 << 20) + Int64($0 % 5) << 20 }, since: .zero)?.isSteady == true)
  }
}
