/// Finds the peaks of programs whose last values were not read, from the kernel's maximum over all of them.
///
/// An exec frees the memory of the program before it, and its high-water mark with it. But the kernel adds that mark to
/// `ru_maxrss` of the process first (`exec_mmap` in fs/exec.c), which a tracer gets with each stop. That is a maximum: it
/// also includes the program before, down to the memory of the process that started the first one, and all children that
/// the process has waited for. So a rise beyond all of these is the program's own peak, to the byte that the mark had;
/// otherwise it is a bound.
struct ProgramPeaks {
  /// `ru_maxrss` when the current program began; nil if unknown.
  private var start: Int64?
  private var ofChildren: Int64 = 0
  /// The most memory that a program may have had whose peak is not known.
  private(set) var unread: Int64 = 0

  /// The process has begun a program.
  mutating func begin(at highest: Int64) {
    start = highest
  }

  /// A child has ended that the process may have waited for.
  mutating func noteChild(_ highest: Int64) {
    ofChildren = highest > 0 ? max(ofChildren, highest) : .max
  }

  /// The current program has ended without a last reading; returns its peak if that is known.
  ///
  /// With `unknownChildren`, the memory may have been that of a child; `highest` is not positive if unknown.
  mutating func end(at highest: Int64, unknownChildren: Bool) -> Int64? {
    guard let start else { return nil }
    if !unknownChildren, highest > max(start, ofChildren) { return highest }
    unread = highest > 0 ? max(unread, highest) : .max
    return nil
  }

  /// A copy of another process, which had inherited so much memory, has executed its first program; returns the peak of
  /// the copy if most of that was its own.
  ///
  /// Otherwise it counts as unknown if it is more than the `error` of the two values.
  mutating func endCopy(at highest: Int64, inherited: Int64, error: Int64) -> Int64? {
    guard inherited > 0 else { return nil }
    if highest > 2 * inherited + error { return highest }
    if highest > inherited + error { unread = max(unread, highest) }
    return nil
  }
}
