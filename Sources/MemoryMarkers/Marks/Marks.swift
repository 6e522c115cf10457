/// Tells Highwater what the program is doing, so that memory figures belong to phases and turns of its work.
///
/// Where the program runs outside the gate (the variable `HIGHWATER_MARKS` is not set, or names no FIFO), each call is
/// one relaxed load. Inside, each call is one `write` of one line, from any thread. It never waits, never fails, and
/// raises no signal: where the gate does not keep up, messages are dropped and counted.
///
/// Names are `[A-Za-z0-9][A-Za-z0-9._-]{0,99}`: another byte becomes `_`, a first one that is no letter or digit `x`,
/// and what is longer is cut. Not for signal handlers.
public enum Marks {
  /// Whether messages go to a gate.
  public static var isConnected: Bool { MarkRoom.isConnected }

  /// How many messages were dropped so far, since the gate did not keep up (a FIFO holds 64 KiB, pipe(7)).
  ///
  /// The gate is told the same by `value marks.dropped N messages` as soon as there is room again.
  public static var dropped: Int { MarkRoom.dropped }

  /// Starts a phase; the one before ends.
  public static func phase(_ name: String) {
    guard !MarkRoom.isOff else { return }
    MarkRoom.phase(name)
  }

  /// Names this instant.
  public static func mark(_ name: String) {
    guard !MarkRoom.isOff else { return }
    MarkRoom.mark(name)
  }

  /// Tells that a turn of the work that growth is counted by begins.
  public static func iteration() {
    guard !MarkRoom.isOff else { return }
    MarkRoom.iteration()
  }

  /// Sends a figure of the program's own, such as the entries of a cache.
  ///
  /// - Parameters:
  ///   - name: What it is; see ``Marks`` for names.
  ///   - number: A finite number; others are not sent.
  ///   - unit: 1 to 20 of `A-Z a-z 0-9 . _ - / %`; another byte becomes `_`.
  public static func value(_ name: String, _ number: Double, unit: String) {
    guard !MarkRoom.isOff else { return }
    MarkRoom.value(name, number, unit: unit)
  }
}
