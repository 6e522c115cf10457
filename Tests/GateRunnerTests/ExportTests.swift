import FoundationEssentials
import GateCore
import GateFiles
import Testing

@testable import GateRunner

@Suite("Exporting recordings")
struct ExportTests {
  private let folder = FileManager.default.temporaryDirectory.appending(component: "export-\(UUID().uuidString)").path

  private var invocation: Invocation {
    Invocation(workingDirectory: folder, variables: [:], console: Console(volume: .quiet, variables: [:]))
  }

  /// Lets the test have a folder with a recording of one sample, and removes it.
  private func inFolder(_ test: () throws -> Void) throws {
    let figures = MemoryReading(resident: Bytes(1), peak: Bytes(2), anonymous: Bytes(1), file: .zero, shared: .zero)
    let sample = Sample(time: .milliseconds(3), main: figures, tree: Bytes(4), processes: 1)
    let recording = Recording(samples: [sample], end: End(.exited, code: 0), duration: .milliseconds(5))
    try SafeFile.write(RecordingFile.encode(recording), to: "\(folder)/recordings/x/1.hwrec")
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try test()
  }

  private func text(of name: String) throws -> String {
    String(decoding: try SafeFile.read("\(folder)/\(name)", atMost: 1 << 20), as: UTF8.self)
  }

  @Test("Recordings go to one file, from paths of the working directory")
  func toFile() throws {
    try inFolder {
      var export = Export(recordings: ["recordings/x/1.hwrec", "\(folder)/recordings/x/1.hwrec"])
      (export.format, export.output) = (.csv, "out/samples.csv")
      #expect(try export.run(in: invocation) == .pass)
      let rows = try text(of: "out/samples.csv").split(separator: "\n").dropFirst()
      #expect(rows == ["0.003000000,1,2,1,0,0,4,1,,,,recordings/x/1.hwrec", rows.last ?? ""])
      #expect(rows.last?.hasSuffix(",\(folder)/recordings/x/1.hwrec") == true)
    }
  }

  @Test(
    "Where a recording cannot be read, its place and the remedy are told, and the old output stays",
    arguments: [
      ("none.hwrec", "no such file"), ("recordings/x", "is not a regular file"),
      ("broken.hwrec", "is not a recording"),
    ]
  )
  func unreadable(path: String, problem: String) throws {
    try inFolder {
      try SafeFile.write(Array("{}".utf8), to: "\(folder)/broken.hwrec")
      try SafeFile.write(Array("old".utf8), to: "\(folder)/out.json")
      var export = Export(recordings: ["recordings/x/1.hwrec", path])
      export.output = "out.json"
      let error = try #require(throws: FileError.self) { try export.run(in: invocation) }
      #expect(error.path.hasSuffix(path) && error.problem == problem)
      #expect(try text(of: "out.json") == "old")
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder).count == 3)
    }
  }

  @Test("An output that is one of the recordings is refused")
  func overItself() throws {
    try inFolder {
      var export = Export(recordings: ["recordings/x/1.hwrec"])
      export.output = "\(folder)/recordings/x/1.hwrec"
      let error = try #require(throws: RunnerError.self) { try export.run(in: invocation) }
      #expect(error.diagnostics.first?.problem == "the output would take the place of the recording")
      #expect(try text(of: "recordings/x/1.hwrec").hasPrefix("HWREC"))
    }
  }

  @Test("Of the middle repetition the composition at its peak goes into the measurements, too")
  func compositionAtPeak() throws {
    func composition(_ mebibytes: Int) -> Composition {
      Composition(anonymous: .mebibytes(Int64(mebibytes)), file: .zero, shared: .zero)
    }
    let fingerprint = Fingerprint(
      architecture: "x86_64", pageSize: 4096, cpus: 2, aslr: "off", thp: "madvise", measurement: "traced",
      kernel: "6.1", libc: "glibc 2.36"
    )
    var scenario = Scenario(name: ScenarioName("x"), target: Target(command: .shell("true"), workingDirectory: "/"))
    scenario.warmup = 0
    var run = ScenarioRun(
      scenario: scenario, environment: EnvironmentInfo(name: "here", fingerprint: fingerprint), show: { _ in }
    )
    let isDone = run.run(to: 3, of: 3) { _, number in
      let peak = [30, 10, 20][number - 1]
      let process = ProcessRecord(
        id: 1, parent: 0, command: "x", isMain: true, peak: .mebibytes(Int64(peak)), firstSeen: .zero, lastSeen: .zero,
        isExact: true
      )
      return Recording(
        method: .traced, processes: [process], composition: composition(1),
        compositions: [2, peak - 1].map { CompositionReading(time: .zero, composition: composition($0)) },
        end: End(.exited, code: 0)
      )
    }
    let measured = run.measurements
    #expect(isDone)
    #expect(measured.composition == composition(1))
    #expect(measured.compositionAtPeak == composition(19))
    #expect(measured.judged(against: .missing).compositionAtPeak == composition(19))
  }
}
