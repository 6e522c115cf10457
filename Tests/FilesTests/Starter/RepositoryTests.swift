import FoundationEssentials
import GateCore
import Testing

@testable import GateApplication

/// The files of a repository, and the command that should be found for it.
struct StarterExample: Sendable, CustomTestStringConvertible {
  let files: [String: String]
  let kind: Starter.Kind
  let command: [String]
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
      if text.hasPrefix("#!") || text.hasPrefix("\u{7f}ELF") {
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
      }
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
      ], kind: .swift, command: [".build/release/app"], build: "swift build -c release"),
    StarterExample(
      files: [
        "Package.swift": ".executableTarget(name: \"a\") .executableTarget(name: \"b\")", ".build/release/b": "",
      ],
      kind: .swift, command: [".build/release/b"], build: "swift build -c release"),
    StarterExample(
      files: ["Cargo.toml": "[package]\nname = \"one\" # two\n[dependencies]\nname = \"x\"", "src/main.rs": ""],
      kind: .cargo, command: ["target/release/one"], build: "CARGO_PROFILE_RELEASE_DEBUG=1 cargo build --release"),
    StarterExample(
      files: [
        "Cargo.toml": "[workspace]\nmembers = [\"crates/*\"]", "crates/lib/Cargo.toml": "[package]\nname = \"lib\"",
        "crates/srv/Cargo.toml": "[package]\nname = \"srv\"", "crates/srv/src/main.rs": "",
      ], kind: .cargo, command: ["target/release/srv"], build: "CARGO_PROFILE_RELEASE_DEBUG=1 cargo build --release"),
    StarterExample(
      files: go.merging(["main.go": "// A\npackage main\n"]) { $1 }, kind: .go, command: ["bin/hello"],
      build: "go build -o bin/ ./..."),
    StarterExample(
      files: go.merging(["lib.go": "package hello", "cmd/served/main.go": "package main", "bin/served": ""]) { $1 },
      kind: .go, command: ["bin/served"], build: "go build -o bin/ ./..."),
    StarterExample(
      files: go.merging(["lib.go": "package hello", "cmd/$(touch x)/main.go": "", "bin/$(touch x)": ""]) { $1 },
      kind: .go, command: ["bin/$(touch x)"], build: "go build -o bin/ ./..."),
    StarterExample(
      files: [
        "CMakeLists.txt": """
        project(demo C)
        add_executable(other ALIAS x)
        Add_Executable( ${PROJECT_NAME}
          main.c)
        """
      ], kind: .cmake, command: ["build/demo"],
      build: "cmake -S . -B build -DCMAKE_BUILD_TYPE=RelWithDebInfo && cmake --build build"),
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
      ], kind: .make, command: ["./pack"], build: "make"),
    StarterExample(
      files: ["GNUmakefile": "a: b\nout/b:\n\tcc\n", "out/b": "#!/bin/sh"], kind: .make, command: ["out/b"],
      build: "make"),
    StarterExample(
      files: [
        "configure": "#!/bin/sh", "Makefile.in": "", "Makefile": "all: tool\ntool:\n\tcc\n", "tool": "\u{7f}ELF",
      ], kind: .make, command: ["./tool"], build: "test -e Makefile || ./configure && make"),
    StarterExample(
      files: ["Package.swift": ".library(name: \"a\")", "Makefile": "tool:\n\tcc\n", "tool": "\u{7f}ELF"],
      kind: .make, command: ["./tool"], build: "make"),
    StarterExample(files: ["run": "\u{7f}ELF", "deploy": "#!/bin/sh"], kind: .executable, command: ["./run"]),
    StarterExample(
      files: ["Dockerfile": "WORKDIR /app\nENTRYPOINT [\"ruby\"]\nCMD [\"/app/web.rb\", \"-q\"]\n"], kind: .command,
      command: ["ruby", "web.rb", "-q"]),
    StarterExample(
      files: ["Containerfile": "WORKDIR /srv\nCMD /srv/api --all\n"], kind: .command, command: ["./api", "--all"]),
  ]

  @Test("Routes are the paths that a service answers to a GET, as each kind of source writes them")
  func routes() throws {
    let files = [
      "app.py": "@app.route('/a/<int:id>')\n@app.route('/b', methods=['POST'])\n@api.get(\"/c\")\nopen('/etc/d')\n",
      "shop/urls.py": "path('items/<slug:name>/', view)\n", "web.go": "mux.HandleFunc(\"GET /g\", get)\n",
      "main.rs": "(\"GET\", \"/r\") => index(),\n(\"POST\", \"/s\") => add(),\n.route(\"/t/{id}\", get(t))\n",
      "src/main/java/com/example/Web.java": "@GetMapping(\"/j/{id}\")\n@PostMapping(\"/k\")\n",
      "server.js": "router.get('/n/:id/*', a)\nget('/stop')\n",
      "openapi.yaml": "paths:\n  /o/{id}:\n    get:\n", "tests/web.py": "client.get('/tested')\n",
      "x.js": "get('/healthz')\nget('/n')\n",
    ]
    let found = try repository(files).routes
    #expect(Set(found) == ["/a/1", "/c", "/g", "/items/1/", "/j/1", "/n", "/o/1", "/r", "/t/1"], "\(found)")
    #expect(RouteText.routes(in: "get('/healthz')", of: "x.js") == ["/healthz"])
  }

  @Test("Before the routes of a file stands what it, or the file that uses it, says")
  func prefixes() throws {
    let files = [
      "app.py": "app.register_blueprint(shop.bp, url_prefix='/v1')\n@app.route('/top')\n",
      "shop/__init__.py": "bp = Blueprint('shop', __name__, url_prefix='/shop')\n@bp.route('/list')\n",
      "server.js": "app.use('/api', require('./routes/items'))\n", "routes/items.js": "router.get('/all', all)\n",
      "web.go": "api := r.Group(\"/g\")\napi.GET(\"/sum\", sum)\n",
      "Web.java": "@RequestMapping(\"/spring\")\npublic class Web {\n  @GetMapping(\"/j\")\n",
      "site/urls.py": "path('blog/', include('blog.urls'))\n", "blog/urls.py": "path('entry/', view)\n",
    ]
    let found = try repository(files).routes
    let expected = ["/v1/shop/list", "/shop/list", "/top", "/api/all", "/g/sum", "/spring/j", "/blog/entry/"]
    #expect(Set(expected).isSubset(of: found), "\(found)")
    let top = try #require(found.firstIndex(of: "/g/sum"))
    #expect(found.firstIndex(of: "/sum").map { $0 > top } == true, "\(found)")
  }

  @Test("A prefix that names no file, in one without routes, is for those of all")
  func prefixOfAll() throws {
    let files = ["app.py": "app.register_blueprint(bp, url_prefix='/v2')\n", "x/list.py": "@bp.route('/all')\n"]
    #expect(try repository(files).routes.prefix(2) == ["/v2/all", "/all"])
  }

  @Test("Paths in a table, or passed to a function of the service, come after those that are named as routes")
  func guesses() throws {
    let files = [
      "a.go": "routes := map[string]handler{\n  \"/table\": list, \"/etc/hosts\": x,\n}\nanswer(\"/own\", one)\n",
      "b.js": "cache.of('/found?' + word)\napp.get('/named', a)\nadd('post', '/new')\nread('/tmp')\n",
    ]
    #expect(try repository(files).routes == ["/named", "/table", "/own", "/found"])
  }

  private static let pip = "test -e .venv || python3 -m venv .venv && .venv/bin/pip install --quiet"
  private static let address = "127.0.0.1:{{port}}"

  private static let services = [
    StarterExample(
      files: ["requirements.txt": "flask\ngunicorn", "app.py": "from flask import Flask\napp = Flask(__name__)\n"],
      kind: .python, command: [".venv/bin/python3", "-m", "gunicorn", "--bind", address, "app:app"],
      build: "\(pip) -r requirements.txt"),
    StarterExample(
      files: ["shop/__init__.py": "web = flask.Flask(__name__)\n", "shop/x.py": "", "pyproject.toml": ""],
      kind: .python,
      command: ["python3", "-m", "flask", "--app", "shop:web", "run", "--port", "{{port}}"]),
    StarterExample(
      files: ["src/shop/main.py": "api: FastAPI = FastAPI()\n", "setup.py": "install_requires=['fastapi']"],
      kind: .python, command: [".venv/bin/python3", "-m", "uvicorn", "shop.main:api", "--port", "{{port}}"],
      build: "\(pip) -e ."),
    StarterExample(
      files: ["app.py": "def app(environ, start_response):\n    pass\n"], kind: .python,
      command: ["python3", "-m", "gunicorn", "--bind", address, "app:app"]),
    StarterExample(
      files: ["manage.py": "", "site1/wsgi.py": ""], kind: .python,
      command: ["python3", "-m", "gunicorn", "--bind", address, "site1.wsgi"]),
    StarterExample(
      files: ["requirements.txt": "Django", "backend/manage.py": "", "backend/site1/wsgi.py": ""], kind: .python,
      command: [".venv/bin/python3", "-m", "gunicorn", "--bind", address, "site1.wsgi"],
      build: "\(pip) -r requirements.txt"),
    StarterExample(
      files: ["setup.py": "", "shop/__init__.py": "def create_app(config=None):\n    app = Flask(__name__)\n"],
      kind: .python,
      command: ["python3", "-m", "flask", "--app", "shop:create_app", "run", "--port", "{{port}}"]),
    StarterExample(
      files: ["requirements.txt": "Flask==2.2\ngunicorn\n", "wsgi.py": "import shop\napp = shop.create_app()\n"],
      kind: .python, command: [".venv/bin/python3", "-m", "gunicorn", "--bind", address, "wsgi:app"],
      build: "\(pip) -r requirements.txt"),
    StarterExample(
      files: ["manage.py": "", "Procfile": "release: x\nweb: daphne -p $PORT site1:app\n"], kind: .python,
      command: ["daphne", "-p", "{{port}}", "site1:app"]),
  ]

  private static let java = [
    StarterExample(
      files: [
        "pom.xml": "<parent><artifactId>base</artifactId></parent><artifactId>coffee</artifactId>",
        "src/main/java/org/x/App.java": "public static void main(String[] a) {}", "target/classes/x": "",
        "target/coffee-1.jar": "",
      ], kind: .maven, command: ["java", "-cp", "target/classes", "org.x.App"],
      build: "mvn --batch-mode --quiet package"),
    StarterExample(
      files: ["pom.xml": "spring-boot-maven-plugin", "target/a-1.jar": "", "target/a-1-sources.jar": ""],
      kind: .maven, command: ["java", "-jar", "target/a-1.jar"], build: "mvn --batch-mode --quiet package"),
    StarterExample(
      files: [
        "pom.xml": "<modules><module>core</module>\n<module>web</module></modules>",
        "core/pom.xml": "<artifactId>core</artifactId>", "core/target/core-1.jar": "", "core/target/classes/x": "",
        "core/src/main/java/org/x/Tool.java": "public static void main(String[] a) {}",
        "web/pom.xml": "<artifactId>web</artifactId> spring-boot-maven-plugin", "web/target/web-1.jar": "",
      ], kind: .maven, command: ["java", "-jar", "web/target/web-1.jar"], build: "mvn --batch-mode --quiet package"),
    StarterExample(
      files: [
        "build.gradle": "plugins {\n  id 'application'\n}\napplication { mainClass = 'x.App' }", "gradlew": "#!/bin/sh",
        "settings.gradle": "rootProject.name = 'tea'",
      ], kind: .gradle, command: ["java", "-cp", "build/install/tea/lib/*", "x.App"],
      build: "./gradlew --quiet installDist"),
    StarterExample(
      files: ["build.gradle.kts": "plugins { java }", "build/libs/tea.jar": ""], kind: .gradle,
      command: ["java", "-jar", "build/libs/tea.jar"], build: "gradle --quiet assemble"),
    StarterExample(files: ["a.jar": "x"], kind: .jar, command: ["java", "-jar", "a.jar"]),
    StarterExample(
      files: ["meson.build": "executable('tool', 'a.c')"], kind: .meson, command: ["build/tool"],
      build: "meson setup build && meson compile -C build"),
    StarterExample(
      files: [
        "Makefile": "all:\n\tcc\n", "out/test_x": "\u{7f}ELF", "out/srv": "\u{7f}ELF", "out/a.so.1": "\u{7f}ELF",
      ],
      kind: .make, command: ["out/srv"], build: "make"),
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
      ], kind: .node, command: ["node", "b/index.js"], build: "npm ci && npm run build"),
    StarterExample(
      files: ["package.json": #"{"scripts": {"start": "next start -p 3"}}"#, "node_modules/.bin/next": ""], kind: .node,
      command: ["node_modules/.bin/next", "start", "-p", "3"]),
    StarterExample(
      files: ["setup.py": "", "src/tool/__main__.py": "", "requirements.txt": ""], kind: .python,
      command: [".venv/bin/python3", "-m", "tool"], build: "\(pip) -r requirements.txt"),
    StarterExample(
      files: ["pyproject.toml": "[project]\nname = 'x'\n[project.scripts]\ntool = \"x:main\"\n"], kind: .python,
      command: [".venv/bin/tool"], build: "\(pip) -e ."),
    StarterExample(
      files: ["pyproject.toml": "[tool.black]\n", "app.py": ""], kind: .python, command: ["python3", "app.py"]),
  ]

  /// The likeliest command of the first kind that has one; what is built comes before what is only declared.
  private func found(_ files: [String: String]) throws -> (kind: ProjectKind, candidate: StartCandidate)? {
    let repository = try repository(files)
    for kind in ProjectKind.all where kind.isPresent(repository) {
      let candidates = kind.candidates(repository)
      if let best = candidates.first(where: { $0.isBuilt(in: repository) }) ?? candidates.first { return (kind, best) }
    }
    return nil
  }

  @Test("The command, and what builds it", arguments: compiled + interpreted + services + java)
  func command(example: StarterExample) throws {
    let (kind, candidate) = try #require(try found(example.files))
    #expect(kind.kind == example.kind && candidate.words == example.command)
    #expect(try kind.build(repository([:])) == example.build)
  }

  @Test(
    "The scenario is named after the project or its folder, not after what runs it",
    arguments: [
      (["package.json": #"{"name": "@me/shop", "main": "a.js"}"#, "a.js": ""], "shop"),
      (["pom.xml": "<artifactId>coffee</artifactId>", "src/main/java/A.java": "static void main("], "coffee"),
      (["app.py": "app = Flask(__name__)"], nil), (["report.py": ""], "report"), (["a.jar": ""], "a"),
    ])
  func name(files: [String: String], name: String?) throws {
    let (kind, candidate) = try #require(try found(files))
    let scenario = try repository([:]).starter(of: kind.kind, candidate).scenario
    #expect(scenario.name.text == name ?? scratch.path.split(separator: "/").last.map(String.init))
  }

  @Test("A package below src needs a path to it")
  func sourceFolder() throws {
    let candidate = try found(["setup.py": "", "src/tool/__main__.py": ""])?.candidate
    #expect(candidate?.variables == ["PYTHONPATH": "src"] && candidate?.name == "tool")
  }

  @Test(
    "Nothing is found in files that name no program",
    arguments: [
      [:], ["a": "#!/bin/sh", "b": "#!/bin/sh"], ["Package.swift": ""], ["package.json": "{"], ["Cargo.toml": "[["],
      ["go.mod": "module"], ["Makefile": "a.o:\n%: x\n$(shell x): y\n"], ["CMakeLists.txt": "add_executable("],
    ])
  func nothing(files: [String: String]) throws {
    #expect(try found(files) == nil)
  }

  @Test("CI files belong to the root of the repository, and the scenario to its folder")
  func subfolder() throws {
    for name in [".git/HEAD", ".gitlab-ci.yml", "Jenkinsfile", "svc/run"] { _ = try scratch.put("", at: name) }
    let repository = Repository(at: "\(scratch.path)/svc")
    #expect([".gitlab-ci.yml", "Jenkinsfile", "run"].map(repository.rootHas) == [true, true, false])
    #expect(repository.shown("memory.yml") == "../memory.yml")
    let scenario = repository.starter(of: .command, StartCandidate(["./a b"])).scenario
    #expect(repository.inFolder("make") == "cd svc && make")
    #expect(scenario.root == scratch.path && scenario.target.workingDirectory == "\(scratch.path)/svc")
    #expect(scenario.name.text == "svc", "a name with a space cannot be that of a scenario")
  }
}
