/// The rise of a regression, which profiles are to explain.
package struct MeasuredRise: Sendable, Hashable {
  package var kind: ExplainedRise
  /// What the metric rose by; nil if it is not an amount of memory, as growth is not, or has no earlier value.
  package var amount: Bytes?
  /// Whether the metric is of the whole process tree, not of its main process.
  package var isOfTree: Bool
  /// Whether the check's own repetitions show that pages of files and of shared memory do not explain it: the peak of a
  /// profiled one may be at another moment.
  package var excludesMappings = false

  package init(_ kind: ExplainedRise, amount: Bytes? = nil, isOfTree: Bool = false) {
    (self.kind, self.amount, self.isOfTree) = (kind, amount, isOfTree)
  }
}
