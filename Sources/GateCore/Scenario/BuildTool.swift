/// A tool that builds programs and starts them, such as `make test`, so that it is not what a scenario is about.
///
/// The program is then the largest process that is neither the started one, nor a build tool or compiler by its name.
package struct BuildTool: Sendable, Equatable {
  package let name: String
  /// The names of processes (`comm`) that only this tool starts to build.
  private let helpers: Set<String>

  /// A row of the table of tools.
  private struct Row {
    let names: [String]
    /// The words after the name of which one must follow; empty for any.
    var subcommands: Set<String> = []
    var helpers: Set<String> = []
  }

  /// `go` names its compilers like programs that others may have.
  private static let table: [Row] = [
    Row(names: ["make", "gmake", "bmake"]), Row(names: ["ninja", "ninja-build", "samu"]),
    Row(names: ["cmake", "ctest", "meson", "just"]), Row(names: ["bazel", "bazelisk"]),
    Row(names: ["cargo"]),
    Row(
      names: ["go"], subcommands: ["test", "run", "build", "generate", "tool"],
      helpers: ["compile", "link", "asm", "cgo", "vet", "cover", "pack", "buildid", "preprofile"]),
    // Other words are the files of a script.
    Row(names: ["swift"], subcommands: ["build", "test", "run"]),
    Row(names: ["gradle", "gradlew", "mvn", "mvnw"]), Row(names: ["npm", "npx", "yarn", "pnpm"]),
    Row(names: ["tox", "nox"]),
  ]

  /// The kernel cuts names of processes to 15 bytes.
  private static let processNames: Set<String> = Set(table.flatMap(\.names).filter { $0 != "swift" }).union([
    "sccache", "ccache", "distcc", "gcc", "g++", "cc", "c++", "cpp", "cc1", "cc1plus", "cc1obj", "lto1", "lto-wrapper",
    "collect2", "as", "ar", "ranlib", "ld", "ld.bfd", "ld.gold", "gold", "ld.lld", "lld", "mold", "clang", "clang++",
    "rustc", "rustdoc", "build-script-bu", "javac", "kotlinc", "ghc", "tsc", "swiftc",
  ])
  private static let processPrefixes = ["npm ", "swift-", "clang-", "x86_64-linux-gn", "aarch64-linux-g"]

  /// Words before a command that start it.
  private static let starters: Set<String> = ["env", "exec", "time", "nice", "nohup", "command"]

  /// nil for a command that is not a build tool by its words; of a line for a shell, the last command counts.
  package init?(of command: Command) {
    let words: [String]
    switch command {
    case .arguments(let all): words = all
    case .shell(let line):
      let commands = line.split { "&;|".contains($0) }
      words = (commands.last ?? "").split(separator: " ").map(String.init)
    }
    let started = Array(words.drop { Self.starters.contains($0) || $0.contains("=") })
    guard let first = started.first?.split(separator: "/").last.map(String.init) else { return nil }
    let rest = started.dropFirst()
    // The controller of pytest-xdist starts the workers that run the tests.
    if started.contains(where: { $0.hasSuffix("pytest") }), rest.contains(where: { $0.hasPrefix("-n") }) {
      (name, helpers) = ("pytest-xdist", [])
      return
    }
    let row = Self.table.first { row in
      row.names.contains(first) && (row.subcommands.isEmpty || rest.first.map(row.subcommands.contains) == true)
    }
    guard let row else { return nil }
    (name, helpers) = (first, row.helpers)
  }

  /// Whether a process that the tool started belongs to it, by the name of the process.
  package func isOwn(_ command: String) -> Bool {
    Self.processNames.contains(command) || helpers.contains(command)
      || Self.processPrefixes.contains { command.hasPrefix($0) }
  }
}

extension Target {
  /// The tool that starts the program; nil if the command is the program, or if a rule names it.
  package var buildTool: BuildTool? { main == nil && running == nil ? BuildTool(of: command) : nil }
}
