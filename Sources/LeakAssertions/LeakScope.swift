/// Collects the values whose objects `expectNoLeaks` expects to be deallocated.
public final class LeakScope {
  private var tracked: [(name: String, value: Any)] = []

  init() {}

  /// Holds a value until the body returns, and expects all of its objects to be deallocated afterwards.
  ///
  /// - Parameters:
  ///   - value: The value, or an object.
  ///   - name: What paths start with.
  /// - Returns: The value.
  @discardableResult
  public func track<Value>(_ value: Value, as name: String = "self") -> Value {
    tracked.append((name, value))
    return value
  }

  /// Returns the tracked values and releases them, in case the scope itself is kept.
  func end() -> [(name: String, value: Any)] {
    defer { tracked = [] }
    return tracked
  }
}
