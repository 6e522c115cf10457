/// Pseudo-random numbers from a seed, the same on every machine: SplitMix64 (Steele, Lea and Flood 2014).
///
/// Not a `RandomNumberGenerator`, because the standard library does not document which values it draws from one.
package struct SeededNumbers: Sendable {
  private var state: UInt64

  package init(seed: UInt64) {
    state = seed
  }

  package mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = (state ^ (state >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }

  /// An integer from 0 to `bound` − 1; `bound` is at least 1 (Lemire 2019, without the rejection step: the bias is less
  /// than `bound` in 2^64).
  package mutating func next(below bound: Int) -> Int {
    Int(next().multipliedFullWidth(by: UInt64(bound)).high)
  }

  /// A number from 0 to below 1, in steps of 2^-53.
  package mutating func nextShare() -> Double {
    Double(next() >> 11) / 9_007_199_254_740_992
  }
}
