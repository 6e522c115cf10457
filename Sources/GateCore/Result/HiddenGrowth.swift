/// The growth per iteration up to which a gate on growth passes a program that leaks.
package struct HiddenGrowth: Sendable, Hashable, Codable {
  /// What hides it most.
  package enum Cause: String, Sendable, Codable {
    /// Growth still slows down in most repetitions.
    case warmup
    /// The memory grows by much already, and the tolerance is a share of that.
    case level
    /// There are too few iterations: what a leak takes may come from memory that the program had freed before.
    case fewIterations = "few-iterations"
    /// The program has a garbage collector: what a leak takes may come from memory that held garbage before.
    case garbage
    /// The values of equal repetitions differ.
    case noise
    /// There are fewer iterations than growth is judged with: only the peak and the level show a leak.
    case notJudged = "not-judged"
  }

  package var cause: Cause
  /// In bytes per iteration.
  package var upTo: Double
  /// The number of iterations that were judged, or if none were, of all.
  package var iterations: Int

  package init(_ cause: Cause, upTo: Double, iterations: Int) {
    (self.cause, self.upTo, self.iterations) = (cause, upTo, iterations)
  }

  /// What a leak per iteration is expected to be found from, in bytes: a server that keeps a record of each request keeps
  /// about this much.
  package static let expected = 512.0

  /// Freed memory that a program may keep, from which a leak can be served without a new page: glibc gives back the top of
  /// its heap from 128 KiB on (M_TRIM_THRESHOLD, mallopt(3)).
  private static let keptMemory = 128.0 * 1024

  /// From this number of judged iterations on, the memory that hides a leak hides no more than ``expected``.
  package var enoughIterations: Int { Int(min(Self.most, upTo * Double(iterations) / Self.expected).rounded()) }

  /// A file may have any amounts.
  private static let most = 1e12

  /// What so many iterations of one process can show at best.
  static func least(in iterations: Int) -> Double { keptMemory / Double(max(1, iterations)) }
}
