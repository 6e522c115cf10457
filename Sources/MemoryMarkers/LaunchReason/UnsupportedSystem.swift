#if LaunchReason && !os(Linux)

/// Why a program was started, which the library knows on Linux only: elsewhere nothing is evaluated or recorded.
public final class LaunchReason: Sendable {
  /// Always ``StartupReason/notEvaluated``.
  public let startup = StartupReason.notEvaluated
  /// Always nil.
  public let previous: RunEnd? = nil
  /// Always nil.
  public let priorRun: PriorRun? = nil
  /// Always empty.
  public let endedInstances: [(run: PriorRun, end: RunEnd)] = []
  /// Always 0.
  public let consecutiveLaunchFailures = 0
  /// Always false.
  public let isRecording = false
  /// Always ``NotRecording/unsupported``.
  public let notRecording: NotRecording? = .unsupported

  /// Does nothing but call `onLaunch`.
  public init(
    store: any PriorRunStore = FileRunStore.default,
    appVersion: String,
    crashDetector: (() -> Bool)? = nil,
    policy: Policy = .evidence,
    heartbeat: Heartbeat = .thread,
    onLaunch: ((StartupReason, RunEnd?) -> Void)? = nil
  ) {
    onLaunch?(startup, previous)
  }

  /// Does nothing.
  public func set(_ activity: Activity) {}

  /// Does nothing.
  public func tick() {}

  /// Does nothing.
  public func noteExit() {}

  /// Does nothing.
  public func stop() {}

  /// Does nothing.
  public func hangBegan() {}

  /// Does nothing.
  public func hangEnded() {}

  /// Does nothing.
  public func installSignalHandlers() {}

  /// Does nothing.
  public static func prepareThread() {}
}

/// The record of a run, which is kept on Linux only.
public final class FileRunStore: PriorRunStore {
  /// The store for the program's name.
  public static let `default` = FileRunStore()

  /// Always nil.
  public let path: String? = nil

  /// Selects nothing.
  public init(folder: String? = nil, instance: String? = nil) {}

  /// Always nil.
  public func load() throws -> PriorRun? { nil }

  /// Does nothing.
  public func save(_ run: PriorRun, durability: LaunchReason.Durability) throws {}
}

#endif
