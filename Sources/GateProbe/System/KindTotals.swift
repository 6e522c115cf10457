import GateCore

/// The amounts of each kind of memory of one process, from `/proc/<pid>/smaps_rollup`.
struct KindTotals {
  /// Those that only this file shows, as they are for the process itself.
  private(set) var own: KindReading.Amounts = [:]
  /// Its share, in which a page that n processes map counts 1/n.
  private(set) var share: KindReading.Amounts = [:]

  /// Reads the file in the folder of a process or thread; nil if it has ended, or its mappings may not be read.
  init?(inFolder folder: String) {
    guard let file = ProcFile(path: "\(folder)/smaps_rollup") else { return nil }
    let totals = withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
      file.read(into: buffer).flatMap { KindTotals(inRollup: $0) }
    }
    guard let totals else { return nil }
    self = totals
  }

  /// Returns nil if the text has no such sums.
  init?(inRollup text: UnsafeRawBufferPointer) {
    for kind in MemoryKind.allCases {
      own[kind] = Self.sum(of: kind.ownLines, in: text)
      share[kind] = Self.sum(of: kind.shareLines, in: text)
    }
    guard share[.pss] != nil else { return nil }
  }

  func has(_ metric: KindMetric) -> Bool { (metric.scope == .program ? own : share)[metric.kind] != nil }

  /// The sum in bytes of the lines with these keys; nil if a line is missing, or there are none.
  private static func sum(of keys: [StaticString], in text: UnsafeRawBufferPointer) -> Int64? {
    let values = keys.compactMap { value(of: $0, in: text) }
    return values.isEmpty || values.count < keys.count ? nil : values.reduce(0, +) * 1024
  }

  private static func value(of key: StaticString, in text: UnsafeRawBufferPointer) -> Int64? {
    var start = 0
    while start < text.count {
      if let value = ProcText.value(of: key, in: text, at: start) { return value }
      start = ProcText.endOfLine(in: text, at: start) + 1
    }
    return nil
  }
}

extension MemoryKind {
  /// The lines for the program; empty where each sample of `status` has the amount.
  fileprivate var ownLines: [StaticString] {
    switch self {
    case .anonymous, .file, .shared: []
    case .swap: ["Swap:"]
    case .pss: ["Pss:"]
    case .private: ["Private_Clean:", "Private_Dirty:"]
    }
  }

  /// The lines for the tree.
  fileprivate var shareLines: [StaticString] {
    switch self {
    case .anonymous: ["Pss_Anon:"]
    case .file: ["Pss_File:"]
    case .shared: ["Pss_Shmem:"]
    case .swap: ["SwapPss:"]
    case .pss: ["Pss:"]
    case .private: ["Private_Clean:", "Private_Dirty:"]
    }
  }
}
