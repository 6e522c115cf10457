import Glibc
// Exported, since the assertions' default arguments are a macro of it, which files with XCTest only would lack.
@_exported public import Testing

/// Expects that all that a builder makes is gone once nobody holds its result.
///
///     expectNoLeak { ProfileScreen(user: .example) }
///
/// Every object that the result holds is noted by a weak reference: by stored properties, those of superclasses
/// included, by collections of the standard library, enum payloads, existentials, tuples and captures of closures. Then
/// the result is let go, and what is still there fails the test at the caller's line, each object by its path and with
/// the circle of references that holds it. Objects behind `weak` and `unowned` references are not the result's own.
///
/// A result in which there is no object fails, too: nothing was tested.
///
/// Out of reach are statics and globals, captures of tasks and key paths, what lies behind pointers or in noncopyable
/// values such as a `Mutex` (a note says so), and collections outside of the standard library that keep their elements
/// in tail-allocated memory; `LeakTraversable` lets a type name what it holds. While the walk goes on, no other thread may change what is walked, as with any unsynchronised
/// reading.
///
/// - Parameters:
///   - options: What to ignore, and how far to look.
///   - file: The file that XCTest shows.
///   - line: The line that XCTest shows.
///   - sourceLocation: What Swift Testing shows.
///   - build: Makes the value; what else it makes and does not return is not looked at.
/// - Returns: What was found, for tests that look closer.
/// - Throws: What the builder throws.
@discardableResult
public func expectNoLeak<Value>(
  _ options: LeakOptions = LeakOptions(),
  file: StaticString = #filePath,
  line: UInt = #line,
  sourceLocation: SourceLocation = #_sourceLocation,
  _ build: () throws -> Value
) rethrows -> LeakResult {
  let graph = try LeakCheck(options).collect { [("self", try build())] }
  let start = ContinuousClock.now
  while graph.mustWait(after: start.duration(to: .now), grace: options.grace ?? .zero) {
    usleep(5000)
  }
  return CallSite(file: file, line: line, sourceLocation: sourceLocation)
    .report(LeakResult(of: graph, vacuity: LeakCheck.noObject, list: options.list))
}

/// Expects that all that an `async` builder makes is gone soon after nobody holds its result.
///
/// As `expectNoLeak` for others, but looks again every 5 ms for a grace time (500 ms, unless the options say otherwise),
/// since tasks and queues let go of what they hold when they get to it.
///
/// A builder that awaits nothing is taken for a synchronous one; `{ () async in … }` says that the grace is wanted.
///
/// A builder that takes longer than the time limit fails the test; it is cancelled and left to itself.
///
/// - Parameters:
///   - options: What to ignore, how far to look and how long to wait.
///   - isolation: The actor on which the builder runs; the caller's.
///   - file: The file that XCTest shows.
///   - line: The line that XCTest shows.
///   - sourceLocation: What Swift Testing shows.
///   - build: Makes the value. It escapes, since it is left to itself when it takes too long.
/// - Returns: What was found, for tests that look closer.
/// - Throws: What the builder throws.
@discardableResult
public func expectNoLeak<Value, Failure: Error>(
  _ options: LeakOptions = LeakOptions(),
  isolation: isolated (any Actor)? = #isolation,
  file: StaticString = #filePath,
  line: UInt = #line,
  sourceLocation: SourceLocation = #_sourceLocation,
  _ build: nonisolated(nonsending) @escaping () async throws(Failure) -> Value
) async throws(Failure) -> LeakResult {
  let result = try await LeakCheck(options).run(vacuity: LeakCheck.noObject) { () async throws(Failure) in
    [("self", try await build())]
  }
  return CallSite(file: file, line: line, sourceLocation: sourceLocation).report(result)
}

/// Expects that all that a test has tracked is gone soon after it let go of it.
///
///     await expectNoLeaks { scope in
///       let screen = scope.track(ProfileScreen())
///       await screen.load()
///     }
///
/// A body that tracks nothing fails.
///
/// - Parameters:
///   - options: What to ignore, how far to look and how long to wait.
///   - isolation: The actor on which the body runs; the caller's.
///   - file: The file that XCTest shows.
///   - line: The line that XCTest shows.
///   - sourceLocation: What Swift Testing shows.
///   - body: Makes values and tracks them; they are held until it ends, and walked then.
/// - Returns: What was found, for tests that look closer.
/// - Throws: What the body throws.
@discardableResult
public func expectNoLeaks<Failure: Error>(
  _ options: LeakOptions = LeakOptions(),
  isolation: isolated (any Actor)? = #isolation,
  file: StaticString = #filePath,
  line: UInt = #line,
  sourceLocation: SourceLocation = #_sourceLocation,
  _ body: nonisolated(nonsending) @escaping (LeakScope) async throws(Failure) -> Void
) async throws(Failure) -> LeakResult {
  let result = try await LeakCheck(options).run(vacuity: LeakCheck.nothingTracked) { () async throws(Failure) in
    let scope = LeakScope()
    try await body(scope)
    return scope.end()
  }
  return CallSite(file: file, line: line, sourceLocation: sourceLocation).report(result)
}
