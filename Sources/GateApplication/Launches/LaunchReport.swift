import FoundationEssentials
package import GateCore

/// The report of `launches` on the latest runs of programs.
package enum LaunchReport {
  /// The report on one program's record.
  ///
  /// - Parameters:
  ///   - summary: nil if there is no record.
  ///   - file: The path of the record.
  ///   - style: The capabilities of the terminal.
  /// - Returns: the lines.
  package static func text(_ summary: LaunchSummary?, of file: String, style: TerminalStyle) -> String {
    var page = TerminalPage(style)
    page.line(page.style.painted(TerminalText.safe(file), .strong))
    guard let summary else {
      page.paragraph("no record: none was stored, or a later start has reported the end", indent: 2)
      return page.text
    }
    for (label, text) in summary.lines {
      page.paragraph(TerminalText.safe(text), indent: 2, label: TerminalText.padded(label, to: 12))
    }
    return page.text
  }
}

extension LaunchSummary {
  fileprivate var lines: [(label: String, text: String)] {
    let lines: [(String, String?)] = [
      ("latest run", ending.displayText),
      ("was", isStopped ? "\(activity); launch recording was stopped" : activity),
      ("hung for", hungFor.map { Format.time($0) }),
      ("version", appVersion.isEmpty ? nil : appVersion),
      ("process", "\(process)" + (kernel.isEmpty ? "" : ", Linux \(kernel)")),
      ("last seen", "\(lastSeen.formatted(.iso8601))"),
      ("memory", memory),
      ("killed", oomKills.flatMap { $0 == 0 ? nil : "\(Self.processes($0)) of its cgroup, by the OOM killer" }),
      ("cgroup", cgroup.isEmpty ? nil : cgroup),
      ("failures", launchFailures == 0 ? nil : "\(Self.launches(launchFailures)) before it failed during startup"),
    ]
    return lines.compactMap { label, text in text.map { (label, $0) } }
  }

  private static func processes(_ count: Int64) -> String {
    Format.count(Int(count), "process", plural: "processes")
  }

  private static func launches(_ count: Int) -> String {
    Format.count(count, "launch", plural: "launches")
  }

  private var memory: String {
    let limit = limit.map { ", limit \(Format.amount($0))" } ?? ""
    return "\(Format.amount(resident)) resident, peak \(Format.amount(peak))\(limit)"
  }
}

extension LaunchSummary.Ending {
  fileprivate var displayText: String {
    switch self {
    case .crashed(let signal): "crashed by SIG\(signal.name)"
    case .requested(let signal, let sender?): "stopped by SIG\(signal.name) from process \(sender)"
    case .requested(let signal, nil): "stopped by SIG\(signal.name)"
    case .exited(let code?): "exited with code \(code)"
    case .exited(nil): "exited"
    case .unmarked: "unknown: still running or killed; the next launch will tell"
    }
  }
}
