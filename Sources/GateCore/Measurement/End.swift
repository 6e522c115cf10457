/// How a repetition's target ended, and what shows it.
package struct End: Sendable, Hashable, Codable {
  package enum Kind: String, Sendable, CaseIterable, Codable {
    case exited, signaled, oom
    case allocationFailure = "allocation-failure"
    case trap, abort, crash, timeout, stopped
    case startFailed = "start-failed"
    case killed, unknown
  }

  package var kind: Kind
  package var code: Int?
  package var signal: Signal?
  /// The evidence for an end that a status alone does not show.
  package var proof: String?
  package var detail: String?
  /// How many processes of the tree the kernel killed for want of memory.
  package var oomKills: Int

  package init(
    _ kind: Kind,
    code: Int? = nil,
    signal: Signal? = nil,
    proof: String? = nil,
    detail: String? = nil,
    oomKills: Int = 0
  ) {
    self.kind = kind
    self.code = code
    self.signal = signal
    self.proof = proof
    self.detail = detail
    self.oomKills = oomKills
  }

  /// The end in a few words, as in `exited with code 3` or `crash (SIGSEGV)`.
  package var displayText: String {
    // A detail that begins with the kind tells all of it.
    if let detail, detail.hasPrefix("\(kind.rawValue) ") { return detail }
    let how =
      switch (code, signal) {
      case (let code?, _): kind == .exited ? "exited with code \(code)" : "\(kind.rawValue) (exit code \(code))"
      case (_, let signal?): "\(kind.rawValue) (SIG\(signal.name))"
      case (nil, nil): kind.rawValue
      }
    return detail.map { "\(how): \($0)" } ?? how
  }
}
