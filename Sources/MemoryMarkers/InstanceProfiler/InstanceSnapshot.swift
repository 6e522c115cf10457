#if InstanceProfiler

/// The living instances of each class at one instant.
public struct InstanceSnapshot: Sendable, Hashable, Codable {
  /// How the program was built; the optimizer removes objects, so only equal builds can be compared.
  public enum Build: String, Sendable, Codable {
    /// Without optimization.
    case debug
    /// With optimization.
    case release

    static var current: Self {
      #if DEBUG
      .debug
      #else
      .release
      #endif
    }
  }

  /// How allocations were seen; counts of different hooks cannot be compared.
  public enum Hook: String, Sendable, Codable {
    /// At the entry of `swift_allocObject`.
    case entry
    /// In the tables of the modules that call it.
    case tables
  }

  /// What an object is.
  public enum Kind: String, Sendable, Codable {
    /// An instance of a class or an actor.
    case `class`
    /// The variables of a closure, or the value of an indirect case.
    case context
    /// An error in its box.
    case error
  }

  /// The counts of one class.
  public struct ClassCount: Sendable, Hashable, Codable {
    /// The full name, with the module and generic arguments.
    public let name: String
    /// What its instances are.
    public let kind: Kind
    /// The allocated minus the deallocated ones.
    public internal(set) var live: Int
    /// The instances that were allocated.
    public internal(set) var allocated: Int
    /// The instances that were deallocated.
    public internal(set) var deallocated: Int
    /// The sizes of all instances that were allocated.
    public internal(set) var bytesAllocated: Int
    /// The size of an instance in bytes, without the elements behind it; 0 if it is not known.
    public let instanceSize: Int

    /// Whether the count means something: not if more instances were deallocated than allocated, since then some
    /// allocations were not seen.
    public var isTracked: Bool { live >= 0 }
  }

  /// The name of the instant.
  public let label: String
  /// How the program was built.
  public let build: Build
  /// How allocations were seen.
  public let hook: Hook
  /// The allocations of classes for which there was no room (7168 classes are counted).
  public let uncounted: Int
  /// The classes with instances since the start, by name.
  public let classes: [ClassCount]

  /// The counts of a class by its full name; nil if it had no instances.
  public subscript(name: String) -> ClassCount? { classes.first { $0.name == name } }

  /// The classes of which more instances were deallocated than allocated.
  public var untracked: [ClassCount] { classes.filter { !$0.isTracked } }
}

#endif
