import GateCore

/// The job of a CI system that `init` writes, or tells how to add.
struct StarterJob: Sendable {
  let system: Starter.CI
  let starter: Starter
  /// The folder of the project file, relative to the repository's root; nil where they are the same.
  let folder: String?
  /// Options of `check` that name the project file.
  let options: [String]

  /// - Parameters:
  ///   - system: The CI system.
  ///   - starter: What the job builds and checks.
  ///   - config: The path of the project file where `check` does not find it by itself.
  init(_ system: Starter.CI, of starter: Starter, config: String?) {
    (self.system, self.starter) = (system, starter)
    let (root, folder) = (starter.scenario.root, starter.scenario.target.workingDirectory)
    self.folder = folder.hasPrefix("\(root)/") ? String(folder.dropFirst(root.count + 1)) : nil
    options = config.map { ["--config", $0] } ?? []
  }

  /// The file from the repository's root; nil for a system whose only file exists already.
  var path: String? {
    switch system {
    case .gitHub: ".github/workflows/memory.yml"
    case .gitLab: "memory.gitlab-ci.yml"
    case .jenkins: nil
    }
  }

  /// What is to be done with the file, or without one, as a sentence.
  var advice: String {
    switch system {
    case .gitHub: "set HIGHWATER_PACKAGE in it to the address of the Debian package"
    case .gitLab:
      "set HIGHWATER_PACKAGE in it to the address of the Debian package, and add to .gitlab-ci.yml: "
        + Format.glued("`include: {local: /memory.gitlab-ci.yml}`")
    case .jenkins:
      "add to the Jenkinsfile a stage with "
        + Format.glued("`sh '\(check("--junit", "junit.xml"))'`") + " and, in `post { always { … } }`, "
        + Format.glued("`junit 'junit.xml'; archiveArtifacts 'result.json, .highwater/**'`")
    }
  }

  /// The content of the file.
  var text: String {
    // GitHub would replace an expression in the name of a file.
    let lines = system == .gitHub ? gitHub.map { $0.replacing("${{", with: "${{ '${{' }}") } : gitLab
    return lines.map { $0 + "\n" }.joined()
  }

  private func check(_ reports: String...) -> String {
    ([Tool.name, "check"] + options + ["--json", "result.json"] + reports).map(ShellWords.quoted).joined(separator: " ")
  }

  private func below(_ path: String) -> String { folder.map { "\($0)/\(path)" } ?? path }

  private var gitHub: [String] {
    let place = folder.map { ["    defaults: {run: {working-directory: \(YAMLText.word($0))}}"] } ?? []
    let build = starter.build.map { ["      - run: \(YAMLText.line($0))"] } ?? []
    let artifacts = [below("result.json"), below("run.html"), ".highwater"].joined(separator: "\n")
    return [
      "name: memory", "on: [push, pull_request]", "jobs:", "  memory:", "    runs-on: ubuntu-latest",
      "    env:", "      HIGHWATER_PACKAGE: \(Self.address)   # the address of the Debian package",
    ] + place + [
      "    steps:", "      - uses: actions/checkout@v4", "      - run: |",
      "          curl --fail --silent --show-error --location --output /tmp/highwater.deb \"$HIGHWATER_PACKAGE\"",
      "          sudo apt-get install -y /tmp/highwater.deb",
    ] + build + [
      "      - run: \(check("--html", "run.html"))", "      - if: always()", "        uses: actions/upload-artifact@v4",
      "        with: {name: memory, path: \(YAMLText.word(artifacts)), include-hidden-files: true}",
    ]
  }

  private var gitLab: [String] {
    let steps = (folder.map { ["cd \(ShellWords.quoted($0))"] } ?? []) + [starter.build].compactMap(\.self)
    let quality = check("--junit", "junit.xml", "--report", "codequality=quality.json")
    return [
      "memory:", "  image: \(starter.kind.image)",
      "  variables: {HIGHWATER_PACKAGE: \"\(Self.address)\"}   # the address of the Debian package", "  script:",
      "    - apt-get update -qq && apt-get install -y -qq curl ca-certificates",
      "    - curl --fail --silent --show-error --location --output /tmp/highwater.deb \"$HIGHWATER_PACKAGE\"",
      "    - apt-get install -y /tmp/highwater.deb",
    ] + (steps + [quality]).map { "    - \(YAMLText.line($0))" } + [
      "  artifacts:", "    when: always", "    paths: \(YAMLText.list([below("result.json"), ".highwater"]))",
      "    reports: {junit: \(YAMLText.word(below("junit.xml"))), codequality: \(YAMLText.word(below("quality.json")))}",
    ]
  }

  private static let address = "https://…/highwater.deb"
}

extension Starter.Kind {
  /// A Debian image that can build it.
  fileprivate var image: String {
    switch self {
    case .swift: "swift:6.2-bookworm"
    case .cargo: "rust:bookworm"
    case .node: "node:22-bookworm"
    case .go: "golang:bookworm"
    case .python: "python:3.12-bookworm"
    case .make: "gcc:bookworm"
    case .cmake, .executable, .command: "debian:bookworm   # with what your build needs"
    }
  }
}
