/// A type that says itself how `expectNoLeak` is to treat its values.
///
/// Every requirement has a default: that of a type that does not conform.
public protocol LeakTraversable {
  /// Whether this object may live on, such as a singleton; what hangs on it may not.
  var leakIgnoresSelf: Bool { get }

  /// Whether what this value holds is not looked at.
  var leakIgnoresChildren: Bool { get }

  /// What this value holds where no stored property shows it, each with a name for the path.
  var leakExtraChildren: [(String, Any)] { get }

  /// How long this object may live on after it was let go, such as one that finishes some work first.
  var leakGrace: Duration { get }
}

extension LeakTraversable {
  /// Not ignored.
  public var leakIgnoresSelf: Bool { false }

  /// Looked at.
  public var leakIgnoresChildren: Bool { false }

  /// Nothing beside the stored properties.
  public var leakExtraChildren: [(String, Any)] { [] }

  /// No longer than the test's own options say.
  public var leakGrace: Duration { .zero }
}
