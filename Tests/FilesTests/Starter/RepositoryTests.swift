import FoundationEssentials
import GateCore
import Testing

@testable import GateApplication

/// The files of a repository, and the command that should be found for it.
struct StarterExample: Sendable, CustomTestStringConvertible {
  let files: [String: String]
  let kind: Starter.Kind
  let command: [String]
  var isBuilt = true
  var build: String?

  var testDescription: String { files.keys.sorted().joined(separator: ", ") }
}

@Suite("Finding what a repository builds")
struct RepositoryTests {
  private let scratch: ScratchFolder

  init() throws {
    scratch = try ScratchFolder()
  }

  private func repository(_ files: [String: String]) throws -> Repository {
    for (name, text) in files {
      let path = try scratch.put(text, at: name)
      if text.hasPrefix("#!") { try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path) }
    }
    return Repository(at: scratch.path)
  }

  private static let go = ["go.mod": "module example.com/me/hello/v2\n\ngo 1.21\n"]

  private static let compiled = [
    StarterExample(
      files: [
        "Package.swift": """
        // .executable(name: "old", targets: [])
          .executableTarget(name: "tool"), .executable(
            name: "app", targets: ["tool"])
        """
      ], kind: .swift, command: [".build/release/app"], isBuilt: false, build: "swift build -c release"),
    StarterExample(
      files: [
        "Package.swift": ".executableTarget(name: \"a\") .executableTarget(name: \"b\")", ".build/release/b": "",
      ],
      kind: .swift, command: [".build/release/b"], build: "swift build -c release"),
    StarterExample(
      files: ["Cargo.toml": "[package]\nname = \"one\" # two\n[dependencies]\nname = \"x\"", "src/main.rs": ""],
      kind: .cargo, command: ["target/release/one"], isBuilt: false, build: "cargo build --release"),
    StarterExample(
      files: [
        "Cargo.toml": "[workspace]\nmembers = [\"crates/*\"]", "crates/lib/Cargo.toml": "[package]\nname = \"lib\"",
        "crates/srv/Cargo.toml": "[package]\nname = \"srv\"", "crates/srv/src/main.rs": "",
      ], kind: .cargo, command: ["target/release/srv"], isBuilt: false, build: "cargo build --release"),
    StarterExample(
      files: go.merging(["main.go": "// A\npackage main\n"]) { $1 }, kind: .go, command: ["bin/hello"], isBuilt: false,
      build: "go build -o bin/hello ."),
    StarterExample(
      files: go.merging(["lib.go": "package hello", "cmd/served/main.go": "package main", "bin/served": ""]) { $1 },
      kind: .go, command: ["bin/served"], build: "go build -o bin/served ./cmd/served"),
    StarterExample(
      files: go.merging(["lib.go": "package hello", "cmd/$(touch x)/main.go": "", "bin/$(touch x)": ""]) { $1 },
      kind: .go, command: ["bin/$(touch x)"], build: "go build -o 'bin/$(touch x)' './cmd/$(touch x)'"),
    StarterExample(
      files: [
        "CMakeLists.txt": """
        project(demo C)
        add_executable(other ALIAS x)
        Add_Executable( ${PROJECT_NAME}
          main.c)
        """
      ], kind: .cmake, command: ["build/demo"], isBuilt: false,
      build: "cmake -S . -B build -DCMAKE_BUILD_TYPE=Release && cmake --build build"),
    StarterExample(
      files: [
        "Makefile": """
        BIN := pack
        .PHONY: all clean
        all: $(BIN) docs.html
        $(BIN): main.o
        \tcc -o $@ $^
        %.o: %.c
        main.o: main.c util.h
        docs.html:
        clean:
        \trm -f $(BIN)
        """
      ], kind: .make, command: ["./pack"], isBuilt: false, build: "make"),
    StarterExample(
      files: ["GNUmakefile": "a: b\nout/b:\n\tcc\n", "out/b": "#!/bin/sh"], kind: .make, command: ["out/b"],
      build: "make"),
    StarterExample(files: ["run": "#!/bin/sh", "README": ""], kind: .executable, command: ["./run"]),
  ]

  private static let interpreted = [
    StarterExample(
      files: ["package.json": #"{"scripts": {"start": "node --x src/a.js"}, "main": "b.js"}"#, "b.js": ""], kind: .node,
      command: ["node", "--x", "src/a.js"]),
    StarterExample(
      files: [
        "package.json": """
        {"scripts": {"start": "tsc && node a.js", "build": "tsc"}, "main": "b", "dependencies": {"c": "1"}}
        """,
        "b/index.js": "", "package-lock.json": "",
      ], kind: .node, command: ["node", "b/index.js"], isBuilt: false, build: "npm ci && npm run build"),
    StarterExample(
      files: ["package.json": #"{"scripts": {"start": "next start -p 3"}}"#, "node_modules/.bin/next": ""], kind: .node,
      command: ["node_modules/.bin/next", "start", "-p", "3"]),
    StarterExample(
      files: ["setup.py": "", "src/tool/__main__.py": "", "requirements.txt": ""], kind: .python,
      command: ["python3", "-m", "tool"], build: "pip install -r requirements.txt"),
    StarterExample(
      files: ["pyproject.toml": "[project]\nname = 'x'\n[project.scripts]\ntool = \"x:main\"\n"], kind: .python,
      command: ["tool"], build: "pip install ."),
    StarterExample(
      files: ["pyproject.toml": "[tool.black]\n", "app.py": ""], kind: .python, command: ["python3", "app.py"]),
  ]

  @Test("The command, and whether it is built", arguments: compiled + interpreted)
  func command(example: StarterExample) throws {
    let starter = try #require(try repository(example.files).starter())
    #expect(starter.kind == example.kind)
    #expect(starter.scenario.target.command == .arguments(example.command))
    #expect(starter.isBuilt == example.isBuilt)
    #expect(starter.build == example.build)
  }

  @Test("A package below src needs a path to it")
  func sourceFolder() throws {
    let starter = try repository(["setup.py": "", "src/tool/__main__.py": ""]).starter()
    #expect(starter?.scenario.target.environment == ["PYTHONPATH": "src"])
    #expect(starter?.scenario.name.text == "tool")
  }

  @Test(
    "Nothing is found in files that name no program",
    arguments: [
      [:], ["a": "#!/bin/sh", "b": "#!/bin/sh"], ["Package.swift": ""], ["package.json": "{"], ["Cargo.toml": "[["],
      ["go.mod": "module"], ["Makefile": "a.o:\n%: x\n$(shell x): y\n"], ["CMakeLists.txt": "add_executable("],
    ])
  func nothing(files: [String: String]) throws {
    #expect(try repository(files).starter() == nil)
  }

  @Test("CI files belong to the root of the repository, and the scenario to its folder")
  func subfolder() throws {
    for name in [".git/HEAD", ".gitlab-ci.yml", "Jenkinsfile", "svc/run"] { _ = try scratch.put("", at: name) }
    let repository = Repository(at: "\(scratch.path)/svc")
    #expect([".gitlab-ci.yml", "Jenkinsfile", "run"].map(repository.rootHas) == [true, true, false])
    #expect(repository.shown("memory.yml") == "../memory.yml")
    let scenario = repository.starter(of: ["./a b"]).scenario
    #expect(scenario.root == scratch.path && scenario.target.workingDirectory == "\(scratch.path)/svc")
    #expect(scenario.name.text == "svc", "a name with a space cannot be that of a scenario")
  }
}
