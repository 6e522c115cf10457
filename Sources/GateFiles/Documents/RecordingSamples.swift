import GateCore

/// The samples of a recording as columns.
///
/// The guesses: samples come at equal intervals; resident memory, and the parts of it that are files or shared, stay
/// what they were; the peak is the highest resident memory so far; the rest of resident memory is anonymous; and the
/// tree is the main process alone; page faults and CPU time are what they were. So a steady single process costs little
/// more than the jitter of its times.
enum SampleColumns {
  static func write(_ samples: [Sample], to writer: inout ByteWriter) {
    writer.append(count: samples.count)
    Column.write(Column.differences(Column.differences(samples.map(\.time.nanoseconds))), to: &writer)
    Column.write(Column.differences(samples.map { $0.main == nil ? 0 : 1 }), to: &writer)
    let figures = samples.compactMap(\.main)
    let resident = figures.map(\.resident.count)
    Column.write(Column.differences(resident), to: &writer)
    Column.write(differences(figures.map(\.peak.count), resident, from: guessedPeak), to: &writer)
    Column.write(Column.differences(figures.map(\.file.count)), to: &writer)
    Column.write(Column.differences(figures.map(\.shared.count)), to: &writer)
    Column.write(
      figures.map { $0.resident.count &- $0.file.count &- $0.shared.count &- $0.anonymous.count }, to: &writer
    )
    Column.write(Column.differences(samples.map { $0.tree.count &- ($0.main?.resident.count ?? 0) }), to: &writer)
    Column.write(Column.differences(samples.map { Int64($0.processes) }), to: &writer)
    Column.write(Column.differences(samples.map { $0.activity == nil ? 0 : 1 }), to: &writer)
    let activities = samples.compactMap(\.activity)
    Column.write(Column.differences(activities.map(\.minorFaults)), to: &writer)
    Column.write(Column.differences(activities.map(\.cpuTime.nanoseconds)), to: &writer)
  }

  static func read(from reader: inout ByteReader) throws(ByteFault) -> [Sample] {
    let count = try reader.count(atMost: RecordingFile.mostSamples)
    let times = Column.sums(Column.sums(try Column.read(count, from: &reader)))
    let main = try optionals(count, from: &reader, figures)
    let others = Column.sums(try Column.read(count, from: &reader))
    let processes = Column.sums(try Column.read(count, from: &reader))
    let activities = try reader.added(in: 2, else: [Activity?](repeating: nil, count: count)) {
      reader throws(ByteFault) in try optionals(count, from: &reader, Self.activities)
    }
    var samples: [Sample] = []
    samples.reserveCapacity(count)
    var earlier: Int64 = 0
    for index in 0..<count {
      guard times[index] >= earlier, (0...1 << 32).contains(processes[index]) else { throw .damaged }
      earlier = times[index]
      samples.append(
        Sample(
          time: try .checked(earlier),
          main: main[index],
          tree: try .checked(others[index] &+ (main[index]?.resident.count ?? 0)),
          processes: Int(processes[index]),
          activity: activities[index]
        )
      )
    }
    return samples
  }

  /// Reads a column of zeros and ones, and then the values that are there.
  private static func optionals<Value>(
    _ count: Int,
    from reader: inout ByteReader,
    _ values: (Int, inout ByteReader) throws(ByteFault) -> [Value]
  ) throws(ByteFault) -> [Value?] {
    let known = Column.sums(try Column.read(count, from: &reader))
    guard known.allSatisfy({ $0 == 0 || $0 == 1 }) else { throw .damaged }
    var present = try values(known.count { $0 == 1 }, &reader).makeIterator()
    return known.map { $0 == 1 ? present.next() : nil }
  }

  private static func activities(_ count: Int, from reader: inout ByteReader) throws(ByteFault) -> [Activity] {
    let faults = Column.sums(try Column.read(count, from: &reader))
    let times = Column.sums(try Column.read(count, from: &reader))
    guard faults.allSatisfy({ $0 >= 0 }) else { throw .damaged }
    var activities: [Activity] = []
    activities.reserveCapacity(count)
    for index in 0..<count {
      activities.append(Activity(minorFaults: faults[index], cpuTime: try .checked(times[index])))
    }
    return activities
  }

  private static func figures(_ count: Int, from reader: inout ByteReader) throws(ByteFault) -> [MemoryReading] {
    let resident = Column.sums(try Column.read(count, from: &reader))
    let peakErrors = try Column.read(count, from: &reader)
    let file = Column.sums(try Column.read(count, from: &reader))
    let shared = Column.sums(try Column.read(count, from: &reader))
    let residuals = try Column.read(count, from: &reader)
    var figures: [MemoryReading] = []
    figures.reserveCapacity(count)
    var peak: Int64 = 0
    for index in 0..<count {
      peak = guessedPeak(peak, resident[index]) &+ peakErrors[index]
      figures.append(
        MemoryReading(
          resident: try .checked(resident[index]),
          peak: try .checked(peak),
          anonymous: try .checked(resident[index] &- file[index] &- shared[index] &- residuals[index]),
          file: try .checked(file[index]),
          shared: try .checked(shared[index])
        )
      )
    }
    return figures
  }

  private static func guessedPeak(_ earlier: Int64, _ resident: Int64) -> Int64 {
    max(earlier, resident)
  }

  /// What each number differs from a guess by the number before it and another column.
  private static func differences(
    _ numbers: [Int64],
    _ beside: [Int64],
    from guess: (_ earlier: Int64, _ beside: Int64) -> Int64
  ) -> [Int64] {
    zip(zip(numbers, beside), [0] + numbers.dropLast()).map { pair, earlier in pair.0 &- guess(earlier, pair.1) }
  }
}

extension Bytes {
  /// An amount from a file: 0 to 1 EiB, so that sums of a few cannot overflow.
  static func checked(_ count: Int64) throws(ByteFault) -> Bytes {
    guard (0...largest.count).contains(count) else { throw .damaged }
    return Bytes(count)
  }
}

extension Duration {
  /// A span of nanoseconds from a file: 0 to some 146 years, so that sums of a few cannot overflow.
  static func checked(_ nanoseconds: Int64) throws(ByteFault) -> Duration {
    guard (0...1 << 62).contains(nanoseconds) else { throw .damaged }
    return .nanoseconds(nanoseconds)
  }
}
