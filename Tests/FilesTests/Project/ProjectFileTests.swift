import FoundationEssentials
import GateCore
import Testing

@testable import GateApplication

@Suite("Finding the project file")
struct LocateTests {
  @Test("The first of its three names counts; the working directory is searched before its parents")
  func order() throws {
    let folder = try ProjectFolder(files: ["ci/highwater.yml": "", "a/b/x": ""])
    func located(from sub: String) throws -> String {
      String(try ProjectFile.locate(explicit: nil, from: "\(folder.path)\(sub)").dropFirst(folder.path.count))
    }
    #expect(try located(from: "/a/b") == "/ci/highwater.yml")
    try folder.write(".highwater.yml", "")
    #expect(try located(from: "/a/b") == "/.highwater.yml")
    try folder.write("highwater.yml", "")
    #expect(try located(from: "/a/b/") == "/highwater.yml")
    try folder.write("a/ci/highwater.yml", "")
    #expect(try located(from: "/a/b") == "/a/ci/highwater.yml")
    #expect(try located(from: "") == "/highwater.yml")
  }

  @Test("The search ends at the repository's root")
  func ends() throws {
    let folder = try ProjectFolder(files: ["highwater.yml": "", "inner/.git": "gitdir: elsewhere", "inner/a/x": ""])
    let error = #expect(throws: ProjectError.self) {
      try ProjectFile.locate(explicit: nil, from: "\(folder.path)/inner/a")
    }
    #expect(
      error?.description.replacing(folder.path, with: "ROOT") == """
        error: no project file from `ROOT/inner/a` up to `ROOT/inner`
          hint: `highwater init` writes a `highwater.yml`; `--config FILE` names another file
        """
    )
  }

  @Test("Outside a repository the parents are not searched")
  func noRepository() throws {
    let folder = try ProjectFolder(isRepository: false, files: ["highwater.yml": "", "a/x": ""])
    let error = #expect(throws: ProjectError.self) {
      try ProjectFile.locate(explicit: nil, from: "\(folder.path)/a")
    }
    #expect(error?.diagnostics.first?.problem == "no project file in `\(folder.path)/a`")
  }

  @Test("An explicit path is resolved against the working directory, and nothing is searched")
  func explicit() throws {
    #expect(try ProjectFile.locate(explicit: "../x.yml", from: "/a/b") == "/a/x.yml")
    #expect(try ProjectFile.locate(explicit: "/c/./x.yml", from: "/a/b") == "/c/x.yml")
  }
}

@Suite("Loading the project file")
struct LoadTests {
  static let minimal = "version: 1\nscenarios:\n  - name: load\n    target: {command: [sleep, 1]}\n"

  @Test("Missing keys have the documented defaults")
  func defaults() throws {
    let folder = try ProjectFolder(files: ["highwater.yml": Self.minimal])
    var scenario = Scenario(
      name: ScenarioName("load"),
      target: Target(command: .arguments(["sleep", "1"]), workingDirectory: folder.path)
    )
    scenario.root = folder.path
    scenario.place = SourcePlace(file: "highwater.yml", line: 3, column: 5)
    #expect(
      try folder.load()
        == Project(
          file: "\(folder.path)/highwater.yml",
          root: folder.path,
          baselines: "\(folder.path)/baselines",
          history: .file("\(folder.path)/.highwater/history.sqlite"),
          artifacts: "\(folder.path)/.highwater",
          scenarios: [scenario]
        )
    )
  }

  @Test("Relative paths start at the repository's root, and variables in them are replaced")
  func paths() throws {
    let folder = try ProjectFolder(
      files: [
        "deep/ci/highwater.yml": """
        baselines: ../core/./b//c
        history: ${TEAM}/./h//h.sqlite
        artifacts: /tmp/$${x}
        \(Self.minimal)
        """
      ]
    )
    let project = try folder.load("deep/ci/highwater.yml", environment: ["TEAM": "core"])
    #expect(project.root == folder.path)
    #expect(project.baselines == PathText.absolute("../core/b/c", from: folder.path))
    #expect(project.history == .file("\(folder.path)/core/h/h.sqlite"))
    #expect(project.artifacts == "/tmp/${x}")
    #expect(project.scenarios.first?.place?.file == "deep/ci/highwater.yml")
  }

  @Test(
    "The folders of a project and what it includes do not depend on variables",
    arguments: ["baselines", "artifacts", "include"])
  func fixedPaths(key: String) throws {
    let folder = try ProjectFolder(files: ["highwater.yml": "\(key): \"b-${TOKEN}\"\n\(Self.minimal)"])
    let message = folder.verdict(environment: ["TOKEN": "hush"])
    #expect(message.hasPrefix("highwater.yml:1:\(key.count + 3): error: `\(key)` must not contain a variable"))
    #expect(!message.contains("hush"))
  }

  @Test(
    "No folder of a project is in git's own, in any case of letters", arguments: ["baselines", "artifacts", "history"])
  func gitFolder(key: String) throws {
    for path in [".git/hooks", "a/.GIT", ".git"] {
      let folder = try ProjectFolder(files: ["highwater.yml": "\(key): \(path)\n\(Self.minimal)"])
      let message = folder.verdict(environment: [:])
      let expected = "highwater.yml:1:\(key.count + 3): error: `\(key)` must not be in `.git`"
      #expect(message.hasPrefix(expected), "\(message)")
    }
  }

  @Test("The link of a commit, which pages publish, has no variable")
  func fixedLink() throws {
    let link = "links: {commit: \"https://x/${TOKEN}/{commit}\"}"
    let folder = try ProjectFolder(files: ["highwater.yml": "\(link)\n\(Self.minimal)"])
    let message = folder.verdict(environment: ["TOKEN": "hush"])
    #expect(message.contains("error: `commit` must not contain a variable") && !message.contains("hush"), "\(message)")
  }

  @Test("Without an environment, variables stay as they are, and none of them is needed")
  func withoutVariables() throws {
    let folder = try ProjectFolder(
      files: [
        "highwater.yml": """
        version: 1
        history: "postgresql://u:${PASSWORD}@h/d"
        links: {commit: "https://git.example/{commit}"}
        webhooks: ["${HOOK}"]
        scenarios:
          - {name: load, target: {command: [a], cwd: "${FOLDER}"}, ready: {http: "http://h:${PORT}/"},
             steps: [{http: {url: "http://h/", headers: {Key: "${KEY}"}}}]}
        """
      ])
    let project = try ProjectFile.load(
      "highwater.yml", environment: nil, webhooksNeeded: false, workingDirectory: folder.path)
    #expect(project.scenarios.first?.target.workingDirectory == "\(folder.path)/${FOLDER}")
    #expect(project.links.commit == "https://git.example/{commit}")
    #expect(project.webhooks.first?.unsetVariables == ["HOOK"])
  }

  @Test("Without a repository, the root is the folder of the project file")
  func rootWithoutRepository() throws {
    let folder = try ProjectFolder(isRepository: false, files: ["ci/highwater.yml": Self.minimal])
    #expect(try folder.load("ci/highwater.yml").root == "\(folder.path)/ci")
  }

  @Test("A webhook names its unset variables, which are errors only if it is needed")
  func webhooksNotNeeded() throws {
    let hooks = """
      webhooks:
        - {url: "${A}/x", on: failure, format: slack}
        - {url: "https://h/${B}"}
        - {url: "https://h/", secret: "${C}"}
        - {url: "https://h/", on: change}
      """
    let folder = try ProjectFolder(files: ["highwater.yml": "\(hooks)\n\(Self.minimal)"])
    let environment = ["A": "http://host:8080", "C": ""]
    let project = try folder.load(environment: environment, webhooksNeeded: false)
    #expect(project.webhooks.map(\.unsetVariables) == [[], ["B"], ["C"], []])
    #expect(project.webhooks.map(\.reference) == ["${A}/x", "https://h/${B}", "https://h/", "https://h/"])
    #expect(project.webhooks.first?.url.exposed == "http://host:8080/x")
    #expect(project.webhooks.map(\.format) == [.slack, .json, .json, .json])
    #expect(project.webhooks.map(\.occasion) == [.failure, .always, .always, .change])
    let error = #expect(throws: ProjectError.self) { try folder.load(environment: environment) }
    #expect(
      error?.diagnostics.map(\.problem)
        == ["B", "C"].map { "the environment variable `\($0)` is not set, or is empty" })
  }

  @Test("A scenario is built by its own command, or else by the project's; the shell replaces their variables")
  func builds() throws {
    let scenarios = """
      scenarios:
        - {name: a, target: {shell: x}}
        - {name: b, target: {shell: x}, build: [cc, -o, "a b", "${CC}"]}
      """
    let folder = try ProjectFolder(files: ["highwater.yml": "version: 1\nbuild: make ${X}\n\(scenarios)"])
    let builds = try folder.load().scenarios.map(\.build)
    #expect(builds == [.shell("make ${X}"), .arguments(["cc", "-o", "a b", "${CC}"])])
    let unbuilt = try ProjectFolder(files: ["highwater.yml": "version: 1\n\(scenarios)"])
    #expect(try unbuilt.load().scenarios.map { $0.build == nil } == [true, false])
  }

  @Test("The value of a variable is never printed")
  func secrets() throws {
    let hooks = "webhooks: [{url: '${A}'}, {url: 'http://${A}:x/'}]\nhistory: ${A}\n"
    let folder = try ProjectFolder(files: ["highwater.yml": hooks + Self.minimal])
    let verdict = folder.verdict(environment: ["A": "pass word\u{1b}"])
    #expect(verdict.split(separator: "\n").count == 5)
    #expect(!verdict.contains("pass"))
  }

  @Test("A commit link is an address with a placeholder for the commit")
  func links() throws {
    let link = "links: {commit: \"https://git.example/core/commit/{commit}?tab=files\"}\n"
    let folder = try ProjectFolder(files: ["highwater.yml": link + Self.minimal])
    let links = try folder.load().links
    #expect(links == BuildLinks(commit: "https://git.example/core/commit/{commit}?tab=files"))
  }

  @Test("An environment has a name and a list of ignored fields")
  func environmentRule() throws {
    let folder = try ProjectFolder(
      files: ["highwater.yml": "environment: {name: ci-runner, ignore: [cpus, memoryLimit]}\n" + Self.minimal]
    )
    #expect(
      try folder.load().environment == EnvironmentRule(name: "ci-runner", ignoredFields: [.cpus, .memoryLimit])
    )
  }

  @Test("A thousand scenarios and a matrix of two thousand load", .timeLimit(.minutes(60)))
  func many() throws {
    let body = """
          tags: [server, slow]
          target: {command: [redis-server, --port, 7001], env: {A: b, C: d}, stdin: pipe}
          setup: [[mkdir, -p, run], "rm -rf run"]
          ready: {log: "Ready to accept", within: 10s}
          steps: [{phase: load}, {run: [client, -q]}, {wait: 2s}, {repeat: {times: 9, steps: [{send: x}]}}]
          gate: {peak_rss: [3%, 512KiB], steady_rss: {tolerance: 3%, limit: 200MiB}}

      """
    let scenarios = (0..<1000).map { "  - name: s\($0)\n\(body)" }.joined()
    let axis = (0..<50).map(String.init).joined(separator: ",")
    let matrix = "  - name: m\n    matrix: {a: [\(axis)], b: [\(axis.prefix(109))]}\n\(body)"
    let folder = try ProjectFolder(files: ["highwater.yml": "version: 1\nscenarios:\n\(scenarios)\(matrix)"])
    #expect(try folder.load().scenarios.count == 1000 + 50 * 40)
  }

  @Test("Too many scenarios are one error")
  func tooMany() throws {
    let axis = (0..<70).map(String.init).joined(separator: ",")
    let matrices = (0..<2).map {
      "  - {name: m\($0), matrix: {a: [\(axis)], b: [\(axis)]}, target: {shell: x}}\n"
    }
    let folder = try ProjectFolder(files: ["highwater.yml": "version: 1\nscenarios:\n\(matrices.joined())"])
    #expect(
      folder.verdict() == """
        highwater.yml:4:5: error: the project is too large: more than 5000 scenarios, or 750000 values in them
          hint: split the suite over several project files
        """
    )
  }
}

@Suite("Included files")
struct IncludeTests {
  static func scenario(_ name: String) -> String { "scenarios: [{name: \(name), target: {shell: x}}]\n" }

  @Test("Included files follow the file's own scenarios, in the order of the patterns, sorted by name, each once")
  func order() throws {
    let folder = try ProjectFolder(
      files: [
        "highwater.yml": "version: 1\ninclude: [\"s/*.yml\", s/a.yml, \"h*.yml\", t/z.yml]\n"
          + Self.scenario("own"),
        "s/b.yml": Self.scenario("b"), "s/a.yml": "version: 1\n" + Self.scenario("a"), "t/z.yml": Self.scenario("z"),
      ]
    )
    #expect(try folder.load().scenarios.map(\.name.text) == ["own", "a", "b", "z"])
  }

  @Test("The project's defaults apply to included files")
  func defaults() throws {
    let folder = try ProjectFolder(
      files: ["highwater.yml": "version: 1\ndefaults: {warmup: 7}\ninclude: [a.yml]\n", "a.yml": Self.scenario("a")]
    )
    #expect(try folder.load().scenarios.map(\.warmup) == [7])
  }

  @Test("Errors are listed per file, each with its file name")
  func errors() throws {
    let folder = try ProjectFolder(
      files: [
        "highwater.yml":
          "version: 1\ninclude: [\"*.inc\"]\nscenarios: [{name: twice, target: {shell: x}, warmup: x}]\n",
        "a.inc": "include: [x]\nscenarios: [{name: twice, target: {shell: x}}]\n",
        "b.inc": "scenarios: [\n", "c.inc": "", "d.inc": "version: 1\n", "e.inc": "scenarios: {a: b}\n",
        "f.inc": "scenarios: []\n",
      ]
    )
    #expect(
      folder.verdict() == """
        highwater.yml:3:55: error: `warmup` must be a whole number from 0 to 100, not `x`
          hint: such as `warmup: 1`
        a.inc:1:1: error: no included file has the key `include`
          hint: its keys are `version`, `scenarios`
        a.inc:2:13: error: duplicate scenario name `twice`
          hint: the first is at highwater.yml:3:13
        b.inc:2:1: error: invalid YAML: did not find expected node content while parsing a flow node
        c.inc:1:1: error: the file is empty
          hint: an included file has a list `scenarios:`
        d.inc:1:1: error: an included file needs a list `scenarios:`
        e.inc:1:12: error: `scenarios` must be a list, not a mapping
          hint: such as `scenarios: [{name: load, …}]`
        f.inc:1:12: error: the file has no scenarios
          hint: remove the file, or add a scenario
        """
    )
  }

  @Test("A link out of the project's folder is rejected")
  func link() throws {
    let outside = try ProjectFolder(files: ["a.yml": Self.scenario("a")])
    let folder = try ProjectFolder(files: ["highwater.yml": "version: 1\ninclude: [in/a.yml]\n"])
    try FileManager.default.createSymbolicLink(atPath: "\(folder.path)/in", withDestinationPath: outside.path)
    #expect(
      folder.verdict() == """
        highwater.yml:2:11: error: `in/a.yml` is outside the project's folder
          hint: included files must be in the folder that contains `.git`
        """
    )
  }

  @Test("A hundred files may be included; one more is an error")
  func tooMany() throws {
    let folder = try ProjectFolder(files: ["highwater.yml": "version: 1\ninclude: [\"s/*\"]\n"])
    for index in 0..<100 { try folder.write("s/\(index).yml", Self.scenario("s\(index)")) }
    #expect(try folder.load().scenarios.count == 100)
    try folder.write("s/x.yml", Self.scenario("x"))
    #expect(folder.verdict() == "highwater.yml:2:11: error: more than 100 files are included")
  }

  @Test("Pattern characters in the path of the root are taken literally")
  func patternInRoot() throws {
    let folder = try ProjectFolder(
      isRepository: false,
      files: ["[a]*/highwater.yml": "version: 1\ninclude: [\"s*\"]\n", "[a]*/s.yml": Self.scenario("s")]
    )
    #expect(try folder.load("[a]*/highwater.yml").scenarios.map(\.name.text) == ["s"])
  }
}
