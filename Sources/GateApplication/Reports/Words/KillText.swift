import GateCore

extension KillSender {
  /// As in "`timeout` (process 4711)" or "the kernel".
  var displayText: String {
    guard let process else { return "the kernel" }
    let name = command.map { "`\($0)` (process \(process))" } ?? "process \(process), which has ended"
    return isOfTarget ? "\(name), a process of the target" : name
  }
}

extension KilledProcess {
  /// What was killed by whom, and how much memory was in use.
  var displayText: String {
    let origin = sender.map { " from \($0.displayText)" } ?? "; sender unknown (not Highwater)"
    let killed = "`\(command)` was killed by SIGKILL\(origin)"
    return heaviest.isEmpty ? killed : "\(killed); \(memoryText)"
  }

  private var memoryText: String {
    let list = heaviest.map { "`\($0.command)` \(Format.amount($0.resident))" }.joined(separator: ", ")
    let whole = "the target held \(Format.amount(tree))"
    let bound =
      limit.map { " of the limit of \(Format.amount($0))" } ?? machine.map { " of the machine's \(Format.amount($0))" }
      ?? ""
    return "the heaviest processes then: \(list); \(whole)\(bound)"
  }
}
