import GateCore

// Projects that Maven or Gradle builds.

extension ProjectKind {
  static let gradleFiles = ["build.gradle", "build.gradle.kts"]

  /// The jars that can be run by themselves, or else the classes with a `main`.
  @Sendable static func maven(_ repository: Repository) -> [StartCandidate] {
    let modules = mavenModules(of: repository, in: "", levels: 3)
    let classPath = modules.map { "\($0)target/classes" }.filter { modules.count == 1 || repository.has($0) }
    let found = modules.map { module -> (isRunnable: Bool, candidates: [StartCandidate]) in
      let text = repository.text("\(module)pom.xml")
      // Of the parent and the dependencies are other names.
      let own = text.replacing(#/(?s)<(parent|dependencies|build)>.*?<\/\1>/#, with: "")
      let name = own.firstMatch(of: #/<artifactId>\s*([^<\s]+)/#).map { String($0.output.1) }
      let jars = repository.names(in: "\(module)target").filter { file in
        file.hasSuffix(".jar") && !["original-", "-sources", "-javadoc", "-tests"].contains(where: file.contains)
      }
      let packaged = jars.map { StartCandidate(["java", "-jar", "\(module)target/\($0)"], name: name) }
      let classes = classes(below: "\(module)src/main/java", of: repository, classPath: classPath, name: name)
      let isRunnable = text.contains("spring-boot-maven-plugin") || text.contains("<mainClass>")
      return (isRunnable && !packaged.isEmpty, isRunnable ? packaged + classes : classes + packaged)
    }
    return found.filter(\.isRunnable).flatMap(\.candidates) + found.filter { !$0.isRunnable }.flatMap(\.candidates)
  }

  /// The folders with a `pom.xml`, each with a slash at its end: the project's own is empty.
  private static func mavenModules(of repository: Repository, in folder: String, levels: Int) -> [String] {
    let text = repository.text("\(folder)pom.xml")
    guard levels > 0, !text.isEmpty else { return [] }
    let modules = text.matches(of: #/<module>\s*([\w.-]+)\s*<\/module>/#).map { "\(folder)\($0.output.1)/" }
    return [folder] + modules.flatMap { mavenModules(of: repository, in: $0, levels: levels - 1) }
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
      + classes(below: "src/main/java", of: repository, classPath: ["build/classes/java/main"], name: name)
  }

  private static func gradleText(_ repository: Repository) -> String { gradleFiles.map(repository.text).joined() }

  private static func isApplication(_ repository: Repository) -> Bool {
    gradleText(repository).contains(#/(?m)(?:id|plugin:)\s*\(?\s*["']application["']|^\s*application\s*$/#)
  }

  /// A command for each class with a `main` in a folder of sources.
  private static func classes(
    below root: String, of repository: Repository, classPath: [String], name: String?
  ) -> [StartCandidate] {
    repository.files(below: root, endingIn: ".java").filter { file in
      repository.text("\(root)/\(file)").contains(#/static\s+void\s+main\s*\(/#)
    }.map { file in
      let type = String(file.dropLast(".java".count)).replacing("/", with: ".")
      return StartCandidate(
        ["java", "-cp", classPath.joined(separator: ":"), type], needs: classPath, name: name)
    }
  }
}
