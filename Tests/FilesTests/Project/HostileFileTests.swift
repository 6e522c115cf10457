import FoundationEssentials
import GateCore
import Testing

@testable import GateApplication

@Suite("Malicious and unusual project files")
struct HostileFileTests {
  static let target = "    target: {shell: 'true'}\n"

  private func verdict(_ text: String) throws -> String {
    try ProjectFolder(files: ["highwater.yml": text]).verdict()
  }

  private func verdict(bytes: [UInt8]) throws -> String {
    let folder = try ProjectFolder()
    try folder.write("highwater.yml", bytes: bytes)
    return folder.verdict()
  }

  /// A YAML bomb: each line has nine aliases of the line before.
  private static func bomb(levels: Int) -> String {
    let names = (0..<levels).map { "n\($0)" }
    let first = "\(names[0]): &\(names[0]) [\(Array(repeating: "lol", count: 9).joined(separator: ","))]\n"
    return zip(names, names.dropFirst()).reduce(first) { text, pair in
      text + "\(pair.1): &\(pair.1) [\(Array(repeating: "*\(pair.0)", count: 9).joined(separator: ","))]\n"
    }
  }

  @Test("A YAML bomb gives one error", .timeLimit(.minutes(60)))
  func aliasBomb() throws {
    #expect(
      try verdict(Self.bomb(levels: 9)) == """
        highwater.yml:6:1: error: the file has more than 200000 values after its aliases are expanded
          hint: split it, or use fewer aliases
        """
    )
  }

  @Test(
    "A YAML bomb as a key is not hashed",
    .timeLimit(.minutes(60)),
    arguments: ["*n21 : 1\n", "? *n21\n: 1\n", "? [*n21]\n: 1\n", "{*n21 : 1, b: 2}: 1\n", "x: [{*n21 : 1}]\n"]
  )
  func aliasBombAsKey(line: String) throws {
    let verdict = try verdict(Self.bomb(levels: 22) + line)
    #expect(verdict.contains("error: a key must be a plain string, not a list, a mapping or an alias"))
    #expect(verdict.hasPrefix("highwater.yml:23:"))
  }

  @Test(
    "Unusual line breaks do not hide a YAML bomb in a key",
    .timeLimit(.minutes(60)),
    arguments: ["\r\n", "\r", "\u{85}", "\u{2028}", "\u{2029}"]
  )
  func hiddenAliasBomb(lineBreak: String) throws {
    let verdict = try verdict((Self.bomb(levels: 22) + "*n21 : 1\n").replacing("\n", with: lineBreak))
    #expect(verdict.contains("error: a key must be a plain string, not a list, a mapping or an alias"))
  }

  @Test("An alias is replaced by the value of its anchor; shell globs are not aliases")
  func aliases() throws {
    let folder = try ProjectFolder(
      files: [
        "highwater.yml": """
        version: 1
        scenarios:
          - name: one
            target: &target {shell: "ls *.yml & wait"}
          - {name: two, target: *target}
        """
      ]
    )
    let scenarios = try folder.load().scenarios
    #expect(scenarios.map(\.target.command) == [.shell("ls *.yml & wait"), .shell("ls *.yml & wait")])
  }

  @Test("Deep nesting is an error at any depth", .timeLimit(.minutes(60)), arguments: [65, 900, 1_200, 500_000])
  func deepNesting(levels: Int) throws {
    for (open, close) in [("[", "]"), ("{a: ", "}"), ("[*x, ", "]")] where levels * open.utf8.count < 4_000_000 {
      let anchor = open.contains("*") ? "x: &x 1\n" : ""
      let verdict = try verdict(
        anchor + "a: " + String(repeating: open, count: levels) + "1" + String(repeating: close, count: levels)
      )
      #expect(verdict.hasSuffix(": error: values are nested deeper than 64 levels"), "\(open)")
    }
  }

  @Test("A file of more than 4 MiB is not read")
  func largeFile() throws {
    #expect(
      try verdict(bytes: Array(repeating: UInt8(ascii: "#"), count: 10_000_000)) == """
        highwater.yml: error: is larger than 4 MiB, the limit for this file
          hint: split its scenarios over several files, and `include` those
        """
    )
  }

  @Test("A single string is limited as well")
  func longText() throws {
    #expect(
      try verdict("version: 1\nbaselines: \(String(repeating: "x", count: 300_000))\n") == """
        highwater.yml:2:12: error: this string is longer than 256 KiB
          hint: put it into its own file; the target's input can be `stdin: {file: path}`
        """
    )
  }

  @Test(
    "Each part of a text is searched once for placeholders", .timeLimit(.minutes(60)), arguments: ["{", "{{x ", "{{x}"])
  func placeholders(part: String) throws {
    let text = String(repeating: part, count: 40_000)
    let scenario = "{name: s, target: {command: [x]}, matrix: {x: [1]}, description: '\(text)}}'}"
    #expect(try verdict("version: 1\nscenarios: [\(scenario)]\n") == "loads")
  }

  @Test("A matrix has at most 100 axes, whose values are part of the scenario's name")
  func axes() throws {
    let axes = (0..<101).map { "a\($0): [1]" }.joined(separator: ", ")
    let text = "version: 1\nscenarios: [{name: s, target: {command: [x]}, matrix: {\(axes)}}]\n"
    #expect(try verdict(text).hasSuffix("error: the matrix has more than 100 axes"))
  }

  @Test("The first thousand errors are listed, then a note that there are more")
  func manyErrors() throws {
    let keys = (0..<3000).map { "k\($0): 1\n" }.joined()
    let folder = try ProjectFolder(files: ["highwater.yml": keys])
    let error = #expect(throws: ProjectError.self) { try folder.load() }
    #expect(error?.diagnostics.count == 1001)
    #expect(error?.diagnostics.last?.problem == "there are more than 1000 errors, the others are not listed")
  }

  @Test(
    "Invalid UTF-8 is reported with its location",
    arguments: [
      ([0x61, 0x3a, 0x20, 0x31, 0x0a, 0x62, 0xff], "highwater.yml:2:2: error: invalid UTF-8 from here on"),
      ([0xff, 0xfe, 0x61, 0x00], "highwater.yml:1:1: error: invalid UTF-8 from here on"),
      ([0x61, 0xc3], "highwater.yml:1:2: error: invalid UTF-8 from here on"),
    ] as [([UInt8], String)]
  )
  func notUTF8(bytes: [UInt8], expected: String) throws {
    #expect(try verdict(bytes: bytes) == "\(expected)\n  hint: save it as UTF-8")
  }

  @Test(
    "Control characters are not allowed",
    arguments: [("\u{1b}", "1B"), ("\u{0}", "0"), ("\u{7f}", "7F")]
  )
  func controlCharacter(character: String, code: String) throws {
    #expect(
      try verdict("version: 1\n# ä\(character)[31m\n") == """
        highwater.yml:2:4: error: the character U+\(code) is not allowed in a YAML file
          hint: write it in double quotes as an escape, such as `"\\x1b"`
        """
    )
  }

  @Test("CRLF line ends and a byte order mark do not shift locations")
  func lineEnds() throws {
    let text = "version: 1\nscenarios:\n  - name: load\n    timeout: 5\n\(Self.target)"
    let expected = """
      highwater.yml:4:14: error: the duration `5` has no unit
        hint: write one of ms, s, min, m, h, such as `10s`
      """
    #expect(try verdict(text) == expected)
    #expect(try verdict(text.replacing("\n", with: "\r\n")) == expected)
    #expect(try verdict("\u{feff}" + text) == expected)
    #expect(
      try verdict("\u{feff}version: 2\n").hasPrefix("highwater.yml:1:10: error: `version` must be 1, not `2`")
    )
  }

  @Test(
    "Unsupported regular expressions are rejected and crash nothing",
    .timeLimit(.minutes(60)),
    arguments: [
      String(repeating: "(", count: 990), String(repeating: "[", count: 990), "a{1,99999999}", "a{2,1}",
      "(?<a>x)(?<a>y)", #"\x{110000}"#, #"\u{FFFFFFFF}"#, "[z-a]", "(?<=a+)b", #"\p{Foo}"#, #"\"#, #"\99"#, #"\C"#,
      String(repeating: "a", count: 1001),
    ]
  )
  func brokenPatterns(pattern: String) throws {
    let quoted = "'" + pattern + "'"
    let folder = try ProjectFolder(scenarioLines: "target: {shell: 'true'}\nready: {log: \(quoted)}")
    let verdict = folder.verdict()
    #expect(verdict.hasPrefix("highwater.yml:5:18: error: "))
    #expect(verdict.contains("regular expression"))
  }
}

@Suite("Unreadable project files")
struct UnreadableFileTests {
  @Test("The file is missing")
  func missing() throws {
    #expect(try ProjectFolder().verdict() == "highwater.yml: error: no such file")
  }

  @Test("The path is a folder")
  func folder() throws {
    let folder = try ProjectFolder()
    try folder.makeFolder("highwater.yml")
    #expect(
      folder.verdict() == """
        highwater.yml: error: is a folder, not a file
          hint: name a file in it
        """
    )
  }

  @Test("Opening a FIFO or a device does not block", .timeLimit(.minutes(60)))
  func pipe() throws {
    let folder = try ProjectFolder()
    try #require(makeFIFO("\(folder.path)/highwater.yml"))
    #expect(
      folder.verdict() == """
        highwater.yml: error: is not a regular file
          hint: name a file, not a pipe or a device
        """
    )
    let error = #expect(throws: ProjectError.self) { try ProjectFile.load("/dev/zero", environment: [:]) }
    #expect(error?.diagnostics.map(\.problem) == ["is not a regular file"])
  }

  @Test("A read error is reported with the kernel's reason")
  func unreadable() throws {
    // Reading another process's memory map from offset 0 fails with EIO for anyone, root too.
    let error = #expect(throws: ProjectError.self) { try ProjectFile.load("/proc/self/mem", environment: [:]) }
    #expect(error?.diagnostics.map(\.problem) == ["cannot be read: input/output error"])
  }

  @Test("A circular symbolic link is reported")
  func circle() throws {
    let folder = try ProjectFolder()
    try FileManager.default.createSymbolicLink(
      atPath: "\(folder.path)/highwater.yml", withDestinationPath: "highwater.yml"
    )
    #expect(folder.verdict() == "highwater.yml: error: cannot be read: too many levels of symbolic links")
  }
}
