import GateCore

// Projects that Maven or Gradle builds.

extension ProjectKind {
  static let gradleFiles = ["build.gradle", "build.gradle.kts"]

  /// The jar that can be run by itself, or else the classes with a `main`.
  @Sendable static func maven(_ repository: Repository) -> [StartCandidate] {
    let text = repository.text("pom.xml")
    // Of the parent and the dependencies are other names.
    let own = text.replacing(#/(?s)<(parent|dependencies|build)>.*?<\/\1>/#, with: "")
    let name = own.firstMatch(of: #/<artifactId>\s*([^<\s]+)/#).map { String($0.output.1) }
    let jars = repository.names(in: "target").filter { file in
      file.hasSuffix(".jar") && !["original-", "-sources", "-javadoc", "-tests"].contains(where: file.contains)
    }
    let packaged = jars.map { StartCandidate(["java", "-jar", "target/\($0)"], name: name) }
    let isRunnable = text.contains("spring-boot") || text.contains("<mainClass>")
    return (isRunnable ? packaged : []) + classes(in: "target/classes", of: repository, name: name)
      + (isRunnable ? [] : packaged)
  }

  @Sendable static func gradleBuild(_ repository: Repository) -> String? {
    let program = repository.isProgram("gradlew") ? "./gradlew" : "gradle"
    return "\(program) --quiet \(isApplication(repository) ? "installDist" : "assemble")"
  }

  @Sendable static func gradle(_ repository: Repository) -> [StartCandidate] {
    let settings = ["settings.gradle", "settings.gradle.kts"].map(repository.text).joined()
    let named = settings.firstMatch(of: #/rootProject\.name\s*=\s*["']([^"']+)/#).map { String($0.output.1) }
    let name = named ?? repository.names(in: "build/install").first
    if isApplication(repository), let name {
      let main = gradleText(repository).firstMatch(of: #/mainClass(?:Name)?\s*(?:=|\.set\()\s*["']([\w.$]+)/#)
      let libraries = "build/install/\(name)/lib/*"
      let direct = main.map { StartCandidate(["java", "-cp", libraries, String($0.output.1)], name: name) }
      return [direct, StartCandidate(program: "build/install/\(name)/bin/\(name)")].compactMap(\.self)
    }
    let jars = repository.names(in: "build/libs").filter { $0.hasSuffix(".jar") && !$0.hasSuffix("-plain.jar") }
    return jars.map { StartCandidate(["java", "-jar", "build/libs/\($0)"], name: name) }
      + classes(in: "build/classes/java/main", of: repository, name: name)
  }

  private static func gradleText(_ repository: Repository) -> String { gradleFiles.map(repository.text).joined() }

  private static func isApplication(_ repository: Repository) -> Bool {
    gradleText(repository).contains(#/(?m)(?:id|plugin:)\s*\(?\s*["']application["']|^\s*application\s*$/#)
  }

  /// A command for each class with a `main`.
  private static func classes(in output: String, of repository: Repository, name: String?) -> [StartCandidate] {
    let root = "src/main/java"
    return repository.files(below: root, endingIn: ".java").filter { file in
      repository.text("\(root)/\(file)").contains(#/static\s+void\s+main\s*\(/#)
    }.map { file in
      let type = String(file.dropLast(".java".count)).replacing("/", with: ".")
      return StartCandidate(["java", "-cp", output, type], needs: [output], name: name)
    }
  }
}
