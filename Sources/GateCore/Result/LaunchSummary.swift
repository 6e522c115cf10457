package import FoundationEssentials

/// What a program that keeps a launch record has left of its latest run.
package struct LaunchSummary: Sendable, Equatable {
  /// How the run ended, as far as it could write that down itself.
  package enum Ending: Sendable, Equatable {
    case crashed(Signal)
    /// A signal asked it to end; `sender` is the process that sent it, where that is known.
    case requested(Signal, sender: Int32?)
    /// nil: the code is not known.
    case exited(code: Int32?)
    /// Nothing is written: it still runs, or something killed it at once.
    case unmarked
  }

  package var ending: Ending
  /// What the program said it was doing: `starting`, `active`, `idle` or `stopping`.
  package var activity: String
  package var appVersion: String
  package var process: Int32
  /// Since when it has hung, told in time before the last sign of life; nil where it had not.
  package var hungFor: Duration?
  /// Whether the program had told the library to stop.
  package var isStopped: Bool
  /// The last sign of life.
  package var lastSeen: Date
  package var resident: Bytes
  package var peak: Bytes
  /// The lowest limit of its memory cgroup and those above; nil where there is none.
  package var limit: Bytes?
  /// How many processes of its cgroup were killed for want of memory while it ran; nil where nothing counts them.
  package var oomKills: Int64?
  /// Runs before it that ended badly while they started, without a good one in between.
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
