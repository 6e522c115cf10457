/// How the code differs from that of the build that a rise is measured against.
package struct CodeChanges: Sendable, Hashable, Codable {
  /// Why the code is compared with a commit.
  package enum Origin: String, Sendable, CaseIterable, Codable {
    /// The baseline was approved there.
    case approved
    /// The change under test, such as a pull request, left its target there.
    case branch
    /// The check compared with a build of it.
    case reference
  }

  /// The commit that the code is compared with.
  package var base: String
  package var origin: Origin
  /// The functions whose lines changed, the one that most likely explains the rise first: those on the call stack, or else
  /// those that functions on it call, and the types and values that they use.
  package var functions: [ChangedFunction]
  /// What else changed, if no function on the call stack did: the files that most likely matter.
  package var elsewhere: [ChangedPlace]
  /// How many files changed that are not in ``elsewhere``.
  package var otherFiles: Int

  package init(
    base: String,
    origin: Origin,
    functions: [ChangedFunction] = [],
    elsewhere: [ChangedPlace] = [],
    otherFiles: Int = 0
  ) {
    (self.base, self.origin, self.functions) = (base, origin, functions)
    (self.elsewhere, self.otherFiles) = (elsewhere, otherFiles)
  }
}

/// A function whose lines changed, or what else has a name.
package struct ChangedFunction: Sendable, Hashable, Codable {
  package enum Kind: String, Sendable, CaseIterable, Codable {
    case function
    /// A type with fields.
    case type
    /// A constant or variable outside of functions and types.
    case value
  }

  package var function: FunctionName
  package var kind: Kind
  /// The function on the call stack that uses it; nil if it is on the call stack itself.
  package var caller: FunctionName?
  /// Relative to the top of the checkout.
  package var file: String
  /// Of this build; where lines were only removed, the one before them.
  package var line: Int
  /// The changed lines, without those that do not fit.
  package var removed: [String]
  package var added: [String]
  /// Those that changed the lines, the latest first; empty if they are unknown.
  package var commits: [CommitInfo]
  /// Whether the change, or a part of it, is not committed.
  package var isUncommitted: Bool
  /// Whether the change adds the whole function.
  package var isNew: Bool

  package init(
    function: FunctionName,
    kind: Kind = .function,
    caller: FunctionName? = nil,
    file: String,
    line: Int,
    removed: [String] = [],
    added: [String] = [],
    commits: [CommitInfo] = [],
    isUncommitted: Bool = false,
    isNew: Bool = false
  ) {
    (self.function, self.kind, self.caller) = (function, kind, caller)
    (self.file, self.line) = (file, line)
    (self.removed, self.added) = (removed, added)
    (self.commits, self.isUncommitted, self.isNew) = (commits, isUncommitted, isNew)
  }
}

/// A file that changed, without a function on the call stack.
package struct ChangedPlace: Sendable, Hashable, Codable {
  /// Relative to the top of the checkout.
  package var file: String
  /// The first changed line of a source file; nil for other files, and if the file was deleted.
  package var line: Int?
  /// The function that the line is in, without its types and modules; nil outside of functions.
  package var function: String?
  /// Those that changed this part of the file, the latest first.
  package var commits: [CommitInfo] = []
  /// The dependencies with other versions.
  package var dependencies: [DependencyChange]

  package init(file: String, line: Int? = nil, function: String? = nil, dependencies: [DependencyChange] = []) {
    (self.file, self.line, self.function, self.dependencies) = (file, line, function, dependencies)
  }
}

/// A dependency that a file names with another version than before.
package struct DependencyChange: Sendable, Hashable, Codable {
  package var name: String
  /// nil for a new dependency.
  package var before: String?
  /// nil for a removed dependency.
  package var now: String?
  /// The innermost function of it on the call stack; nil if there is none.
  package var function: FunctionName?

  package init(name: String, before: String?, now: String?, function: FunctionName? = nil) {
    (self.name, self.before, self.now, self.function) = (name, before, now, function)
  }

  /// Whether it is neither new nor removed.
  var isOfVersion: Bool { before != nil && now != nil }
}
