/// How much the memory of functions differs between equal repetitions, of one kind of evidence.
struct ProfileNoise {
  /// A process's memory is counted in pages.
  static let page = Bytes.usualPage.count

  /// A rise is clear above this multiple of the largest difference between equal repetitions: by chance medians of three
  /// normal values differ by 3 times the range of either in 6 of 10,000 cases, and by twice in 28 (simulated).
  static let clearFactor: Int64 = 3

  /// A spread above this multiple of the standard error does not come from sampling alone, whatever the function.
  ///
  /// The range of three normal values is larger in 7 of 100,000 cases (Harter, "Tables of range and studentized range",
  /// 1960); a profile has many functions.
  private static let sampledRange = 6.0

  /// The same for one function: its range is larger in 1 of 100 cases (Harter).
  private static let ownSampledRange = 4.2

  /// How much sampling contributes is known, so that the spread of three repetitions only shows whether something else does.
  ///
  /// With the factor for a clear rise this is 4 standard errors (2.7 for growth), of which medians of three differ by 0.95.
  private static let sampledFactor = 4.0 / 3

  /// Two single estimates differ by so many times as much as the medians of two or three (1.41 to 0.95 standard errors).
  private static let singleFactor = 1.5

  /// What repetitions are taken to differ by if there is only one, as a part of what a function holds: with the factor
  /// for a clear rise, as much as the default tolerance of some percent.
  private static let unknownPart: Int64 = 50

  /// The largest of any function, or of all blocks.
  let largest: Int64
  /// The largest that sampling does not explain: it may be any function's, since few repetitions may be equal by chance.
  private let unexplained: Int64
  /// Each function's own.
  private let own: [FunctionName: Int64]

  init(_ builds: [ProfileSummary], _ evidence: MemoryEvidenceKind) {
    var (largest, unexplained, own) = (Self.page, Self.page, [FunctionName: Int64]())
    for build in builds {
      func error(_ estimate: ProfileSummary.Estimate?) -> Int64 {
        let error = estimate?.error ?? 0
        return build.repetitions > 1 ? error : Int64(Self.singleFactor * Double(error))
      }
      largest = max(largest, error(build.parts[.live]))
      for function in build.functions {
        let estimate = evidence.estimate(function)
        let error = error(estimate)
        let unknown = build.repetitions > 1 ? 0 : estimate.median / Self.unknownPart
        own[function.name] = max(own[function.name] ?? 0, Self.noise(estimate.spread, error), unknown)
        largest = max(largest, estimate.spread)
        if Self.exceeds(estimate.spread, Self.sampledRange, error) { unexplained = max(unexplained, estimate.spread) }
      }
    }
    (self.largest, self.unexplained, self.own) = (largest, unexplained, own)
  }

  subscript(_ function: FunctionName) -> Int64 { max(own(of: function), unexplained) }

  func own(of function: FunctionName) -> Int64 { max(own[function] ?? 0, Self.page) }

  private static func noise(_ spread: Int64, _ error: Int64) -> Int64 {
    exceeds(spread, ownSampledRange, error) ? spread : max(spread / 2, Int64(sampledFactor * Double(error)))
  }

  private static func exceeds(_ spread: Int64, _ factor: Double, _ error: Int64) -> Bool {
    Double(spread) > factor * Double(error)
  }
}
