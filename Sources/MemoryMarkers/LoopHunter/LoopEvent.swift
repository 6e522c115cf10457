#if LoopHunter

/// A loop that feeds itself, as ``LoopHunter`` found it.
public struct LoopEvent: Sendable {
  /// What a loop was known by.
  public enum Cause: Sendable {
    /// The object came by as often as the hunter's threshold.
    case calls
    /// Memory grew by as much as the hunter was told.
    case growth
  }

  /// What the loop was known by.
  public let cause: Cause
  /// The name of the place, as it was watched.
  public let name: String
  /// The class of the object, without its module.
  public let typeName: String
  /// How often the object came by in the turn: the hunter's threshold, unless memory grew too much before.
  public let count: Int
  /// The turn, as its source numbers it.
  public let turn: UInt64
  /// The process's resident memory at the object's first call in the turn, in bytes.
  public let rssAtTurnStart: UInt64
  /// The process's resident memory now, in bytes.
  public let rssNow: UInt64
}

#endif
