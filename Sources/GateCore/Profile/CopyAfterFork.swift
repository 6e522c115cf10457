extension CallTree.Function {
  /// Stands for the kernel's copying of pages that a forked process wrote to.
  ///
  /// Its nodes are leaves. Their pages (``CallTree/Weight/touched``) existed before the fork, and the caller is the function
  /// that wrote to them in the copy; without a caller that is unknown. CMemoryProfiler (result.c) writes the name.
  package static let copyAfterFork = CallTree.Function(module: "", name: "[copy-after-fork]")
}
