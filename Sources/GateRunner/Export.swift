package import GateCore
import GateFiles

/// Gives recordings to other programs.
package struct Export {
  /// Paths of `.hwrec` files; not empty.
  package var recordings: [String]
  package var format = RecordingFormat.json
  /// `-` is standard output.
  package var output = "-"

  package init(recordings: [String]) {
    self.recordings = recordings
  }

  /// Writes all recordings as one text; nothing is written where one of them cannot be read.
  package func run(in invocation: Invocation) throws -> ExitCode {
    func read(_ path: String) throws(FileError) -> Recording {
      let bytes = try SafeFile.read(invocation.absolute(path), atMost: RecordingFile.largest)
      return try RecordingFile.decode(bytes, path: path)
    }
    if let overwritten = recordings.first(where: { invocation.absolute($0) == invocation.absolute(output) }) {
      throw RunnerError(
        problem: "the output would take the place of the recording", place: overwritten,
        hint: "name another file with `--output`"
      )
    }
    // An error in the middle of standard output would leave half a text there.
    if output == "-", recordings.count > 1 {
      for path in recordings { _ = try read(path) }
    }
    let export = RecordingExport(format)
    if output == "-" {
      try export.write(recordings, reading: read) { piece throws(FileError) in
        invocation.console.print(String(decoding: piece, as: UTF8.self))
      }
    } else {
      try SafeFile.write(to: invocation.absolute(output)) { sink throws(FileError) in
        try export.write(recordings, reading: read, to: sink)
      }
    }
    return .pass
  }
}
