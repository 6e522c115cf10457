import GateCore

// Projects in Python: services of the usual frameworks, packages, scripts.

extension ProjectKind {
  static let pythonFiles = ["pyproject.toml", "setup.py", "requirements.txt", "manage.py"]

  private static let environment = ".venv/bin/python3"

  /// Dependencies go into an environment of their own: Debian's Python refuses to install packages elsewhere.
  ///
  /// The project itself stays where it is, as a developer has it who uses the same environment.
  @Sendable static func pythonBuild(_ repository: Repository) -> String? {
    let project = repository.text("pyproject.toml") + repository.text("setup.py")
    let hasDependencies = project.contains(#/(?:dependencies|install_requires)\s*=\s*\[\s*["']/#)
    let hasScripts = project.contains(#/(?m)^\[project\.scripts\]|^\[tool\.poetry\.scripts\]|console_scripts/#)
    let packages =
      repository.has("requirements.txt") ? "-r requirements.txt" : hasDependencies || hasScripts ? "-e ." : nil
    // One that is there may be of another Python than the first in the search path, and would be broken by that.
    return packages.map { "test -e .venv || python3 -m venv .venv && .venv/bin/pip install --quiet \($0)" }
  }

  /// The program that runs the project, as it is after the build.
  static func interpreter(_ repository: Repository) -> String {
    pythonBuild(repository) == nil && !repository.has(environment) ? "python3" : environment
  }

  static func python(_ repository: Repository, with interpreter: String) -> [StartCandidate] {
    let project = TOMLText(repository.text("pyproject.toml"))
    let name = project.values(of: "name", in: "project").first ?? project.values(of: "name", in: "tool.poetry").first
    let services = procfile(repository) + django(repository, interpreter) + applications(repository, interpreter)
    let all =
      services + packages(repository, interpreter) + scripts(project, interpreter)
      + files(repository).map { StartCandidate([interpreter, $0], name: name ?? scriptName($0)) }
    return all.map { candidate in
      var candidate = candidate
      if candidate.name == nil { candidate.name = name }
      if interpreter.contains("/") { candidate.needs.append(interpreter) }
      return candidate
    }
  }

  // MARK: Services

  /// The `web` process of a Procfile, as hosts of applications read it; `$PORT` is a free port.
  private static func procfile(_ repository: Repository) -> [StartCandidate] {
    guard let line = repository.text("Procfile").split(separator: "\n").first(where: { $0.hasPrefix("web:") }) else {
      return []
    }
    let text = line.dropFirst(4).replacing("${PORT}", with: FreePort.placeholder)
      .replacing("$PORT", with: FreePort.placeholder)
    guard !text.contains(where: { "&|;<>$`'\"\\*?()=".contains($0) }) else { return [] }
    let words = text.split(separator: " ").map(String.init)
    guard let first = words.first else { return [] }
    let isInstalled = repository.has(".venv/bin/\(first)")
    return [StartCandidate(isInstalled ? [".venv/bin/\(first)"] + words.dropFirst() : words)]
  }

  private static func django(_ repository: Repository, _ interpreter: String) -> [StartCandidate] {
    let folders = [nil] + repository.folders(in: ".").map(Optional.some)
    guard let folder = folders.first(where: { repository.isFile(path($0, "manage.py")) }) else { return [] }
    let site = repository.folders(in: folder ?? ".").first { repository.isFile(path(folder, $0, "wsgi.py")) }
    let server = withModules(site.map { gunicorn("\($0).wsgi", interpreter) } ?? [], in: folder)
    let manage = path(folder, "manage.py")
    let own = StartCandidate([interpreter, manage, "runserver", "--noreload", "127.0.0.1:\(FreePort.placeholder)"])
    return (server + [own]).map { candidate in
      var candidate = candidate
      candidate.name = site
      return candidate
    }
  }

  /// Without those parts that are nil or empty.
  private static func path(_ parts: String?...) -> String {
    parts.compactMap(\.self).filter { !$0.isEmpty }.joined(separator: "/")
  }

  /// A file in which an application is looked for.
  private struct Module {
    let file: String
    let name: String
    /// The folder with its package, if that is not the project's.
    let folder: String?

    /// `package` is the name of a folder below `folder`, or empty.
    init(_ name: String, in package: String, below folder: String?) {
      self.folder = folder
      file = path(folder, package, "\(name).py")
      self.name = [package, name == "__init__" ? "" : name].filter { !$0.isEmpty }.joined(separator: ".")
    }

    static func all(in repository: Repository) -> [Module] {
      let names = ["main", "app", "server", "api", "wsgi", "asgi", "application", "__init__"]
      let packages = [""] + repository.folders(in: ".").filter { $0 != "src" }
      let own = packages.flatMap { package in names.map { Module($0, in: package, below: nil) } }
      let sources = [""] + repository.folders(in: "src")
      let inSources = sources.flatMap { package in names.map { Module($0, in: package, below: "src") } }
      return (own + inSources).filter { repository.isFile($0.file) }
    }
  }

  /// The servers of the applications that a module defines, or that one of its functions makes.
  private static func applications(_ repository: Repository, _ interpreter: String) -> [StartCandidate] {
    Module.all(in: repository).flatMap { module -> [StartCandidate] in
      let text = repository.text(module.file)
      let made = text.matches(of: #/(?m)^(\w+)\s*(?::[^=\n]+)?=\s*(?:\w+\.)*(\w+)\(/#)
      var found = made.flatMap { match -> [StartCandidate] in
        let type = match.output.2.contains(#/^\w+_app(?:lication)?$/#) ? framework(of: repository) : match.output.2
        return servers(of: "\(module.name):\(match.output.1)", madeBy: type, repository, interpreter)
      }
      if let plain = text.firstMatch(of: #/(?m)^def (app|application)\(\s*environ/#) {
        found += gunicorn("\(module.name):\(plain.output.1)", interpreter)
      }
      if let factory = text.firstMatch(of: #/(?m)^def ((?:create|make|get|build)_app(?:lication)?)\(/#) {
        let type = text.firstMatch(of: #/\b(Flask|FastAPI|Starlette|Quart)\(/#)?.output.1 ?? ""
        let function = "\(module.name):\(factory.output.1)"
        found += servers(of: function, isFactory: true, madeBy: type, repository, interpreter)
      }
      return withModules(found, in: module.folder)
    }
  }

  /// The framework that the dependencies name, by its type of applications.
  private static func framework(of repository: Repository) -> Substring {
    ["Flask", "FastAPI", "Starlette", "Quart"].first { mentions($0.lowercased(), repository) } ?? ""
  }

  /// The candidates with the modules of a folder that is not the project's.
  private static func withModules(_ candidates: [StartCandidate], in folder: String?) -> [StartCandidate] {
    guard let folder else { return candidates }
    return candidates.map { candidate in
      var candidate = candidate
      candidate.variables = ["PYTHONPATH": folder]
      return candidate
    }
  }

  /// The servers of an application, or of the function that makes it.
  private static func servers(
    of application: String, isFactory: Bool = false, madeBy type: Substring, _ repository: Repository,
    _ interpreter: String
  ) -> [StartCandidate] {
    switch type {
    case "FastAPI", "Starlette", "Litestar", "Quart", "Sanic":
      let words = [interpreter, "-m", "uvicorn", application, "--port", FreePort.placeholder]
      return [StartCandidate(words + (isFactory ? ["--factory"] : []))]
    case "Flask":
      let own = StartCandidate(
        [interpreter, "-m", "flask", "--app", application, "run", "--port", FreePort.placeholder])
      let server = gunicorn(isFactory ? "\(application)()" : application, interpreter)
      return mentions("gunicorn", repository) ? server + [own] : [own] + server
    case "Bottle", "Falcon", "App": return gunicorn(application, interpreter)
    default: return []
    }
  }

  /// As a module of the interpreter, and as a program, which may belong to another one.
  private static func gunicorn(_ application: String, _ interpreter: String) -> [StartCandidate] {
    let rest = ["--bind", "127.0.0.1:\(FreePort.placeholder)", application]
    return [StartCandidate([interpreter, "-m", "gunicorn"] + rest), StartCandidate(["gunicorn"] + rest)]
  }

  private static func mentions(_ package: String, _ repository: Repository) -> Bool {
    ["requirements.txt", "pyproject.toml", "setup.py", "Dockerfile"].contains {
      repository.text($0).lowercased().contains(package)
    }
  }

  // MARK: Programs

  private static func packages(_ repository: Repository, _ interpreter: String) -> [StartCandidate] {
    ["", "src/"].flatMap { folder in
      repository.folders(in: folder.isEmpty ? "." : "src").filter { repository.has("\(folder)\($0)/__main__.py") }
        .map { package in
          var candidate = StartCandidate([interpreter, "-m", package], name: package)
          if !folder.isEmpty { candidate.variables = ["PYTHONPATH": "src"] }
          return candidate
        }
    }
  }

  private static func scripts(_ project: TOMLText, _ interpreter: String) -> [StartCandidate] {
    guard interpreter == environment else { return [] }
    return (project.keys(in: "project.scripts") + project.keys(in: "tool.poetry.scripts")).map { script in
      StartCandidate(program: ".venv/bin/\(script)")
    }
  }

  /// Files with a usual name, and then any that are run.
  private static func files(_ repository: Repository) -> [String] {
    let usual = ["main.py", "app.py", "server.py"].filter(repository.isFile)
    let others = repository.names(in: ".").filter { name in
      name.hasSuffix(".py") && !usual.contains(name) && !["setup.py", "manage.py", "conftest.py"].contains(name)
        && !name.hasPrefix("test_")
    }
    let run = others.filter { repository.text($0).contains("__main__") }
    return usual + run + (others.count == 1 && run.isEmpty ? others : [])
  }

  /// The name of a file that is named after what it does.
  private static func scriptName(_ file: String) -> String? {
    let name = String(file.dropLast(3))
    return ["main", "app", "server"].contains(name) ? nil : name
  }
}
