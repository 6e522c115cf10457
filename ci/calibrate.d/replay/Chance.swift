import GateCore
import Glibc
import Statistics

/// Random numbers from a seed, the same in each run and on each machine.
package struct Chance {
  private var numbers: SeededNumbers

  /// The generator for a label: each row of a table has its own, so that it can be recomputed alone.
  package init(for label: String) {
    numbers = SeededNumbers(seed: UInt64(StableHash.hexadecimal(of: label), radix: 16) ?? 0)
  }

  /// Uniform over 0 to 1, without 1.
  package mutating func uniform() -> Double {
    numbers.nextShare()
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
