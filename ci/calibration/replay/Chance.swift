import Glibc

/// Random numbers that are the same in each run and on each machine, by a seed.
package struct Chance {
  private var state: UInt64

  /// The numbers that belong to a label: each row of a table has its own, so that it can be made again by itself.
  package init(for label: String) {
    // FNV-1a (Fowler, Noll and Vo).
    state = label.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }

  /// SplitMix64 (Steele, Lea and Flood 2014).
  private mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }

  /// Evenly spread over 0 to 1, without 1.
  package mutating func uniform() -> Double {
    Double(next() >> 11) * 0x1p-53
  }

  /// Normal with mean 0 and deviation 1, by the polar method (Marsaglia and Bray 1964).
  package mutating func normal() -> Double {
    while true {
      let (x, y) = (2 * uniform() - 1, 2 * uniform() - 1)
      let square = x * x + y * y
      if square > 0, square < 1 { return x * (-2 * log(square) / square).squareRoot() }
    }
  }

  /// Student's t with 3 degrees of freedom, divided by √3, which makes its deviation 1.
  package mutating func heavyTailed() -> Double {
    let top = normal()
    let below = (0..<3).reduce(0.0) { sum, _ in
      let value = normal()
      return sum + value * value
    }
    return top / below.squareRoot()
  }
}
