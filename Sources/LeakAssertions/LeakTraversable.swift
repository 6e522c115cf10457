/// A type that customizes how `expectNoLeak` treats its values.
///
/// Every requirement has a default implementation, which behaves as if the type did not conform.
public protocol LeakTraversable {
  /// Whether this object is ignored, such as a singleton; the objects that it holds are checked.
  var leakIgnoresSelf: Bool { get }

  /// Whether the objects that this value holds are ignored.
  var leakIgnoresChildren: Bool { get }

  /// Objects that this value holds outside its stored properties, each with a name for the path.
  var leakExtraChildren: [(String, Any)] { get }

  /// How long this object may stay alive after its release, for example to finish some work.
  var leakGrace: Duration { get }
}

extension LeakTraversable {
  /// Not ignored.
  public var leakIgnoresSelf: Bool { false }

  /// Not ignored.
  public var leakIgnoresChildren: Bool { false }

  /// Nothing beside the stored properties.
  public var leakExtraChildren: [(String, Any)] { [] }

  /// No longer than the options of the test allow.
  public var leakGrace: Duration { .zero }
}
