/// Reports to Highwater what the program is doing, so that memory can be measured per phase and per iteration.
///
/// Without Highwater (the variable `HIGHWATER_MARKS` is not set, or is not the path of a FIFO) each call is one relaxed
/// load. Under Highwater each call is one `write` of one line, from any thread. It never fails or raises a signal: messages
/// are dropped and counted if Highwater does not keep up. Only ``phase(_:)`` waits.
///
/// Names are `[A-Za-z0-9][A-Za-z0-9._-]{0,99}`: other bytes become `_`, a first byte that is not a letter or digit `x`,
/// and longer names are cut. Not safe in signal handlers.
public enum Marks {
  /// Whether messages are sent to Highwater.
  public static var isConnected: Bool { MarkChannel.isConnected }

  /// How many messages were dropped because the FIFO was full (its capacity is 64 KiB, pipe(7)).
  ///
  /// The count is also sent, as `value marks.dropped N messages`, as soon as the FIFO accepts messages again.
  public static var dropped: Int { MarkChannel.dropped }

  /// Starts a phase; the previous one ends.
  ///
  /// Waits until Highwater has read the memory of the previous one, so that what the program does next does not count for
  /// it: about a millisecond, and at most a second, after which no call waits any more.
  public static func phase(_ name: String) {
    guard !MarkChannel.isOff else { return }
    MarkChannel.phase(name)
  }

  /// Marks this instant with a name.
  public static func mark(_ name: String) {
    guard !MarkChannel.isOff else { return }
    MarkChannel.mark(name)
  }

  /// Starts an iteration, by which growth is counted.
  public static func iteration() {
    guard !MarkChannel.isOff else { return }
    MarkChannel.iteration()
  }

  /// Reports a value of the program's own, such as the entries of a cache.
  ///
  /// - Parameters:
  ///   - name: The name of the value; see ``Marks`` for its syntax.
  ///   - number: A finite number; others are not sent.
  ///   - unit: 1 to 20 of `A-Z a-z 0-9 . _ - / %`; other bytes become `_`.
  public static func value(_ name: String, _ number: Double, unit: String) {
    guard !MarkChannel.isOff else { return }
    MarkChannel.value(name, number, unit: unit)
  }
}
