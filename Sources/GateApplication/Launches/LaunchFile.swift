import FoundationEssentials
package import GateCore
import LaunchRecords

/// A launch record, as written by MemoryMarkers' `FileRunStore`.
package enum LaunchFile {
  /// Reads a record.
  ///
  /// - Parameter path: The file.
  /// - Returns: the record; nil if none was stored, or a later start has reported and cleared it.
  /// - Throws: if the file is missing or malformed.
  package static func read(_ path: String) throws(FileError) -> LaunchSummary? {
    let bytes = try SafeFile.read(path, atMost: LaunchPage.size)
    do throws(LaunchPageError) {
      return try LaunchPage.load(bytes).map { LaunchSummary($0.record) }
    } catch {
      switch error {
      case .corrupt:
        throw FileError(
          code: .malformed, path: path, problem: "is not a launch record, or is damaged",
          hint:
            "name a file of a program with MemoryMarkers, below `$STATE_DIRECTORY` or `~/.local/state/highwater`"
        )
      case .unknownVersion(let version):
        throw FileError(
          code: .wrongSchema, path: path,
          problem:
            "is a launch record of version \(version), this version of \(Tool.name) reads \(LaunchPage.version)",
          hint: "use the version of \(Tool.name) that the program was built with, or a newer one")
      }
    }
  }
}

extension LaunchSummary {
  init(_ record: LaunchRecord) {
    let (run, last) = (record.run, record.last)
    let hungFor = record.hangBegan.map { began in
      Duration.nanoseconds(Int64(clamping: last.bootTime > began ? last.bootTime - began : 0))
    }
    let kills = record.oomKillsAtStart.flatMap { start in last.oomKills.map { $0 > start ? $0 - start : 0 } }
    self.init(
      ending: Ending(record),
      activity: "\(record.activity)",
      appVersion: run.appVersion,
      process: run.pid,
      hungFor: hungFor,
      isStopped: record.isStopped,
      lastSeen: Date(timeIntervalSince1970: Double(last.wallTime) / 1e9),
      resident: Bytes(Int64(clamping: last.resident)),
      peak: Bytes(Int64(clamping: last.peakResident)),
      limit: last.limit.map { Bytes(Int64(clamping: $0)) },
      oomKills: kills.map { Int64(clamping: $0) },
      launchFailures: Int(record.launchFailures),
      kernel: run.kernelRelease,
      cgroup: run.cgroup
    )
  }
}

extension LaunchSummary.Ending {
  /// A crash takes precedence over a stop request, and a request over the exit code that follows it.
  fileprivate init(_ record: LaunchRecord) {
    if let crash = record.crash {
      self = .crashed(Signal(number: crash))
    } else if let request = record.request {
      var sender: Int32?
      if case .process(let pid) = request.sender { sender = pid }
      self = .requested(Signal(number: request.signal), sender: sender)
    } else if let exit = record.exit {
      self = .exited(code: exit.code)
    } else {
      self = .unmarked
    }
  }
}
