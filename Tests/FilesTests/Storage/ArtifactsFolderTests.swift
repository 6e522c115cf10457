import FoundationEssentials
import GateCore
import Glibc
import Testing

@testable import GateApplication

@Suite("The artifacts folder")
struct ArtifactsFolderTests {
  private let scratch: ScratchFolder
  private let folder: ArtifactsFolder
  private let scenario = ScenarioName("load[file=a/b]")

  init() throws {
    scratch = try ScratchFolder()
    folder = ArtifactsFolder(path: "\(scratch.path)/deep/.highwater")
  }

  @Test("Paths in the folder")
  func paths() {
    #expect(folder.result == "\(folder.path)/result.json" && folder.outbox == "\(folder.path)/outbox")
    #expect(
      folder.recording(of: scenario, repetition: 3) == "\(folder.path)/recordings/load[file=a%2Fb]/3.jsonl"
    )
    #expect(folder.output(of: scenario, repetition: 12) == "\(folder.path)/output/load[file=a%2Fb]/12.log")
  }

  @Test("A missing folder is created, and git ignores it; one that exists is left as it is")
  func prepare() throws {
    try folder.prepare(in: scratch.path)
    try folder.prepare(in: scratch.path)
    #expect(try scratch.names(in: "deep/.highwater") == [".gitignore"])
    try ArtifactsFolder(path: "\(scratch.path)/deep").prepare(in: scratch.path)
    #expect(try scratch.names(in: "deep") == [".highwater"])
  }

  @Test("A file at its path is an error that names it")
  func fileInTheWay() throws {
    let path = try scratch.put("", at: "deep/.highwater")
    let error = try #require(throws: FileError.self) { try folder.prepare(in: scratch.path) }
    #expect(error.code == .notWritable && error.path == path)
  }

  @Test("A folder that is not writable is an error that names it")
  func notWritable() throws {
    let error = try #require(throws: FileError.self) {
      try ArtifactsFolder(path: "/proc/self").prepare(in: scratch.path)
    }
    #expect(error.code == .notWritable && error.path == "/proc/self")
  }

  @Test("A full disk is an error before anything is measured", .mayMount)
  func fullDisk() throws {
    let disk = try SmallDisk(at: "\(scratch.path)/disk")
    try SafeFile.write([UInt8](repeating: 1, count: 65_536), to: "\(disk.path)/filler")
    let error = try #require(throws: FileError.self) { try ArtifactsFolder(path: disk.path).prepare(in: scratch.path) }
    #expect(error.code == .noSpace)
    #expect(try scratch.names(in: "disk") == ["filler"])
  }

  @Test("Only one run at a time can lock the folder, until its work ends or fails")
  func lock() throws {
    try folder.prepare(in: scratch.path)
    try folder.whileLocked {
      let error = try #require(throws: FileError.self) { try folder.whileLocked {} }
      #expect(error.code == .locked)
      #expect(
        error.diagnostics.map(\.description) == [
          """
          \(folder.path): error: another run is using this folder for its artifacts
            hint: wait for it to end, or use another folder with `--artifacts`
          """
        ]
      )
    }
    #expect(throws: CancellationError.self) { try folder.whileLocked { throw CancellationError() } }
    #expect(try folder.whileLocked { 7 } == 7)
  }

  @Test("A symbolic link at the path of the lock is not followed")
  func lockLink() throws {
    try folder.prepare(in: scratch.path)
    try #require(symlink("\(scratch.path)/outside", "\(folder.path)/lock") == 0)
    #expect(throws: FileError.self) { try folder.whileLocked {} }
    #expect(try scratch.names() == ["deep"])
  }

  @Test(
    "A symbolic link at any name of the folder is refused, and nothing that it leads to is changed",
    arguments: [
      "pending-runs", "explain", "history.sqlite", "outbox", "profiles", "build.log", "result.json", "noise/1",
      "bisect",
      "explain/recordings", "limit/output",
    ])
  func link(name: String) throws {
    try folder.prepare(in: scratch.path)
    _ = try scratch.put("precious", at: "outside/1.jsonl")
    try SafeFile.makeFolder(SafeFile.folder(of: "\(folder.path)/\(name)"))
    try #require(symlink("\(scratch.path)/outside", "\(folder.path)/\(name)") == 0)
    let error = try #require(throws: FileError.self) { try folder.prepare(in: scratch.path) }
    #expect(error.code == .notAFile && error.path == "\(folder.path)/\(name)")
    #expect(try scratch.names(in: "outside") == ["1.jsonl"])
  }

  @Test("A folder in the repository must not lead out of it; elsewhere it may be a symbolic link")
  func folderLink() throws {
    _ = try scratch.put("x", at: "outside/x")
    _ = try scratch.put("x", at: "repository/x")
    try #require(symlink("\(scratch.path)/outside", "\(scratch.path)/repository/out") == 0)
    for path in ["out", "out/deep/er"] {
      let linked = ArtifactsFolder(path: "\(scratch.path)/repository/\(path)")
      let error = try #require(throws: FileError.self) { try linked.prepare(in: "\(scratch.path)/repository") }
      #expect(error.code == .notAFile)
    }
    #expect(try scratch.names(in: "outside") == ["x"])
    try ArtifactsFolder(path: "\(scratch.path)/repository/out").prepare(in: "\(scratch.path)/elsewhere")
    try #require(symlink("\(scratch.path)/repository", "\(scratch.path)/link") == 0)
    try ArtifactsFolder(path: "\(scratch.path)/link/in").prepare(in: "\(scratch.path)/link")
  }

  @Test("Clearing removes the recordings and outputs of that scenario, and nothing else")
  func clear() throws {
    try folder.prepare(in: scratch.path)
    let base = "deep/.highwater"
    for name in ["1.jsonl", "20.jsonl", "notes.txt", "x.jsonl", "1.jsonl.bak", ".jsonl", "1.log"] {
      _ = try scratch.put("x", at: "\(base)/recordings/load[file=a%2Fb]/\(name)")
    }
    for path in ["output/load[file=a%2Fb]/1.log", "recordings/other/1.jsonl", "result.json"] {
      _ = try scratch.put("x", at: "\(base)/\(path)")
    }
    try folder.clear(scenario)
    #expect(
      try scratch.names(in: "\(base)/recordings/load[file=a%2Fb]")
        == [".jsonl", "1.jsonl.bak", "1.log", "notes.txt", "x.jsonl"]
    )
    #expect(try scratch.names(in: "\(base)/output/load[file=a%2Fb]") == [])
    #expect(try scratch.names(in: "\(base)/recordings/other") == ["1.jsonl"])
    #expect(try scratch.names(in: base) == [".gitignore", "output", "recordings", "result.json"])
  }

  @Test("Clearing missing files is not an error")
  func clearNothing() throws {
    try folder.clear(scenario)
    try folder.prepare(in: scratch.path)
    try folder.clear(scenario)
  }

  @Test(
    "Clearing follows no symbolic link out of the folder",
    arguments: ["recordings", "recordings/load[file=a%2Fb]"]
  )
  func clearLink(place: String) throws {
    _ = try scratch.put("precious", at: "outside/1.jsonl")
    _ = try scratch.put("precious", at: "outside/load[file=a%2Fb]/1.jsonl")
    try SafeFile.makeFolder(SafeFile.folder(of: "\(folder.path)/\(place)"))
    try #require(symlink("\(scratch.path)/outside", "\(folder.path)/\(place)") == 0)
    let error = try #require(throws: FileError.self) { try folder.clear(scenario) }
    #expect(error.code == .notAFile)
    #expect(try scratch.text(of: "outside/1.jsonl") == "precious")
    #expect(try scratch.text(of: "outside/load[file=a%2Fb]/1.jsonl") == "precious")
  }

  @Test("Clearing removes a symbolic link, not its target")
  func clearFileLink() throws {
    let precious = try scratch.put("precious", at: "outside")
    try SafeFile.makeFolder("\(folder.path)/recordings/load[file=a%2Fb]")
    try #require(symlink(precious, folder.recording(of: scenario, repetition: 1)) == 0)
    try folder.clear(scenario)
    #expect(try scratch.text(of: "outside") == "precious")
    #expect(try scratch.names(in: "deep/.highwater/recordings/load[file=a%2Fb]") == [])
  }
}
