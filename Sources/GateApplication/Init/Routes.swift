import FoundationEssentials
import GateCore

extension Repository {
  /// Paths that a service of this repository seems to answer, as its source and its OpenAPI document write them,
  /// likeliest first: those of lines that name a route, then other texts in the form of a path.
  ///
  /// They are guesses: who uses them requests each once. A parameter is replaced with `1`. Paths that may stop or change
  /// something, or have an answer without an end, are left out, and so are probes if there are other paths.
  var routes: [String] {
    let files = sourceFiles.map { path in
      let text = text(path)
      return (path: path, text: text, routes: RouteText.routes(in: text, of: path))
    }
    let prefixes = RoutePrefix.all(in: files)
    let named = files.flatMap { file in
      prefixes.before(file.path).flatMap { prefix in file.routes.map { prefix + $0 } } + file.routes
    }
    let others = prefixes.ofNoOtherFile.flatMap { prefix in files.flatMap(\.routes).map { prefix.path + $0 } }
    let found = named + others + files.flatMap { RouteText.guesses(in: $0.text, of: $0.path) }
    let unique = found.enumerated().filter { !found[..<$0.offset].contains($0.element) }.map(\.element)
    let used = unique.filter { $0 != "/" && !RouteText.isProbe($0) }
    return used.isEmpty ? unique.filter { $0 != "/" } : used
  }

  /// More files are not read.
  private static let mostFiles = 400

  private var sourceFiles: [String] {
    // Not `example`, which many packages of Java have in their names.
    let other = #/(?:^|[\/_.-])(?:tests?|specs?|examples|docs?)(?:[\/_.-]|$)/#
    let all = paths(below: ".", levels: 8).filter { RouteText.isRead($0) && !$0.lowercased().contains(other) }
    return Array(all.prefix(Self.mostFiles))
  }
}

/// The routes of a web service in the text of a file.
enum RouteText {
  private static let endings: Set = [
    "py", "js", "mjs", "cjs", "ts", "go", "java", "kt", "rs", "swift", "rb", "php", "c", "cc", "cpp", "cs",
  ]

  /// Whether a file may have routes.
  static func isRead(_ path: String) -> Bool {
    isDocument(path) || path.split(separator: ".").last.map { endings.contains(String($0)) } ?? false
  }

  private static func isDocument(_ path: String) -> Bool {
    PathText.name(of: path).wholeMatch(of: #/(?:openapi|swagger)\.(?:json|ya?ml)/#) != nil
  }

  /// In the order of the text; a literal counts if its line names a route, a path or a method that reads.
  static func routes(in text: String, of file: String) -> [String] {
    if isDocument(file) {
      return lines(of: text).compactMap { $0.firstMatch(of: documented)?.output.1 }.compactMap(path)
    }
    let isDjango = PathText.name(of: file) == "urls.py"
    let others = Set(prefixLines(of: text))
    let named = readingLines(of: text, isDjango: isDjango).filter { $0.contains(naming) && !others.contains($0) }
    return named.flatMap { line in
      literals(in: line) + (isDjango ? line.matches(of: djangoPath).compactMap { path("/\($0.output.1)") } : [])
    }
  }

  /// Texts in the form of a path, in lines that name nothing: a service may have its routes in a table, or pass them to
  /// a function of its own.
  static func guesses(in text: String, of file: String) -> [String] {
    isDocument(file) ? [] : readingLines(of: text, isDjango: false).flatMap(literals).filter { !isFile($0) }
  }

  /// The paths that stand before the routes of a file or of a group, each with its line, which may name that file.
  static func prefixes(in text: String) -> [(path: String, line: String)] {
    prefixLines(of: text).flatMap { line -> [(String, String)] in
      let django = line.contains("include(") ? line.matches(of: djangoPath).compactMap { path("/\($0.output.1)") } : []
      return (literals(in: line) + django).compactMap { path in
        let trimmed = path.hasSuffix("/") ? String(path.dropLast()) : path
        return trimmed.isEmpty ? nil : (trimmed, String(line))
      }
    }
  }

  /// In Java, the annotation of a class, which stands above it.
  private static func prefixLines(of text: String) -> [Substring] {
    let lines = lines(of: text)
    return lines.indices.filter { index in
      let line = lines[index]
      guard line.utf8.contains(UInt8(ascii: "/")) else { return false }
      let isOfClass = line.contains("@RequestMapping(") || line.contains("@Path(")
      return isOfClass ? lines[index...].prefix(4).contains { $0.contains(" class ") } : line.contains(prefixing)
    }.map { lines[$0] }
  }

  private static func lines(of text: String) -> [Substring] {
    text.split(whereSeparator: \.isNewline).filter { $0.utf8.count <= longestLine }
  }

  /// The lines with a path, but for those of a method that writes.
  private static func readingLines(of text: String, isDjango: Bool) -> [Substring] {
    // Most lines have none, and a comparison of bytes is fast.
    lines(of: text).filter { $0.utf8.contains(UInt8(ascii: "/")) || isDjango }
      .filter { !($0.contains(writing) && !$0.contains(reading)) }
  }

  private static func literals(in line: Substring) -> [String] {
    line.matches(of: literal).compactMap { path($0.output.1) }
  }

  /// Whether a path more likely names a file of the machine.
  private static func isFile(_ path: String) -> Bool {
    let folders: Set = [
      "bin", "dev", "etc", "home", "lib", "opt", "proc", "root", "run", "srv", "sys", "tmp", "usr", "var",
    ]
    return path.split(separator: "/").first.map { folders.contains(String($0)) } ?? true
  }

  /// Longer lines are data, and would make the search slow.
  private static let longestLine = 300

  private static var naming: Regex<Substring> {
    #/(?i)(?:route|\bget|path|\burl|handle|mapping|context|endpoint|\bcase\b)/#.wordBoundaryKind(.simple)
  }
  private static var prefixing: Regex<Substring> {
    #/(?:prefix\s*[=:]|\.(?:use|nest|mount|scope|[gG]roup)\(|\binclude\()/#
  }
  private static var writing: Regex<Substring> {
    #/(?i)\b(?:post|put|delete|patch)(?:mapping)?\b/#.wordBoundaryKind(.simple)
  }
  private static var reading: Regex<Substring> {
    #/(?i)\b(?:get|any|all)(?:mapping)?\b/#.wordBoundaryKind(.simple)
  }
  private static var literal: Regex<(Substring, Substring)> { #/["'`](?:GET )?(\/[^"'`\s]*)["'`]/# }
  private static var djangoPath: Regex<(Substring, Substring)> { #/\bpath\(\s*r?["']([^"']*)["']/# }
  private static var documented: Regex<(Substring, Substring)> { #/^\s*["']?(\/[^\s"']*?)["']?\s*:(?:\s|$)/# }

  /// The path of a URL; empty if it has none.
  static func path(ofURL url: String) -> String {
    let rest = url.firstRange(of: "://").map { url[$0.upperBound...] } ?? ""
    return String(rest.drop { $0 != "/" })
  }

  /// The path with parameters replaced, without a query; nil for one that is not requested.
  private static func path(_ text: Substring) -> String? {
    let filled = text.prefix { $0 != "?" }.replacing(#/<[^<>\/]*>|\{[^{}\/]*\}|:\w+|\[\w+\]/#, with: "1")
    guard filled.wholeMatch(of: #/\/[\w.~\/-]*/#) != nil, filled.utf8.count <= 80, !filled.contains("//") else {
      return nil
    }
    let words = filled.lowercased().split { !$0.isLetter }.map(String.init)
    return words.contains(where: harmful.contains) ? nil : String(filled)
  }

  /// Words in the paths of requests that end or change something, or whose answer lasts.
  private static let harmful: Set = [
    "shutdown", "quit", "exit", "stop", "kill", "restart", "reload", "reset", "clear", "delete", "remove", "logout",
    "signout", "crash", "panic", "abort", "events", "stream", "ws", "websocket", "socket", "sse", "subscribe", "poll",
    "watch", "admin", "static", "assets",
  ]

  /// Whether a path only shows that the service is alive, so that it says little about its memory.
  static func isProbe(_ path: String) -> Bool {
    path.contains(#/\/(?:health\w*|ready\w*|live\w*|ping|status|version|metrics|robots\.txt|favicon\.ico)$/#)
  }
}

/// A path that stands before the routes of a file, as of a blueprint of Flask or a router of Express.
struct RoutePrefix {
  let path: String
  let file: String
  /// The other files that its line names; if there are none, it is most likely for the routes of its own file, or of any if
  /// that has none.
  let others: Set<String>

  static func all(in files: [(path: String, text: String, routes: [String])]) -> [RoutePrefix] {
    let names = files.map { (file: $0.path, name: name(of: $0.path)) }
    return files.flatMap { file in
      RouteText.prefixes(in: file.text).map { path, line in
        let line = line.lowercased()
        let named = names.filter { $0.file != file.path && $0.name.map(line.contains) ?? false }
        let others = named.isEmpty && file.routes.isEmpty ? names : named
        return RoutePrefix(path: path, file: file.path, others: Set(others.map(\.file)))
      }
    }
  }

  /// What other files call a file: by its folder if its own name says nothing.
  private static func name(of file: String) -> String? {
    let parts = file.lowercased().split(separator: "/").map { $0.prefix { $0 != "." } }
    let usual: Set<Substring> = [
      "__init__", "api", "app", "handlers", "index", "main", "mod", "router", "routes", "server", "src", "urls",
      "views",
    ]
    return parts.last { !usual.contains($0) }.map(String.init)
  }
}

extension [RoutePrefix] {
  fileprivate var ofNoOtherFile: [RoutePrefix] { filter(\.others.isEmpty) }

  /// What may stand before the routes of a file: the prefix of where it is used, its own, or both.
  fileprivate func before(_ file: String) -> [String] {
    let outer = filter { $0.others.contains(file) }.map(\.path)
    let own = ofNoOtherFile.filter { $0.file == file }.map(\.path)
    return outer.flatMap { outer in own.map { outer + $0 } } + outer + own
  }
}

extension Scenario {
  /// Enough for the main routes of a service; each further one makes every check longer.
  static let mostRoutes = 5

  /// The requests of a turn to each of so many routes, which share ``requestsPerTurn``.
  static func requests(perTurnTo routes: Int) -> Int { requestsPerTurn / max(1, min(routes, mostRoutes)) }

  /// The same with requests to these paths of the service in each turn, instead of its only request.
  func requesting(paths: [String]) -> Scenario {
    var changed = self
    changed.steps = steps.map { step in
      guard case .repeat(let times, _) = step.action, let call = firstCall else { return step }
      let requests = paths.map { path in
        var request = call
        request.url = address(of: path)
        if path != "/" { request.expectedStatus = nil }
        return Step(.http(request))
      }
      return Step(.repeat(times: times, steps: requests))
    }
    return changed
  }

  /// The URL of a path of the service that the first request reaches.
  func address(of path: String) -> String {
    String((firstCall?.url ?? "").dropLast(RouteText.path(ofURL: firstCall?.url ?? "").count)) + path
  }

  /// The first request of the turns.
  var firstCall: Step.HTTPCall? {
    for case .repeat(_, let steps) in steps.map(\.action) {
      if case .http(let call)? = steps.first?.action { return call }
    }
    return nil
  }
}
