/// How much the memory of functions differs between equal repetitions, of one kind of evidence.
struct ProfileNoise {
  /// A process's memory is counted in pages.
  static let page: Int64 = 4096

  /// A spread above this multiple of the standard error does not come from sampling alone.
  ///
  /// The range of three normal values is larger in 7 of 100,000 cases (Harter, "Tables of range and studentized range",
  /// 1960); a profile has many functions.
  private static let sampledRange: Int64 = 6

  /// The largest of any function, or of all blocks.
  let largest: Int64
  /// The largest that sampling does not explain: it may be any function's, since few repetitions may be equal by chance.
  private let unexplained: Int64
  /// Each function's own.
  private let own: [FunctionName: Int64]

  init(_ builds: [ProfileSummary], _ evidence: MemoryEvidenceKind) {
    var (largest, unexplained, own) = (Self.page, Self.page, [FunctionName: Int64]())
    for build in builds {
      let interval = evidence == .holds ? build.samplingInterval : .zero
      largest = max(largest, Self.standardError(build.parts[.live]?.median ?? 0, interval))
      for function in build.functions {
        let estimate = evidence.estimate(function)
        let error = Self.standardError(estimate.median, interval)
        own[function.name] = max(own[function.name] ?? 0, estimate.spread, error)
        largest = max(largest, estimate.spread)
        if estimate.spread > Self.sampledRange * error { unexplained = max(unexplained, estimate.spread) }
      }
    }
    (self.largest, self.unexplained, self.own) = (largest, unexplained, own)
  }

  subscript(_ function: FunctionName) -> Int64 { max(own[function] ?? 0, unexplained) }

  /// Of blocks that are sampled once per interval on average: the square root of their number, times the interval.
  ///
  /// Blocks larger than the interval are sampled more surely, so that it is an upper limit for them.
  private static func standardError(_ live: Int64, _ interval: Bytes) -> Int64 {
    Int64((Double(live.magnitude) * Double(interval.count)).squareRoot())
  }
}
