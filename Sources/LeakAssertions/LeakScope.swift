/// Collects what `expectNoLeaks` expects to be gone at its end.
public final class LeakScope {
  private var tracked: [(name: String, value: Any)] = []

  init() {}

  /// Holds a value until the body ends, and expects it and all that it holds to be gone then.
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

  /// Gives away what was tracked, so that a scope that somebody keeps holds nothing.
  func end() -> [(name: String, value: Any)] {
    defer { tracked = [] }
    return tracked
  }
}
