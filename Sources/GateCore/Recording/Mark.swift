/// An event at a point in time of a repetition.
package struct Mark: Sendable, Equatable {
  package enum Event: Sendable, Equatable {
    case phase(String)
    case mark(String)
    case iteration
    case value(name: String, number: Double, unit: String)
  }

  /// Time since the target's exec.
  package var time: Duration
  package var event: Event
  /// Whether the target reported it and ran on until it was read, which its time and memory are of.
  package var isLate: Bool
  /// The ID of the main process at this time; 0 if it is unknown.
  package var process: Int32
  /// Resident memory of the main process at the mark, if it could be read.
  package var resident: Bytes?
  /// Memory of the whole tree at an iteration's mark; nil if a rule names the main process.
  package var tree: Bytes?
  /// The main process's exact high-water mark since the previous mark with one, or since its exec.
  ///
  /// Set if the tree was stopped while the mark was read and reset to the resident size (`clear_refs`,
  /// proc_pid_clear_refs(5)), so that nothing was missed in between; high-water marks in later samples count from here.
  package var peakBefore: Bytes?

  package init(
    time: Duration,
    event: Event,
    isLate: Bool = false,
    process: Int32 = 0,
    resident: Bytes? = nil,
    tree: Bytes? = nil,
    peakBefore: Bytes? = nil
  ) {
    self.time = time
    self.event = event
    self.isLate = isLate
    self.process = process
    self.resident = resident
    self.tree = tree
    self.peakBefore = peakBefore
  }
}
