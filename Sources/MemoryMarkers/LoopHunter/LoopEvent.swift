#if LoopHunter

/// A loop that ``LoopHunter`` has detected.
public struct LoopEvent: Sendable {
  /// How a loop was detected.
  public enum Cause: Sendable {
    /// The number of calls reached the threshold.
    case calls
    /// Resident memory grew by the limit.
    case growth
  }

  /// How the loop was detected.
  public let cause: Cause
  /// The name of the watched function.
  public let name: String
  /// The class of the object, without its module.
  public let typeName: String
  /// The calls in the turn: the threshold, unless memory grew to its limit before.
  public let count: Int
  /// The number of the turn.
  public let turn: UInt64
  /// The process's resident memory at the object's first call in the turn, in bytes.
  public let rssAtTurnStart: UInt64
  /// The process's resident memory now, in bytes.
  public let rssNow: UInt64
}

#endif
