/// A kind of input that others write, and what the program promises for every such input.
struct FuzzTarget: Sendable, CustomStringConvertible {
  let name: String
  /// Reads an input with the functions of the program.
  ///
  /// A trap, a hang or much memory is a fault as well.
  ///
  /// - Throws: ``BrokenPromise``.
  let read: @Sendable (_ input: [UInt8]) throws -> Void
  /// Golden files in `Tests` that are inputs, too, beside those in `inputs/NAME`.
  let examples: [String]

  init(
    _ name: String,
    alsoWith examples: [String] = [],
    _ read: @escaping @Sendable (_ input: [UInt8]) throws -> Void
  ) {
    (self.name, self.examples, self.read) = (name, examples, read)
  }

  var description: String { name }

  static let all: [FuzzTarget] = [
    .project, .baseline, .profile, .bisectState, .result, .comparison, .history, .runLine, .launchRecord, .marks,
    .marksInC, .recording, .procText, .kernelLog, .cgroups, .kernelFiles, .response, .address, .outbox, .variables,
    .checkout, .terminal, .regularExpression, .elf, .stackWords, .perfMap, .symbolNames, .profilerOutput,
  ]
}

/// A promise that does not hold for an input.
struct BrokenPromise: Error, CustomStringConvertible {
  let description: String
}

/// Checks a promise.
///
/// - Parameters:
///   - isKept: Whether it holds.
///   - text: What is wrong otherwise.
/// - Throws: ``BrokenPromise``.
func promise(_ isKept: Bool, _ text: @autoclosure () -> String) throws {
  if !isKept { throw BrokenPromise(description: text()) }
}

/// Checks that a file is written equally after it was read: what is read back is what was written.
///
/// - Parameters:
///   - value: The value to write.
///   - encode: Writes a value.
///   - decode: Reads what `encode` has written.
/// - Throws: ``BrokenPromise``.
func expectRoundTrip<Value>(
  _ value: Value,
  _ encode: (Value) -> [UInt8],
  _ decode: ([UInt8]) throws -> Value
) throws {
  func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
  let first = encode(value)
  let read: Value
  do {
    read = try decode(first)
  } catch {
    throw BrokenPromise(description: "what was written cannot be read: \(error)\n\(text(first))")
  }
  let second = encode(read)
  try promise(first == second, "written differently the second time:\n\(text(first))\n\(text(second))")
}
