/// What `expectNoLeak` inspects, which objects it ignores, and how long it waits.
public struct LeakOptions {
  /// A rule for objects to ignore.
  ///
  /// Only the object is ignored, not the objects that it holds.
  public enum Filter {
    /// Instances of a class and of its subclasses.
    case type(AnyClass)

    /// Objects for which a function returns true.
    case matching((AnyObject) -> Bool)
  }

  /// Which leaked objects are listed.
  public enum List: Sendable {
    /// Only objects that no other leaked object holds; the others are consequences.
    case topmost

    /// All leaked objects.
    case all
  }

  /// Rules for objects to ignore.
  public var ignore: [Filter]

  /// Single objects to ignore; the objects that they hold are still checked.
  public var ignoreInstances: [AnyObject]

  /// Values to ignore with all objects that they hold before the builder runs, such as singletons.
  ///
  /// Objects that the builder adds to them are leaks.
  public var ignoreSharedSubtrees: [Any]

  /// Leaks that are known, each by its path or the name of its class: they do not fail the test.
  ///
  /// The test fails if one of them does not occur, so that the list stays true.
  public var expectedLeaks: [String]

  /// Whether instances of classes of the toolchain's libraries are reported, such as those of Foundation and Dispatch.
  ///
  /// By default they are not, but the objects that they hold are: many are shared, such as `FileManager.default`, a
  /// `Regex` and the caches in `Locale` and `Calendar`, and cannot be released.
  public var reportsToolchainObjects: Bool

  /// The maximum depth of the walk, in references between objects; the test fails if it is reached.
  public var maxDepth: Int

  /// The maximum number of objects that are visited.
  ///
  /// The test fails if it is reached. Each object takes about 300 bytes.
  public var maxObjects: Int

  /// Whether captures of closures are followed.
  public var followClosures: Bool

  /// How long objects may stay alive after their release; by default not at all, and 500 ms after an `async` builder.
  public var grace: Duration?

  /// The time limit of an `async` builder.
  public var timeLimit: Duration

  /// Which leaked objects are listed.
  public var list: List

  /// Overrides the test of the runtime; for tests of this library.
  package var support: RuntimeSupport?

  /// Creates options; the defaults suit most tests.
  public init(
    ignore: [Filter] = [],
    ignoreInstances: [AnyObject] = [],
    ignoreSharedSubtrees: [Any] = [],
    expectedLeaks: [String] = [],
    reportsToolchainObjects: Bool = false,
    maxDepth: Int = .max,
    maxObjects: Int = 5_000_000,
    followClosures: Bool = true,
    grace: Duration? = nil,
    timeLimit: Duration = .seconds(10),
    list: List = .topmost
  ) {
    self.ignore = ignore
    self.ignoreInstances = ignoreInstances
    self.ignoreSharedSubtrees = ignoreSharedSubtrees
    self.expectedLeaks = expectedLeaks
    self.reportsToolchainObjects = reportsToolchainObjects
    self.maxDepth = maxDepth
    self.maxObjects = maxObjects
    self.followClosures = followClosures
    self.grace = grace
    self.timeLimit = timeLimit
    self.list = list
  }

  /// Whether an object is to be ignored.
  func ignores(_ object: AnyObject) -> Bool {
    guard !ignore.isEmpty || !ignoreInstances.isEmpty else { return false }
    return ignoreInstances.contains { $0 === object }
      || ignore.contains { filter in
        switch filter {
        case .type(let type): isInstance(object, of: type)
        case .matching(let matches): matches(object)
        }
      }
  }

  private func isInstance(_ object: AnyObject, of type: AnyClass) -> Bool {
    func open<Class: AnyObject>(_: Class.Type) -> Bool {
      object is Class
    }
    return _openExistential(type, do: open)
  }
}
