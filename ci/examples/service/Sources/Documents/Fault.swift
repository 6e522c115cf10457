import Glibc

/// A fault for the demonstration, which Highwater and the leak assertions find.
///
/// Your own service has no such file.
enum Fault: String {
  /// The page cache changes each document whose change it observes.
  case loop
  /// Each session keeps itself alive.
  case leak

  /// The value of the variable `SERVICE_FAULT` at the start; `nil` for no fault.
  static let seeded = getenv("SERVICE_FAULT").flatMap { Fault(rawValue: String(cString: $0)) }
}
