/// One check: creates values, records their objects, releases the values, and finds the objects that are still alive.
struct LeakCheck {
  typealias Roots = [(name: String, value: Any)]

  #if os(Linux)
  static let isSupported = true
  #else
  /// The layouts of objects are known for Linux only: elsewhere nothing is inspected, which each result notes.
  static let isSupported = false
  #endif

  static let noObject = "nothing was checked: the builder's result contains no object"
  static let nothingTracked = "nothing was checked: no object was tracked"

  private let options: LeakOptions

  private let support: RuntimeSupport

  /// The objects of the shared subtrees before the builder runs.
  private let shared: ObjectGraph

  init(_ options: LeakOptions) {
    self.options = options
    support = options.support ?? .tested
    let roots = options.ignoreSharedSubtrees.map { (name: "shared", value: $0) }
    var walk = GraphWalker.walk(roots, options: options, support: support)
    shared = walk.release()
  }

  /// Walks over the values of a builder and releases them.
  ///
  /// Never inlined, so that no temporary in the caller's frame holds the values.
  @inline(never)
  func collect(_ build: () throws -> Roots) rethrows -> ObjectGraph {
    var walk = try walk(build)
    return walk.release()
  }

  /// The values themselves are released when it returns, before the objects of the walk.
  @inline(never)
  private func walk(_ build: () throws -> Roots) rethrows -> GraphWalk {
    GraphWalker.walk(try build(), options: options, ignoring: shared, support: support)
  }

  private nonisolated(nonsending) func collectAsync<Failure: Error>(
    _ build: nonisolated(nonsending) () async throws(Failure) -> Roots
  ) async throws(Failure) -> ObjectGraph {
    var walk = try await walkAsync(build)
    return walk.release()
  }

  private nonisolated(nonsending) func walkAsync<Failure: Error>(
    _ build: nonisolated(nonsending) () async throws(Failure) -> Roots
  ) async throws(Failure) -> GraphWalk {
    GraphWalker.walk(try await build(), options: options, ignoring: shared, support: support)
  }

  /// The outcome of an `async` builder.
  private enum Outcome<Failure: Error>: Sendable {
    case built(ObjectGraph)
    case failed(Failure)
    case outOfTime
  }

  /// Runs a builder within the time limit, then waits until all objects are deallocated or the grace period ends.
  func run<Failure: Error>(
    emptyMessage: String,
    isolation: isolated (any Actor)? = #isolation,
    _ build: nonisolated(nonsending) @escaping () async throws(Failure) -> Roots
  ) async throws(Failure) -> LeakResult {
    switch await outcome(of: build) {
    case .outOfTime: return LeakResult(outOfTime: options.timeLimit)
    case .failed(let error): throw error
    case .built(var graph):
      let start = ContinuousClock.now
      while graph.mustWait(after: start.duration(to: .now), grace: options.grace ?? .milliseconds(500)) {
        guard (try? await Task.sleep(for: .milliseconds(5))) != nil else {
          graph.note("the test was cancelled before the grace period ended")
          break
        }
      }
      return LeakResult(of: graph, emptyMessage: emptyMessage, options: options)
    }
  }

  /// Waits for the end of the builder or of the time limit.
  ///
  /// The builder has its own task, because a task group would wait for a task that never ends.
  private func outcome<Failure: Error>(
    of build: nonisolated(nonsending) @escaping () async throws(Failure) -> Roots,
    isolation: isolated (any Actor)? = #isolation
  ) async -> Outcome<Failure> {
    // The caller waits while the builder runs, and both run on the same actor, if any. Only after the time limit may the
    // builder run concurrently with its caller, and then the test has failed.
    nonisolated(unsafe) let (build, check) = (build, self)
    let (outcomes, report) = AsyncStream<Outcome<Failure>>.makeStream()
    let building = Task {
      _ = isolation
      do throws(Failure) {
        report.yield(.built(try await check.collectAsync(build)))
      } catch {
        report.yield(.failed(error))
      }
    }
    let limit = options.timeLimit
    let timer = Task {
      if (try? await Task.sleep(for: limit)) != nil {
        report.yield(.outOfTime)
        building.cancel()
      }
    }
    defer { timer.cancel() }
    let first = Task { await outcomes.first { _ in true } }
    return await withTaskCancellationHandler {
      await first.value ?? .outOfTime
    } onCancel: {
      building.cancel()
    }
  }
}
