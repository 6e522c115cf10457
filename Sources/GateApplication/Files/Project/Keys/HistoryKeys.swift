import GateCore

/// The keys of `history`, which may also be a file, a URL or `off`.
enum HistoryKeys {
  static let url = Key(
    "url", ValueForm<HistoryLocation>(.text, location), "the URL of a database", standard: nil,
    example: #"url: "postgresql://ci@db.example/highwater""#)
  static let project = Key(
    "project", .line, "the project's name in the database", standard: "its repository", example: "project: shop")
  static let table = KeyTable(
    "history", of: "`history`", [url.row, project.row], only: ["url"],
    example: #"history: {url: "postgresql://ci@db.example/highwater", project: shop}"#)

  static let form = ValueForm<HistoryLocation?>(.any([.text, .mapping { table }])) { value, row, context in
    if value.scalar == "off" { return .some(nil) }
    guard case .mapping = value.content else { return location(value, row, context) }
    return Fields(value, of: table, in: context).flatMap(described)
  }

  private static func described(_ fields: Fields) -> HistoryLocation? {
    guard fields.only() != nil, let location = fields.value(of: url) else { return nil }
    guard let project = fields["project"] else { return location }
    guard case .database(var address) = location else {
      printError(.project, at: project.place, in: fields.context)
      return nil
    }
    fields.take(Self.project, into: &address.project)
    return .database(address)
  }

  private static func location(_ value: YAMLValue, _: KeyRow, _ context: ReadingContext) -> HistoryLocation? {
    if let text = value.scalar {
      do throws(DatabaseURL.Fault) {
        if let address = try DatabaseURL.address(text, environment: context.environment ?? [:]) {
          return .database(address)
        }
      } catch {
        printError(error, at: value.place, in: context)
        return nil
      }
    }
    guard let path = context.path(value, as: "history", example: "history: off"),
      context.isOutsideGit(path, value, as: "history", example: "history: off")
    else { return nil }
    return .file(path)
  }

  private static func printError(_ fault: DatabaseURL.Fault, at place: SourcePlace, in context: ReadingContext) {
    let (problem, hint) = fault.diagnostic
    context.printError(problem, at: place, hint: hint)
  }
}
