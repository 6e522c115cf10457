/// How much memory of each kind was held at one point in time, from the `smaps_rollup` of all processes.
package struct KindReading: Sendable, Equatable {
  /// In bytes.
  package typealias Amounts = [MemoryKind: Int64]

  /// Time since the target's exec.
  package var time: Duration
  /// Those of the main process that only this file shows; nil if it was not read.
  package var program: Amounts?
  /// Those of all processes, in which a page that n of them map counts 1/n for each.
  package var tree: Amounts

  package init(time: Duration, program: Amounts?, tree: Amounts) {
    (self.time, self.program, self.tree) = (time, program, tree)
  }
}
