import Glibc

/// A fault that is there for the demonstration, to be found by what this example is about.
///
/// A service of your own has no such file.
enum Fault: String {
  /// The page cache changes each document of whose change it is told.
  case loop
  /// Each session keeps itself alive.
  case leak

  /// What the variable `SERVICE_FAULT` named at the start; `nil` in a healthy service.
  static let seeded = getenv("SERVICE_FAULT").flatMap { Fault(rawValue: String(cString: $0)) }
}
