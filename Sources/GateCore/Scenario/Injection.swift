/// A kind of regression that a self-check makes of a target.
package enum Mutation: String, Sendable, CaseIterable, Codable {
  /// Memory that each program holds from its exec on.
  case held
  /// Memory that grows throughout the run, in 64 steps.
  case leak
  /// Memory that is held for 1 ms, when the program is near its peak.
  case spike
  /// A leak in the processes that the program starts.
  case worker
  /// Pages of a file.
  case file
  /// Memory that is shared with other processes.
  case shared
  /// Memory for each thread that the program creates.
  case arena
  /// A burst at the begin that is given back so slowly that half of it is left at the end.
  case slowReturn = "slow-return"
  /// Memory that is held from the first quarter of the run on, as of a table that doubles.
  case table
}

/// What became of an injection; the last one counts of several repetitions.
package enum InjectionState: Int, Sendable, Comparable {
  /// No process loaded the library, as of a static program.
  case notLoaded
  /// No process did that to which the memory is added.
  case notInjected
  case injected

  package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// The memory that a preloaded library makes a target hold.
package struct Injection: Sendable, Equatable {
  package var mutation: Mutation
  package var amount: Bytes
  /// How long a run of the unchanged program takes.
  package var duration: Duration
  /// The peak of the unchanged program.
  package var peak: Bytes

  package init(_ mutation: Mutation, of amount: Bytes, over duration: Duration, peak: Bytes) {
    (self.mutation, self.amount, self.duration, self.peak) = (mutation, amount, duration, peak)
  }
}
