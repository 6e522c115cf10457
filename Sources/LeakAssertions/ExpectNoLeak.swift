#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Expects that all objects of a builder's result are deallocated when the result is released.
///
///     expectNoLeak { ProfileScreen(user: .example) }
///
/// The assertion records a weak reference to every object that the result holds: in stored properties, also of
/// superclasses, collections of the standard library, enum payloads, existentials, tuples and captures of closures. Then
/// it releases the result. Objects that are still alive fail the test at the caller's line; each is reported with its
/// path and its reference cycle. Objects behind `weak` and `unowned` references are not followed.
///
/// A result without any object fails as well, because nothing was tested.
///
/// Not inspected are statics and globals, captures of tasks and key paths, pointees, noncopyable values such as a `Mutex`
/// (with a note), and tail-allocated elements of collections outside the standard library; with `LeakTraversable` a type
/// can list what it holds. During the walk no other thread may change the objects, as with any unsynchronized access.
///
/// - Parameters:
///   - options: What to ignore, and how deep to look.
///   - fileID: The file of the caller with its module.
///   - file: The path of the file.
///   - line: The line of the call.
///   - column: The column of the call.
///   - build: Returns the value; other objects that it creates are not inspected.
/// - Returns: The result, for further checks.
/// - Throws: The error of the builder.
@discardableResult
public func expectNoLeak<Value>(
  _ options: LeakOptions = LeakOptions(),
  fileID: String = #fileID,
  file: StaticString = #filePath,
  line: UInt = #line,
  column: Int = #column,
  _ build: () throws -> Value
) rethrows -> LeakResult {
  let graph = try LeakCheck(options).collect { [("self", try build())] }
  let start = ContinuousClock.now
  while graph.mustWait(after: start.duration(to: .now), grace: options.grace ?? .zero) {
    usleep(5000)
  }
  return CallSite(fileID: fileID, file: file, line: line, column: column)
    .report(LeakResult(of: graph, emptyMessage: LeakCheck.noObject, options: options))
}

/// Expects that all objects of an `async` builder's result are deallocated soon after the result is released.
///
/// Like `expectNoLeak` for synchronous builders, but checks again every 5 ms for a grace period (500 ms by default),
/// because tasks and queues release their captures later.
///
/// A closure without `await` is taken for a synchronous builder; `{ () async in … }` selects this function.
///
/// A builder that exceeds the time limit fails the test; it is cancelled and not awaited.
///
/// - Parameters:
///   - options: What to ignore, how deep to look and how long to wait.
///   - isolation: The actor on which the builder runs; the caller's.
///   - fileID: The file of the caller with its module.
///   - file: The path of the file.
///   - line: The line of the call.
///   - column: The column of the call.
///   - build: Returns the value. It is escaping because it is not awaited after the time limit.
/// - Returns: The result, for further checks.
/// - Throws: The error of the builder.
@discardableResult
public func expectNoLeak<Value, Failure: Error>(
  _ options: LeakOptions = LeakOptions(),
  isolation: isolated (any Actor)? = #isolation,
  fileID: String = #fileID,
  file: StaticString = #filePath,
  line: UInt = #line,
  column: Int = #column,
  _ build: nonisolated(nonsending) @escaping () async throws(Failure) -> Value
) async throws(Failure) -> LeakResult {
  let result = try await LeakCheck(options).run(emptyMessage: LeakCheck.noObject) { () async throws(Failure) in
    [("self", try await build())]
  }
  return CallSite(fileID: fileID, file: file, line: line, column: column).report(result)
}

/// Expects that all objects that a test has tracked are deallocated soon after the test has released them.
///
///     await expectNoLeaks { scope in
///       let screen = scope.track(ProfileScreen())
///       await screen.load()
///     }
///
/// A body that tracks nothing fails.
///
/// - Parameters:
///   - options: What to ignore, how deep to look and how long to wait.
///   - isolation: The actor on which the body runs; the caller's.
///   - fileID: The file of the caller with its module.
///   - file: The path of the file.
///   - line: The line of the call.
///   - column: The column of the call.
///   - body: Creates values and tracks them; they are held until it returns.
/// - Returns: The result, for further checks.
/// - Throws: The error of the body.
@discardableResult
public func expectNoLeaks<Failure: Error>(
  _ options: LeakOptions = LeakOptions(),
  isolation: isolated (any Actor)? = #isolation,
  fileID: String = #fileID,
  file: StaticString = #filePath,
  line: UInt = #line,
  column: Int = #column,
  _ body: nonisolated(nonsending) @escaping (LeakScope) async throws(Failure) -> Void
) async throws(Failure) -> LeakResult {
  let result = try await LeakCheck(options).run(emptyMessage: LeakCheck.nothingTracked) { () async throws(Failure) in
    let scope = LeakScope()
    try await body(scope)
    return scope.end()
  }
  return CallSite(fileID: fileID, file: file, line: line, column: column).report(result)
}
