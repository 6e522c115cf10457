import GateCore

/// Who approved a baseline, when and why.
struct ApprovalDocument: Codable {
  let approval: Baseline.Approval

  init(_ approval: Baseline.Approval) {
    self.approval = approval
  }

  init(from decoder: any Decoder) throws {
    let fields = try JSONFields(decoder)
    guard let instant = try fields.instantIfAny("at") else { throw fields.fault("at", "is missing") }
    approval = Baseline.Approval(
      at: instant,
      by: try fields.text("by"),
      commit: try fields.textIfAny("commit"),
      reason: try fields.textIfAny("reason"),
      run: try fields.text("run")
    )
  }

  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: JSONName.self)
    try fields.encode(Timestamp.text(of: approval.at), forKey: "at")
    try fields.encode(approval.by.boundedStart, forKey: "by")
    try fields.encodeOrNull(approval.commit?.boundedStart, forKey: "commit")
    try fields.encodeOrNull(approval.reason?.boundedStart, forKey: "reason")
    try fields.encode(approval.run.boundedStart, forKey: "run")
  }
}
