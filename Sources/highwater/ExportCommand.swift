import ArgumentParser
import GateCore
import GateRunner

extension RecordingFormat: ExpressibleByArgument {}

struct ExportCommand: UseCaseCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Writes raw recordings as JSON or CSV.",
    discussion: """
      A check leaves the recording of each repetition in ARTIFACTS/recordings/SCENARIO/NUMBER.hwrec.

        highwater export .highwater/recordings/load/1.hwrec | jq '.recordings[].samples[].rss'
        highwater export --format csv --output load.csv .highwater/recordings/load/*.hwrec

      JSON (schema highwater.recording/1) has all of a recording: samples, marks, processes, compositions and its end. \
      CSV has one row a sample: \
      time_s,rss,peak,anon,file,shmem,tree,processes,minor_faults,cpu_s,phase,recording. \
      Amounts are bytes, times are seconds since the target's exec; rss to shmem, minor_faults and cpu_s are of the \
      main process, and empty (JSON: null) where it was not read.
      """
  )

  @Argument(
    help: ArgumentHelp("Recordings to write.", valueName: "recording"), completion: .file(extensions: ["hwrec"]))
  var recordings: [String]

  @Option(help: ArgumentHelp("What to write: json or csv.", valueName: "format"))
  var format = RecordingFormat.json

  @Option(help: ArgumentHelp("Where to write it; - is standard output.", valueName: "file"), completion: .file())
  var output = "-"

  @OptionGroup var console: ConsoleOptions

  func execute(in invocation: Invocation) throws -> GateCore.ExitCode {
    var export = Export(recordings: recordings)
    export.format = format
    export.output = output
    return try export.run(in: invocation)
  }
}
