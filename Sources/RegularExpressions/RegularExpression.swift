private import PCRE2

/// A compiled Perl-compatible regular expression (pcre2pattern(3)), to be used by one thread at a time.
///
/// The only file that imports PCRE2. Classes such as `\d` and `\w` mean Unicode's, and `.` matches no line break of any
/// kind, so that the common syntax means what it does in Swift.
package final class RegularExpression {
  package enum Outcome: Sendable, Equatable {
    /// The first match ends at this offset in bytes.
    case match(end: Int)
    case noMatch
    /// The search was ended by the caller, or would have needed too much memory.
    case abandoned
  }

  private let code: OpaquePointer
  private let matchData: OpaquePointer
  private let settings: OpaquePointer

  package init(_ source: String) throws(RegularExpressionError) {
    let compiling = pcre2_compile_context_create_8(nil)
    defer { pcre2_compile_context_free_8(compiling) }
    pcre2_set_newline_8(compiling, UInt32(PCRE2_NEWLINE_ANY))
    let bytes = Array(Self.withHexadecimalEscapes(source).utf8)
    // Callouts before each item of the pattern are what makes a search cancellable.
    let options = PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C | PCRE2_AUTO_CALLOUT
    var (error, offset): (CInt, Int) = (0, 0)
    guard let code = pcre2_compile_8(bytes, bytes.count, options, &error, &offset, compiling) else {
      throw RegularExpressionError(description: Self.message(of: error))
    }
    guard let matchData = pcre2_match_data_create_8(1, nil), let settings = pcre2_match_context_create_8(nil) else {
      preconditionFailure("memory for a few hundred bytes is there")
    }
    (self.code, self.matchData, self.settings) = (code, matchData, settings)
    pcre2_set_heap_limit_8(settings, Self.mostMemory)
  }

  deinit {
    pcre2_match_context_free_8(settings)
    pcre2_match_data_free_8(matchData)
    pcre2_code_free_8(code)
  }

  /// For backtracking, in KiB; a line of 8 KiB rarely needs more than 1 MiB.
  private static let mostMemory: UInt32 = 65_536

  /// Searches UTF-8 text.
  ///
  /// A search may take exponential time: `isCancelled` is called at least once in a few milliseconds, and true ends it.
  package func firstMatch(in text: ArraySlice<UInt8>, isCancelled: () -> Bool) -> Outcome {
    withoutActuallyEscaping(isCancelled) { isCancelled in
      let progress = Progress(isCancelled)
      let found = withExtendedLifetime(progress) {
        pcre2_set_callout_8(settings, continues, Unmanaged.passUnretained(progress).toOpaque())
        return text.withUnsafeBufferPointer { pcre2_match_8(code, $0.baseAddress, $0.count, 0, 0, matchData, settings) }
      }
      if found >= 0 { return .match(end: pcre2_get_ovector_pointer_8(matchData)[1]) }
      return found == PCRE2_ERROR_NOMATCH ? .noMatch : .abandoned
    }
  }

  /// `\u{…}`, `\uXXXX` and `\UXXXXXXXX` as the `\x{…}` of PCRE2.
  private static func withHexadecimalEscapes(_ source: String) -> String {
    var (result, rest) = ("", Substring(source))
    while let character = rest.popFirst() {
      result.append(character)
      guard character == "\\", let escaped = rest.popFirst() else { continue }
      let digits = rest.prefix(escaped == "u" ? 4 : 8)
      if escaped == "u", rest.first == "{" {
        result.append("x")
      } else if "uU".contains(escaped), digits.count >= 4, digits.allSatisfy(\.isHexDigit) {
        result += "x{\(digits)}"
        rest = rest.dropFirst(digits.count)
      } else {
        result.append(escaped)
      }
    }
    return result
  }

  private static func message(of error: CInt) -> String {
    var text = [UInt8](repeating: 0, count: 256)
    pcre2_get_error_message_8(error, &text, text.count)
    return String(decoding: text.prefix { $0 != 0 }, as: UTF8.self)
  }
}

/// Why a text is not a regular expression, in the words of PCRE2.
package struct RegularExpressionError: Error, CustomStringConvertible {
  package let description: String
}

/// Asks the caller now and then whether a search should go on.
private final class Progress {
  /// Each step reads a line at most once, in a few microseconds.
  private static let stepsPerCheck = 256

  private let isCancelled: () -> Bool
  private var steps = 0

  init(_ isCancelled: @escaping () -> Bool) {
    self.isCancelled = isCancelled
  }

  var mayContinue: Bool {
    steps += 1
    return !steps.isMultiple(of: Self.stepsPerCheck) || !isCancelled()
  }
}

/// PCRE2 calls this before each item of a pattern.
private func continues(_: UnsafeMutablePointer<pcre2_callout_block_8>?, _ progress: UnsafeMutableRawPointer?) -> CInt {
  guard let progress else { return 0 }
  return Unmanaged<Progress>.fromOpaque(progress).takeUnretainedValue().mayContinue ? 0 : PCRE2_ERROR_CALLOUT
}
