import GateCore
import Testing

@testable import GateApplication

@Suite("The URL of a history")
struct DatabaseURLTests {
  private static let variables = [
    "PW": "s3cret%40%2F", "RAW": "s3c@/ret", "URL": "postgres://ci:s3cret@db.example:6432/gate?sslmode=verify-full",
  ]

  @Test(
    "A message shows user, host and database, and never a password",
    arguments: [
      ("postgresql://ci@db.example:5432/gate?sslmode=require", "postgresql://ci@db.example:5432/gate"),
      ("postgresql://ci:${PW}@db.example/gate", "postgresql://ci@db.example/gate"),
      ("postgresql://db.example/gate?user=ci&password=${PW}", "postgresql://db.example/gate"),
      ("${URL}", "postgres://ci@db.example:6432/gate"),
      ("postgresql:///gate", "postgresql:///gate"),
      ("postgresql://", "postgresql://"),
    ])
  func shown(text: String, shown: String) throws {
    let address = try #require(try DatabaseURL.address(text, environment: Self.variables))
    #expect(address.shown == shown)
    #expect(!"\(address)".contains("s3cret"))
    #expect(address.url.exposed.contains("${") == false && address.unsetVariables.isEmpty)
  }

  @Test(
    "A password that is not a variable is refused",
    arguments: ["postgresql://ci:s3cret@db/gate", "postgresql://ci:${PW}x@db/gate", "postgres://db/gate?password=x"])
  func password(text: String) {
    #expect(throws: DatabaseURL.Fault.password) { try DatabaseURL.address(text, environment: Self.variables) }
  }

  @Test(
    "A URL that libpq would read in another way is refused, because messages would show parts of a password",
    arguments: [
      "postgresql://ci:${RAW}@db/gate", "postgresql://ci:a/${NONE}@db/gate", "postgresql://db:x/gate",
      "postgresql://db/gate?sslmode", "postgresql://db/a b",
    ])
  func malformed(text: String) {
    #expect(throws: DatabaseURL.Fault.self) { try DatabaseURL.address(text, environment: Self.variables) }
  }

  @Test("The URL of anything else is refused: a folder would have its name", arguments: ["http", "sqlite", "file"])
  func otherScheme(scheme: String) {
    for text in ["\(scheme)://ci@db/gate", "${OTHER}"] {
      let fault = #expect(throws: DatabaseURL.Fault.self) {
        try DatabaseURL.address(text, environment: ["OTHER": "\(scheme)://x"])
      }
      #expect(fault == .scheme(scheme))
      #expect(
        fault?.diagnostic.problem == "a history is a SQLite file or a PostgreSQL database, and `\(scheme):` is neither")
    }
  }

  @Test("An unset variable is told when the database is needed; a path is no URL")
  func others() throws {
    let address = try DatabaseURL.address("postgresql://ci:${NONE}@db/gate", environment: [:])
    #expect(address?.unsetVariables == ["NONE"])
    #expect(try DatabaseURL.address("runs/history.sqlite", environment: [:]) == nil)
  }

  @Test("A project file names the database, and the project in it")
  func projectFile() throws {
    let text = "version: 1\nscenarios: [{name: a, target: {command: [ls]}}]\nhistory: "
    var root = ""
    func history(_ value: String) throws -> HistoryLocation? {
      let folder = try ProjectFolder(files: ["highwater.yml": text + value])
      root = folder.path
      return try folder.load().history
    }
    #expect(try history("\"postgresql://ci@db/gate\"")?.shown == "postgresql://ci@db/gate")
    #expect(try history("{url: \"postgresql://ci@db/gate\", project: team/shop}")?.project == "team/shop")
    #expect(try history("{url: runs.sqlite}") == .file("\(root)/runs.sqlite"))
    let error = #expect(throws: ProjectError.self) { try history("{url: runs.sqlite, project: shop}") }
    #expect(error?.diagnostics.first?.problem == "a project has a name in a database only")
  }
}
