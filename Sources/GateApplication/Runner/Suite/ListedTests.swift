import GateCore

/// A framework whose programs list their tests and run a chosen one, so that each test has a process of its own.
struct ListedTests: Sendable {
  /// What runs the programs of the command without running tests, and writes them to a log (``TestPrograms``); nil for a
  /// command that is the program.
  let discovery: (@Sendable (_ words: [String], _ wrapper: String) -> Discovery)?
  /// The arguments with which a program lists its tests, given the words of its start; of several, the first that names a
  /// test counts.
  let listings: @Sendable (_ words: [String]) -> [[String]]
  /// The tests in that list, and how a program runs only one of them.
  let tests: @Sendable (_ output: [UInt8], _ program: TestProgram) -> [ListedTest]
  /// The arguments that list the tests which only run on demand, and are in the other list as well; nil if none are.
  var omitted: [String]?
  /// The variables of each test, beside those that are set.
  var variables: @Sendable (_ set: [String: String]) -> [String: String] = { _ in [:] }
  /// The exit codes of a list.
  var listingExits = [0]

  /// A command that builds the programs of tests and starts them by a wrapper.
  struct Discovery {
    var words: [String]
    var variables: [String: String] = [:]
  }
}

/// A program with tests, and how the framework would start it.
struct TestProgram: Sendable, Equatable {
  /// The program and the arguments that belong to all its tests.
  var words: [String]
  var folder: String
  /// Names its tests apart from those of other programs; empty if there is only one.
  var label = ""
  var variables: [String: String] = [:]
}

/// One test of a program.
struct ListedTest: Sendable, Equatable {
  var name: String
  var program: TestProgram
  /// The arguments that choose it.
  var selection: [String] = []
  /// The exit codes of a test that passes; nil for 0.
  var exits: [Int]?
}

extension TestProgram {
  /// The tests of a list of names.
  func tests(_ names: some Sequence<String>, selection: (String) -> [String]) -> [ListedTest] {
    names.map { name in
      ListedTest(name: label.isEmpty ? name : "\(label)/\(name)", program: self, selection: selection(name))
    }
  }
}

/// The log of the wrapper that a build tool runs instead of the programs of tests: for each the folder and the words, each
/// ended by NUL, and an empty word at the end.
enum TestPrograms {
  /// The wrapper keeps a copy of each program: `go test` removes its own.
  static func wrapper(writingTo folder: String) -> String {
    """
    #!/bin/sh
    # Written by highwater: keeps a program of tests instead of running it.
    program=$(mktemp -d "\(folder)/XXXXXX")/$(basename "$1") && cp -- "$1" "$program" || exit 1
    shift
    printf '%s\\0' "$PWD" "$program" "$@" '' >>"\(folder)/programs"

    """
  }

  static func parse(_ log: [UInt8], below root: String) -> [TestProgram] {
    var programs: [TestProgram] = []
    var words: [String] = []
    for word in log.split(separator: 0, omittingEmptySubsequences: false).dropLast() {
      guard word.isEmpty else {
        words.append(String(decoding: word, as: UTF8.self))
        continue
      }
      if words.count >= 2 { programs.append(TestProgram(words: Array(words[1...]), folder: words[0])) }
      words = []
    }
    return labelled(programs, below: root)
  }

  /// By the folder below the root, or else below what all others have in common, and by the program if several of them
  /// start there.
  private static func labelled(_ programs: [TestProgram], below root: String) -> [TestProgram] {
    let base = commonFolder(above: programs.map(\.folder).filter { !PathText.isInside($0, folder: root) })
    return programs.map { program in
      var program = program
      let start = PathText.isInside(program.folder, folder: root) ? root : base
      let folder = program.folder == start ? "" : PathText.relative(program.folder, to: start)
      let others = Set(programs.filter { $0.folder == program.folder }.map { $0.words[0] })
      let name = PathText.name(of: program.words[0])
      program.label = [folder, others.count > 1 ? withoutHash(name) : ""].filter { !$0.isEmpty }.joined(separator: "/")
      return program
    }
  }

  private static func commonFolder(above folders: [String]) -> String {
    let parents = folders.map { $0.split(separator: "/").dropLast() }
    guard let first = parents.first else { return "/" }
    let common = parents.reduce(first) { shared, parts in
      shared.prefix(zip(shared, parts).prefix { $0 == $1 }.count)
    }
    return "/" + common.joined(separator: "/")
  }

  /// Cargo names a program `NAME-HASH`, with another hash for each version of the compiler.
  private static func withoutHash(_ name: String) -> String {
    guard let dash = name.lastIndex(of: "-"), name[dash...].count == 17,
      name[dash...].dropFirst().allSatisfy(\.isHexDigit)
    else { return name }
    return String(name[..<dash])
  }
}
