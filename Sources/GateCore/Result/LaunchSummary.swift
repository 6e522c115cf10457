package import FoundationEssentials

/// The latest run of a program that writes a launch record.
package struct LaunchSummary: Sendable, Equatable {
  /// How the run ended, as far as the program could record it.
  package enum Ending: Sendable, Equatable {
    case crashed(Signal)
    /// A signal requested the end; `sender` is the PID of its sender, if known.
    case requested(Signal, sender: Int32?)
    /// nil if the code is unknown.
    case exited(code: Int32?)
    /// No end is recorded: the program is still running, or it was killed.
    case unmarked
  }

  package var ending: Ending
  /// The last activity that the program reported: `starting`, `active`, `idle` or `stopping`.
  package var activity: String
  package var appVersion: String
  package var process: Int32
  /// The duration of the hang at the last sign of life; nil without a hang.
  package var hungFor: Duration?
  /// Whether the program stopped recording.
  package var isStopped: Bool
  /// The last sign of life.
  package var lastSeen: Date
  package var resident: Bytes
  package var peak: Bytes
  /// The lowest limit of its memory cgroup and its ancestors; nil if there is none.
  package var limit: Bytes?
  /// The number of OOM kills in its cgroup during the run; nil if they are not counted.
  package var oomKills: Int64?
  /// The number of consecutive previous runs that failed during startup.
  package var launchFailures: Int
  package var kernel: String
  package var cgroup: String

  package init(
    ending: Ending,
    activity: String,
    appVersion: String,
    process: Int32,
    hungFor: Duration? = nil,
    isStopped: Bool = false,
    lastSeen: Date,
    resident: Bytes,
    peak: Bytes,
    limit: Bytes? = nil,
    oomKills: Int64? = nil,
    launchFailures: Int = 0,
    kernel: String = "",
    cgroup: String = ""
  ) {
    self.ending = ending
    self.activity = activity
    self.appVersion = appVersion
    self.process = process
    self.hungFor = hungFor
    self.isStopped = isStopped
    self.lastSeen = lastSeen
    self.resident = resident
    self.peak = peak
    self.limit = limit
    self.oomKills = oomKills
    self.launchFailures = launchFailures
    self.kernel = kernel
    self.cgroup = cgroup
  }
}
