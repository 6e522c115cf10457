import FoundationEssentials
import GateCore

/// A kind of project, recognised by a file in its folder.
struct ProjectKind: Sendable {
  let kind: Starter.Kind
  /// One of these files or folders must exist.
  let markers: [String]
  /// The commands that may start its program, likeliest first.
  let candidates: @Sendable (Repository) -> [StartCandidate]

  /// In the order in which they are tried: a Makefile often only calls the other tools.
  static let all = [
    ProjectKind(kind: .swift, markers: ["Package.swift"], candidates: swift),
    ProjectKind(kind: .cargo, markers: ["Cargo.toml"], candidates: cargo),
    ProjectKind(kind: .node, markers: ["package.json"], candidates: node),
    ProjectKind(kind: .go, markers: ["go.mod"], candidates: go),
    ProjectKind(kind: .python, markers: ["pyproject.toml", "setup.py"], candidates: python),
    ProjectKind(kind: .cmake, markers: ["CMakeLists.txt"], candidates: cmake),
    ProjectKind(kind: .make, markers: MakeText.names, candidates: make),
    ProjectKind(kind: .executable, markers: ["."], candidates: executable),
  ]

  // MARK: Compiled programs

  /// Products before targets: tests and tools often are targets only.
  @Sendable private static func swift(_ repository: Repository) -> [StartCandidate] {
    let text = repository.text("Package.swift").split(separator: "\n")
      .filter { !$0.drop { $0 == " " }.hasPrefix("//") }.joined(separator: "\n")
    let names =
      text.matches(of: #/\.executable\(\s*name:\s*"([^"]+)"/#).map(\.output.1)
      + text.matches(of: #/\.executableTarget\(\s*name:\s*"([^"]+)"/#).map(\.output.1)
    return names.map { StartCandidate(program: ".build/release/\($0)", build: "swift build -c release") }
  }

  @Sendable private static func cargo(_ repository: Repository) -> [StartCandidate] {
    let members = repository.text("Cargo.toml").contains("[workspace]") ? repository.foldersToDepth2 : []
    let names = ([""] + members.map { $0 + "/" }).flatMap { folder -> [String] in
      let manifest = TOMLText(repository.text("\(folder)Cargo.toml"))
      let main = repository.has("\(folder)src/main.rs") ? manifest.values(of: "name", in: "package") : []
      let files = repository.names(in: "\(folder)src/bin").filter { $0.hasSuffix(".rs") }.map { String($0.dropLast(3)) }
      return manifest.values(of: "default-run", in: "package") + manifest.values(of: "name", in: "bin") + main + files
    }
    return names.map { StartCandidate(program: "target/release/\($0)", build: "cargo build --release") }
  }

  /// A word for a POSIX shell, of the name of a file that anybody may have committed.
  private static func quoted(_ word: String) -> String {
    let isPlain = word.wholeMatch(of: #/[A-Za-z0-9_@%+=:,.\/-]+/#) != nil
    return isPlain ? word : "'" + word.replacing("'", with: "'\\''") + "'"
  }

  /// The module's own program, or those in `cmd`.
  @Sendable private static func go(_ repository: Repository) -> [StartCandidate] {
    let line = repository.text("go.mod").split(separator: "\n").first { $0.hasPrefix("module ") }
    let path = line?.dropFirst(7).split(separator: "/").map { $0.filter { !" \"\r".contains($0) } } ?? []
    let module = path.last { $0.wholeMatch(of: #/v[0-9]+/#) == nil }
    let isProgram = repository.names(in: ".").contains { name in
      name.hasSuffix(".go") && repository.text(name).split(separator: "\n").contains { $0.hasPrefix("package main") }
    }
    let own = isProgram ? module.map { [(name: $0, folder: ".")] } ?? [] : []
    return (own + repository.names(in: "cmd").map { (name: $0, folder: "./cmd/\($0)") }).map { name, folder in
      StartCandidate(program: "bin/\(name)", build: "go build -o \(quoted("bin/\(name)")) \(quoted(folder))")
    }
  }

  @Sendable private static func cmake(_ repository: Repository) -> [StartCandidate] {
    let own = repository.text("CMakeLists.txt")
    let project = own.firstMatch(of: #/(?i:project)\s*\(\s*([\w.+-]+)/#).map { String($0.output.1) } ?? ""
    let rule = #/(?m)^[ \t]*(?i:add_executable)\s*\(\s*([\w.+-]+)(?!.*(?:IMPORTED|ALIAS))/#
    let build = "cmake -S . -B build -DCMAKE_BUILD_TYPE=Release && cmake --build build"
    return ([""] + repository.folders(in: ".").map { $0 + "/" }).flatMap { folder in
      let text = repository.text("\(folder)CMakeLists.txt").replacing("${PROJECT_NAME}", with: project)
      return text.matches(of: rule).map { match in
        StartCandidate(program: "build/\(folder)\(match.output.1)", build: build)
      }
    }
  }

  /// Targets of the Makefile; those that were built are surely programs.
  @Sendable private static func make(_ repository: Repository) -> [StartCandidate] {
    let text = MakeText.names.map(repository.text).first { !$0.isEmpty } ?? ""
    let targets = MakeText(text).programs
    return (targets.filter(repository.isProgram) + targets).map { StartCandidate(program: $0, build: "make") }
  }

  @Sendable private static func executable(_ repository: Repository) -> [StartCandidate] {
    let programs = repository.names(in: ".").filter(repository.isProgram)
    return programs.count == 1 ? [StartCandidate(["./\(programs[0])"])] : []
  }

  // MARK: Interpreted programs

  private struct Package: Decodable {
    let name: String?
    let main: String?
    let scripts: [String: String]?
    let dependencies: [String: String]?
  }

  /// `npm start` without npm, which would be measured as a part of the target, or else the package's main file.
  @Sendable private static func node(_ repository: Repository) -> [StartCandidate] {
    let text = repository.text("package.json")
    guard let package = try? JSONDecoder().decode(Package.self, from: Data(text.utf8)) else { return [] }
    let install = repository.has("package-lock.json") ? "npm ci" : "npm install"
    let needsModules = package.dependencies?.isEmpty == false
    let build = [needsModules ? install : nil, package.scripts?["build"].map { _ in "npm run build" }]
      .compactMap(\.self).joined(separator: " && ")
    let name = package.name.flatMap { $0.split(separator: "/").last.map(String.init) }
    let mains = [package.main].compactMap(\.self) + ["server.js", "index.js", "app.js"]
    let files = mains.flatMap { [$0, "\($0).js", "\($0)/index.js"] }.filter(repository.isFile)
    let commands = [package.scripts?["start"].flatMap(nodeCommand)].compactMap(\.self) + files.map { ["node", $0] }
    return commands.map { words in
      let program = words[0].contains("/") ? [words[0]] : []
      let needs = program + (needsModules ? ["node_modules"] : [])
      return StartCandidate(words, needs: needs, build: build.isEmpty ? nil : build, name: name)
    }
  }

  /// The words of a script that needs no shell; a program other than node is one of a package.
  private static func nodeCommand(_ script: String) -> [String]? {
    guard !script.contains(where: { "&|;<>$`'\"\\*?(){}=".contains($0) }) else { return nil }
    let words = script.split(separator: " ").map(String.init)
    guard let first = words.first, !["npm", "npx", "yarn", "pnpm"].contains(first) else { return nil }
    return first == "node" || first.contains("/") ? words : ["node_modules/.bin/\(first)"] + words.dropFirst()
  }

  /// A package that can be run, a script of the project, or a file with a usual name.
  @Sendable private static func python(_ repository: Repository) -> [StartCandidate] {
    let project = TOMLText(repository.text("pyproject.toml"))
    let name = project.values(of: "name", in: "project").first ?? project.values(of: "name", in: "tool.poetry").first
    let build = repository.has("requirements.txt") ? "pip install -r requirements.txt" : nil
    let packages = ["", "src/"].flatMap { folder in
      repository.folders(in: folder.isEmpty ? "." : "src").filter { repository.has("\(folder)\($0)/__main__.py") }
        .map { package in
          var candidate = StartCandidate(["python3", "-m", package], build: build, name: package)
          if !folder.isEmpty { candidate.variables = ["PYTHONPATH": "src"] }
          return candidate
        }
    }
    let scripts = (project.keys(in: "project.scripts") + project.keys(in: "tool.poetry.scripts")).map { script in
      let isVirtual = repository.has(".venv/bin/\(script)")
      return isVirtual
        ? StartCandidate(program: ".venv/bin/\(script)", build: "pip install .")
        : StartCandidate([script], build: "pip install .")
    }
    let files = ["main.py", "app.py", "server.py"].filter(repository.isFile).map { file in
      StartCandidate(["python3", file], build: build, name: name)
    }
    return packages + scripts + files
  }
}

extension Repository {
  /// The folders of the first two levels.
  fileprivate var foldersToDepth2: [String] {
    folders(in: ".").flatMap { outer in [outer] + folders(in: outer).map { "\(outer)/\($0)" } }
  }
}
