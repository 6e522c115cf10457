import GateCore

/// The sums over all mappings of a process, from `/proc/<pid>/smaps_rollup`.
///
/// The kernel walks all pages for it, about 10 µs per resident MiB, and locks the mappings meanwhile.
struct MappingTotals {
  /// `Rss`.
  private(set) var resident: Bytes = .zero
  /// `Pss`: a page that n processes share counts 1/n.
  private(set) var proportional: Bytes = .zero
  /// `Anonymous`.
  private(set) var anonymous: Bytes = .zero
  /// `Pss_Anon`: the same for anonymous memory alone; nil before Linux 5.9.
  private(set) var proportionalAnonymous: Bytes?
  /// `LazyFree`.
  private(set) var lazilyFreed: Bytes = .zero
  /// `AnonHugePages`.
  private(set) var hugePages: Bytes = .zero
  /// `Swap`.
  private(set) var swapped: Bytes = .zero
  /// `Private_Hugetlb` and `Shared_Hugetlb`, which no other sum contains.
  private(set) var hugeTLB: Bytes = .zero

  /// Reads the file in the folder of a process or thread; nil if it has ended, or its mappings may not be read.
  init?(inFolder folder: String) {
    guard let file = ProcFile(path: "\(folder)/smaps_rollup") else { return nil }
    let totals = withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
      file.read(into: buffer).flatMap { MappingTotals(inRollup: $0) }
    }
    guard let totals else { return nil }
    self = totals
  }

  /// Returns nil if the text has no such sums.
  init?(inRollup text: UnsafeRawBufferPointer) {
    var start = 0
    while start < text.count {
      if let value = ProcText.value(of: "Rss:", in: text, at: start) { resident = .kibibytes(value) }
      if let value = ProcText.value(of: "Pss:", in: text, at: start) { proportional = .kibibytes(value) }
      if let value = ProcText.value(of: "Anonymous:", in: text, at: start) { anonymous = .kibibytes(value) }
      if let value = ProcText.value(of: "Pss_Anon:", in: text, at: start) {
        proportionalAnonymous = .kibibytes(value)
      }
      if let value = ProcText.value(of: "LazyFree:", in: text, at: start) { lazilyFreed = .kibibytes(value) }
      if let value = ProcText.value(of: "AnonHugePages:", in: text, at: start) { hugePages = .kibibytes(value) }
      if let value = ProcText.value(of: "Swap:", in: text, at: start) { swapped = .kibibytes(value) }
      let ownHugeTLB = ProcText.value(of: "Private_Hugetlb:", in: text, at: start)
      if let value = ownHugeTLB ?? ProcText.value(of: "Shared_Hugetlb:", in: text, at: start) {
        hugeTLB = hugeTLB + .kibibytes(value)
      }
      start = ProcText.endOfLine(in: text, at: start) + 1
    }
    guard resident > .zero else { return nil }
  }
}
