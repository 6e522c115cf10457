import GateCore

@testable import GateApplication

extension FuzzTarget {
  /// A file for `history import`, whose runs are then exported and drawn.
  static let history = FuzzTarget("history", alsoWith: ["FilesTests/Golden/run.jsonl"]) { input in
    for suffix in ["", "-wal", "-shm"] { Scratch.remove("history.sqlite" + suffix) }
    var command = HistoryImport(files: [Scratch.write(input, to: "import.jsonl")])
    command.options.history = Scratch.path("history.sqlite")
    let console = ScratchConsole()
    _ = try command.run(in: console.invocation)
    try console.expectHarmless()
    let exported = try expectExport(command.options)
    var trend = TrendReport()
    trend.options = command.options
    trend.output = Scratch.path("trend.html")
    _ = try trend.run(in: ScratchConsole().invocation)
    try PageScripts.expectOwn(in: Scratch.bytes(of: "trend.html"))
    guard !exported.isEmpty else { return }
    try expectSecondImport(of: exported, command.options)
  }

  /// Exports all runs, and checks that each line can be read and is written equally again.
  private static func expectExport(_ options: SharedOptions) throws -> String {
    let console = ScratchConsole()
    _ = try HistoryUse(.export, options).run(in: console.invocation)
    let lines = console.outputText
    for line in lines.split(separator: "\n") {
      let run = try RunLine.decode(Array(line.utf8), path: "export", line: nil)
      try promise(RunLine.encode(run).dropLast() == Array(line.utf8)[...], "an exported run changes: \(line)")
    }
    return lines
  }

  /// Checks that another history with the exported runs exports the same ones.
  private static func expectSecondImport(of lines: String, _ options: SharedOptions) throws {
    for suffix in ["", "-wal", "-shm"] { Scratch.remove("history.sqlite" + suffix) }
    var command = HistoryImport(files: [Scratch.write(Array(lines.utf8), to: "import.jsonl")])
    command.options = options
    _ = try command.run(in: ScratchConsole().invocation)
    try promise(try expectExport(options) == lines, "the runs differ after an export and an import: \(lines)")
  }
}
