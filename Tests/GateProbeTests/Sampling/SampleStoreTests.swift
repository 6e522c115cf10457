import GateCore
import Testing

@testable import GateProbe

@Suite("The sample buffer")
struct SampleStoreTests {
  private func reading(_ time: Int64, resident: Int64, tree: Int64 = 0) -> SampleStore.Reading {
    SampleStore.Reading(
      time: time, process: 1, resident: resident, peak: resident, anonymous: 0, file: 0, shared: 0, tree: tree,
      processes: 1)
  }

  @Test("All samples are kept up to the capacity", arguments: [0, 1, 7, 8])
  func keepsAll(count: Int) {
    var store = SampleStore(capacity: 8)
    for at in 0..<count { store.append(reading(Int64(at), resident: Int64(at * 4096))) }
    #expect(store.last(.max).map(\.time.nanoseconds) == (0..<Int64(count)).map { $0 })
    #expect(store.stride == 1)
  }

  @Test("Beyond the capacity, the buffer is at least half full, times ascend, and spikes are kept", arguments: 0..<50)
  func keepsSpikes(spike: Int) {
    var store = SampleStore(capacity: 8)
    for at in 0..<50 {
      let isSpike = at == spike
      store.append(reading(Int64(at), resident: isSpike ? 999 : 100, tree: at == (spike + 25) % 50 ? 555 : 7))
    }
    store.flush()
    let samples = store.last(.max)
    #expect(samples.count >= 4 && samples.count <= 8)
    #expect(samples.contains { $0.main?.resident == Bytes(999) && $0.time == .nanoseconds(Int64(spike)) })
    #expect(samples.map(\.tree).max() == Bytes(555))
    #expect(zip(samples, samples.dropFirst()).allSatisfy { $0.time < $1.time })
    #expect(store.stride == 8)
  }

  @Test("Samples with values of the main process are preferred")
  func prefersMain() {
    var store = SampleStore(capacity: 2)
    for resident in [-1, 5, 6] as [Int64] { store.append(reading(1, resident: resident)) }
    store.flush()
    #expect(store.last(.max).map(\.main?.resident) == [Bytes(5), Bytes(6)])
    #expect(store.lastMemory?.resident == Bytes(6))
    #expect(store.last(1).count == 1)
  }
}
