/// Something that happened at an instant of a repetition.
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
  /// Resident memory of the main process just then, where it could be read.
  package var resident: Bytes?
  /// The main process's exact high-water mark since the mark before that has one, or since its exec.
  ///
  /// It is there where the tree stood still while the mark was read and set back to what was resident (`clear_refs`,
  /// proc_pid_clear_refs(5)), so that nothing fell between; samples after it show marks that count from here.
  package var peakBefore: Bytes?

  package init(time: Duration, event: Event, resident: Bytes? = nil, peakBefore: Bytes? = nil) {
    self.time = time
    self.event = event
    self.resident = resident
    self.peakBefore = peakBefore
  }
}
