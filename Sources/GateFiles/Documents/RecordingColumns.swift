/// Columns of numbers, each told by what it differs from a guess, in the largest unit that loses nothing.
enum Column {
  /// Units of time and memory: a nanosecond, microsecond and millisecond; a byte, KiB and page; a tick of the kernel.
  ///
  /// Files name them by their place here.
  static let units: [Int64] = [1, 1000, 1_000_000, 1024, 4096, 10_000_000]

  /// Writes the unit's index, then for each number its zig-zag varint; a run of zeros is a zero and its length less one.
  static func write(_ numbers: [Int64], to writer: inout ByteWriter) {
    let unit = largestUnit(of: numbers)
    writer.append(count: unit)
    var index = 0
    while index < numbers.count {
      writer.append(numbers[index] / units[unit])
      let run = numbers[index...].prefix { $0 == 0 }.count
      if run > 0 { writer.append(count: run - 1) }
      index += max(1, run)
    }
  }

  /// Reads as many numbers as there are; the caller has bounded the count.
  static func read(_ count: Int, from reader: inout ByteReader) throws(ByteFault) -> [Int64] {
    let unit = units[try reader.count(atMost: units.count - 1)]
    var numbers: [Int64] = []
    numbers.reserveCapacity(min(count, 1 << 16))
    while numbers.count < count {
      let (number, overflow) = try reader.signed().multipliedReportingOverflow(by: unit)
      if overflow { throw .damaged }
      numbers.append(number)
      guard number == 0 else { continue }
      let more = try reader.count(atMost: count - numbers.count)
      numbers.append(contentsOf: repeatElement(0, count: more))
    }
    return numbers
  }

  /// The index of the largest unit that divides all numbers.
  private static func largestUnit(of numbers: [Int64]) -> Int {
    let fitting = units.indices.filter { index in
      numbers.allSatisfy { $0.isMultiple(of: units[index]) }
    }
    return fitting.max { units[$0] < units[$1] } ?? 0
  }

  /// What each number differs from the one before it; wraps around instead of overflowing.
  static func differences(_ numbers: [Int64]) -> [Int64] {
    zip(numbers, [0] + numbers.dropLast()).map { $0 &- $1 }
  }

  /// Undoes ``differences(_:)``.
  static func sums(_ differences: [Int64]) -> [Int64] {
    var sum: Int64 = 0
    return differences.map { difference in
      sum &+= difference
      return sum
    }
  }
}
