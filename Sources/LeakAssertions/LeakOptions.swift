/// What `expectNoLeak` looks at, what it lets live, and how long it waits.
public struct LeakOptions {
  /// Which objects may live on, whatever holds them.
  ///
  /// Only the object is ignored, not what hangs on it.
  public enum Filter {
    /// Instances of a class and of its subclasses.
    case type(AnyClass)

    /// Objects for which a function says so.
    case matching((AnyObject) -> Bool)
  }

  /// How much of what has leaked is listed.
  public enum List: Sendable {
    /// Only objects that no other leaked object holds; what hangs below them is a consequence.
    case topmost

    /// Every object that has leaked.
    case all
  }

  /// Objects that may live on.
  public var ignore: [Filter]

  /// Single objects that may live on, each with what hangs on it still being looked at.
  public var ignoreInstances: [AnyObject]

  /// Values that may live on with all that they hold before the builder runs, such as singletons.
  ///
  /// What is added to them by the builder is a leak.
  public var ignoreSharedSubtrees: [Any]

  /// Whether instances of classes of the toolchain's own libraries count: of Swift, Foundation and Dispatch.
  ///
  /// By default they do not, though what hangs on them does: many are shared, as `FileManager.default` and what
  /// `Locale` and `Calendar` keep within, and nobody could let go of them.
  public var reportsToolchainObjects: Bool

  /// How many objects deep the walk goes; and, within one object, how many values deep.
  public var maxDepth: Int

  /// How many objects the walk visits at most.
  public var maxObjects: Int

  /// Whether captures of closures are looked at.
  public var followClosures: Bool

  /// How long objects may live on after they were let go; by default not at all, and 500 ms after an `async` builder.
  public var grace: Duration?

  /// How long an `async` builder may take.
  public var timeLimit: Duration

  /// What is listed.
  public var list: List

  /// How far the runtime is trusted, where it is not to be found out; for tests of this library.
  package var trust: RuntimeTrust?

  /// Makes options; each has the default that suits most tests.
  public init(
    ignore: [Filter] = [],
    ignoreInstances: [AnyObject] = [],
    ignoreSharedSubtrees: [Any] = [],
    reportsToolchainObjects: Bool = false,
    maxDepth: Int = 200,
    maxObjects: Int = 100_000,
    followClosures: Bool = true,
    grace: Duration? = nil,
    timeLimit: Duration = .seconds(10),
    list: List = .topmost
  ) {
    self.ignore = ignore
    self.ignoreInstances = ignoreInstances
    self.ignoreSharedSubtrees = ignoreSharedSubtrees
    self.reportsToolchainObjects = reportsToolchainObjects
    self.maxDepth = maxDepth
    self.maxObjects = maxObjects
    self.followClosures = followClosures
    self.grace = grace
    self.timeLimit = timeLimit
    self.list = list
  }

  /// Whether an object may live on.
  func ignores(_ object: AnyObject) -> Bool {
    ignoreInstances.contains { $0 === object }
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
