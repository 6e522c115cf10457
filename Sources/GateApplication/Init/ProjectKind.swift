import FoundationEssentials
import GateCore

/// A kind of project: how it is recognised and built, and what may start its program.
struct ProjectKind: Sendable {
  let kind: Starter.Kind
  let isPresent: @Sendable (Repository) -> Bool
  /// The shell command that builds it in its folder; nil if nothing must be built.
  let build: @Sendable (Repository) -> String?
  /// The commands that may start its program once it is built, likeliest first.
  let candidates: @Sendable (Repository) -> [StartCandidate]

  /// A kind that one of these files or folders shows.
  init(
    _ kind: Starter.Kind, markers: [String], build: @escaping @Sendable (Repository) -> String?,
    candidates: @escaping @Sendable (Repository) -> [StartCandidate]
  ) {
    self.init(kind, isPresent: { markers.contains(where: $0.has) }, build: build, candidates: candidates)
  }

  init(
    _ kind: Starter.Kind, isPresent: @escaping @Sendable (Repository) -> Bool,
    build: @escaping @Sendable (Repository) -> String? = { _ in nil },
    candidates: @escaping @Sendable (Repository) -> [StartCandidate]
  ) {
    (self.kind, self.isPresent, self.build, self.candidates) = (kind, isPresent, build, candidates)
  }

  /// In the order in which they are tried: a Makefile often only calls the other tools.
  static let all = [
    // A package of libraries only, as some projects in C have, starts no program.
    ProjectKind(
      .swift, isPresent: { !swift($0).isEmpty }, build: { _ in "swift build -c release" }, candidates: swift),
    // With lines, so that a rise is named by line; they take no memory at run time.
    ProjectKind(
      .cargo, markers: ["Cargo.toml"], build: { _ in "CARGO_PROFILE_RELEASE_DEBUG=1 cargo build --release" },
      candidates: cargo),
    ProjectKind(.node, markers: ["package.json"], build: nodeBuild, candidates: node),
    ProjectKind(.go, markers: ["go.mod"], build: { _ in "go build -o bin/ ./..." }, candidates: go),
    ProjectKind(.maven, markers: ["pom.xml"], build: { _ in "mvn --batch-mode --quiet package" }, candidates: maven),
    ProjectKind(.gradle, markers: gradleFiles, build: gradleBuild, candidates: gradle),
    ProjectKind(.python, markers: pythonFiles, build: pythonBuild) { python($0, with: interpreter($0)) },
    ProjectKind(
      .cmake, markers: ["CMakeLists.txt"],
      build: { _ in "cmake -S . -B build -DCMAKE_BUILD_TYPE=RelWithDebInfo && cmake --build build" }, candidates: cmake),
    ProjectKind(
      .meson, markers: ["meson.build"], build: { _ in "meson setup build && meson compile -C build" },
      candidates: meson),
    ProjectKind(.make, markers: MakeText.names + configureFiles, build: makeBuild, candidates: make),
    ProjectKind(.jar, isPresent: { !jar($0).isEmpty }, candidates: jar),
    ProjectKind(.executable, isPresent: { !executable($0).isEmpty }, candidates: executable),
    ProjectKind(.command, markers: containerFiles, build: { _ in nil }, candidates: container),
    // What is installed on this machine may be enough.
    ProjectKind(.python, isPresent: { !$0.names(in: ".").filter { $0.hasSuffix(".py") }.isEmpty }) {
      python($0, with: "python3")
    },
  ]

  // MARK: Compiled programs

  /// Products before targets: tests and tools often are targets only.
  @Sendable private static func swift(_ repository: Repository) -> [StartCandidate] {
    let text = repository.text("Package.swift").split(separator: "\n")
      .filter { !$0.drop { $0 == " " }.hasPrefix("//") }.joined(separator: "\n")
    let names =
      text.matches(of: #/\.executable\(\s*name:\s*"([^"]+)"/#).map(\.output.1)
      + text.matches(of: #/\.executableTarget\(\s*name:\s*"([^"]+)"/#).map(\.output.1)
    let folders = repository.names(in: "Sources").filter { repository.has("Sources/\($0)/main.swift") }
    return (names.map(String.init) + folders).map { StartCandidate(program: ".build/release/\($0)") }
  }

  @Sendable private static func cargo(_ repository: Repository) -> [StartCandidate] {
    let members = repository.text("Cargo.toml").contains("[workspace]") ? repository.foldersToDepth2 : []
    let names = ([""] + members.map { $0 + "/" }).flatMap { folder -> [String] in
      let manifest = TOMLText(repository.text("\(folder)Cargo.toml"))
      let main = repository.has("\(folder)src/main.rs") ? manifest.values(of: "name", in: "package") : []
      let files = repository.names(in: "\(folder)src/bin").filter { $0.hasSuffix(".rs") }.map { String($0.dropLast(3)) }
      return manifest.values(of: "default-run", in: "package") + manifest.values(of: "name", in: "bin") + main + files
    }
    return names.map { StartCandidate(program: "target/release/\($0)") }
  }

  /// The module's own program, or those in `cmd`.
  @Sendable private static func go(_ repository: Repository) -> [StartCandidate] {
    let line = repository.text("go.mod").split(separator: "\n").first { $0.hasPrefix("module ") }
    let path = line?.dropFirst(7).split(separator: "/").map { $0.filter { !" \"\r".contains($0) } } ?? []
    let module = path.last { $0.wholeMatch(of: #/v[0-9]+/#) == nil }
    let isProgram = repository.names(in: ".").contains { name in
      name.hasSuffix(".go") && repository.text(name).split(separator: "\n").contains { $0.hasPrefix("package main") }
    }
    let own = isProgram ? [module].compactMap(\.self) : []
    return (own + repository.names(in: "cmd")).map { StartCandidate(program: "bin/\($0)") }
  }

  @Sendable private static func cmake(_ repository: Repository) -> [StartCandidate] {
    let own = repository.text("CMakeLists.txt")
    let project = own.firstMatch(of: #/(?i:project)\s*\(\s*([\w.+-]+)/#).map { String($0.output.1) } ?? ""
    let rule = #/(?m)^[ \t]*(?i:add_executable)\s*\(\s*([\w.+-]+)(?!.*(?:IMPORTED|ALIAS))/#
    let declared = ([""] + repository.folders(in: ".").map { $0 + "/" }).flatMap { folder in
      let text = repository.text("\(folder)CMakeLists.txt").replacing("${PROJECT_NAME}", with: project)
      return text.matches(of: rule).map { StartCandidate(program: "build/\(folder)\($0.output.1)") }
    }
    return declared + built(in: "build", of: repository)
  }

  @Sendable private static func meson(_ repository: Repository) -> [StartCandidate] {
    let declared = ([""] + repository.folders(in: ".").map { $0 + "/" }).flatMap { folder in
      repository.text("\(folder)meson.build").matches(of: #/executable\(\s*'([^']+)'/#).map {
        StartCandidate(program: "build/\(folder)\($0.output.1)")
      }
    }
    return declared + built(in: "build", of: repository)
  }

  /// Those of autoconf and automake.
  private static let configureFiles = ["configure", "configure.ac", "configure.in"]

  /// A Makefile that `configure` writes is not in the repository.
  @Sendable private static func makeBuild(_ repository: Repository) -> String? {
    let isWritten = ["Makefile.in", "Makefile.am"].contains(where: repository.has)
    guard isWritten || !MakeText.names.contains(where: repository.has) else { return "make" }
    let generating = repository.has("configure") ? "" : "autoreconf --install && "
    return "test -e Makefile || \(generating)./configure && make"
  }

  /// Targets of the Makefile; those that were built are surely programs.
  @Sendable private static func make(_ repository: Repository) -> [StartCandidate] {
    let text = MakeText.names.map(repository.text).first { !$0.isEmpty } ?? ""
    let targets = MakeText(text).programs.filter { !buildScripts.contains($0) }
    return targets.filter(repository.isProgram).map { StartCandidate(program: $0) } + built(in: ".", of: repository)
      + targets.map { target in
        var candidate = StartCandidate(program: target)
        let words = repository.completed(candidate.words)
        // Of a jar, as another program runs it.
        if words != candidate.words {
          candidate.name = PathText.name(of: target).split(separator: ".").first.map(String.init)
        }
        candidate.words = words
        return candidate
      }
  }

  /// Scripts that build, which autotools and others put beside what they build.
  private static let buildScripts: Set = [
    "bootstrap", "config.status", "configure", "gradlew", "install-sh", "libtool", "mvnw",
  ]

  /// What a build has left, the programs that tests use last.
  private static func built(in folder: String, of repository: Repository) -> [StartCandidate] {
    let programs = repository.programs(in: folder)
    let tests = programs.filter { $0.lowercased().contains("test") }
    return (programs.filter { !tests.contains($0) } + tests).map { StartCandidate(program: $0) }
  }

  @Sendable private static func executable(_ repository: Repository) -> [StartCandidate] {
    // A script such as `deploy` is rarely the program, and may do anything.
    let programs = repository.programs(in: ".").filter { !$0.contains("/") }
    return programs.count == 1 ? [StartCandidate(["./\(programs[0])"])] : []
  }

  @Sendable private static func jar(_ repository: Repository) -> [StartCandidate] {
    let names = repository.names(in: ".").filter { $0.hasSuffix(".jar") }
    return names.count == 1 ? [StartCandidate(["java", "-jar", names[0]], name: String(names[0].dropLast(4)))] : []
  }
}

extension Repository {
  /// The folders of the first two levels.
  fileprivate var foldersToDepth2: [String] {
    folders(in: ".").flatMap { outer in [outer] + folders(in: outer).map { "\(outer)/\($0)" } }
  }
}
