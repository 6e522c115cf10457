package import GateCore

/// The minimal fixed environment of targets and their helpers.
package struct TargetEnvironment: Sendable, Equatable {
  /// The search path if the runner itself has no `PATH`.
  static let standardPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

  /// The variables by name.
  package let variables: [String: String]

  /// Creates the environment of a target.
  ///
  /// Later entries win: `PATH`, `HOME` and `TMPDIR` of the runner or their defaults and `LANG=C.UTF-8`, then the
  /// variables that the target inherits, then those that its scenario sets.
  package init(for target: Target, runner: [String: String]) {
    var variables = [
      "PATH": runner["PATH"] ?? Self.standardPath,
      "HOME": runner["HOME"] ?? "/",
      "TMPDIR": runner["TMPDIR"] ?? "/tmp",
      "LANG": "C.UTF-8",
    ]
    for name in target.inheritedEnvironment {
      if let value = runner[name] { variables[name] = value }
    }
    self.variables = variables.merging(target.environment) { _, own in own }
  }
}
