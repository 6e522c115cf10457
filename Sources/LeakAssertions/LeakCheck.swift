/// One check: makes values, notes what they hold, lets go, and looks at what is left.
struct LeakCheck {
  typealias Roots = [(name: String, value: Any)]

  static let noObject = "nothing was inspected: the builder's result holds no object"
  static let nothingTracked = "nothing was inspected: no object was tracked"

  private let options: LeakOptions

  private let trust: RuntimeTrust

  /// What shared subtrees hold before the builder runs.
  private let shared: ObjectGraph

  init(_ options: LeakOptions) {
    self.options = options
    trust = options.trust ?? .tested
    let roots = options.ignoreSharedSubtrees.map { (name: "shared", value: $0) }
    shared = GraphWalker.graph(of: roots, options: options, trust: trust)
  }

  /// Walks over what is made and lets go of it.
  ///
  /// Never inlined, so that no temporary of the caller's frame holds what was made.
  @inline(never)
  func collect(_ build: () throws -> Roots) rethrows -> ObjectGraph {
    graph(of: try build())
  }

  private func graph(of roots: Roots) -> ObjectGraph {
    GraphWalker.graph(of: roots, options: options, ignoring: shared, trust: trust)
  }

  /// What became of an `async` builder.
  private enum Outcome<Failure: Error>: Sendable {
    case built(ObjectGraph)
    case failed(Failure)
    case outOfTime
  }

  /// Runs a builder within the time limit, then waits until all is gone or the grace is over.
  func run<Failure: Error>(
    vacuity: String,
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
          graph.note("the test was cancelled: not waited for what was to be let go")
          break
        }
      }
      return LeakResult(of: graph, vacuity: vacuity, list: options.list)
    }
  }

  /// Takes what comes first, the builder's end or that of its time.
  ///
  /// The builder has a task of its own, because a task group would wait for one that never ends.
  private func outcome<Failure: Error>(
    of build: nonisolated(nonsending) @escaping () async throws(Failure) -> Roots,
    isolation: isolated (any Actor)? = #isolation
  ) async -> Outcome<Failure> {
    // The caller waits while the builder runs, and both run on the same actor, if any. Only a builder that was given up
    // may still run beside its caller; the test has failed then.
    nonisolated(unsafe) let (build, check) = (build, self)
    let (outcomes, report) = AsyncStream<Outcome<Failure>>.makeStream()
    let building = Task {
      _ = isolation
      do throws(Failure) {
        report.yield(.built(check.graph(of: try await build())))
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
