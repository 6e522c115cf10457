import FoundationEssentials
import GateCore

// Projects with a package.json.

private struct Package: Decodable {
  let name: String?
  let main: String?
  let bin: Programs?
  let scripts: [String: String]?
  let dependencies: [String: String]?

  init?(of repository: Repository) {
    let text = repository.text("package.json")
    guard let package = try? JSONDecoder().decode(Package.self, from: Data(text.utf8)) else { return nil }
    self = package
  }

  /// One of the package's name, or several by their names.
  struct Programs: Decodable {
    let paths: [String]

    init(from decoder: any Decoder) throws {
      let value = try decoder.singleValueContainer()
      if let path = try? value.decode(String.self) {
        paths = [path]
      } else {
        paths = try value.decode([String: String].self).sorted { $0.key < $1.key }.map(\.value)
      }
    }
  }

  var needsModules: Bool { dependencies?.isEmpty == false }
}

extension ProjectKind {
  @Sendable static func nodeBuild(_ repository: Repository) -> String? {
    guard let package = Package(of: repository) else { return nil }
    let install = repository.has("package-lock.json") ? "npm ci" : "npm install"
    let isBuilt = package.scripts?["build"] != nil
    let steps = [
      // Tools of a build are dependencies of the development only.
      package.needsModules || isBuilt && repository.has("package-lock.json") ? install : nil,
      isBuilt ? "npm run build" : nil,
    ].compactMap(\.self)
    return steps.isEmpty ? nil : steps.joined(separator: " && ")
  }

  /// `npm start` without npm, which would be measured as a part of the target, or else the package's own program or main file.
  @Sendable static func node(_ repository: Repository) -> [StartCandidate] {
    guard let package = Package(of: repository) else { return [] }
    let name = package.name.flatMap { $0.split(separator: "/").last.map(String.init) }
    let mains =
      (package.bin?.paths ?? []) + [package.main].compactMap(\.self) + ["server.js", "index.js", "app.js", "main.js"]
    let files = mains.flatMap { [$0, "\($0).js", "\($0)/index.js"] }.filter(repository.isFile)
    let commands = [package.scripts?["start"].flatMap(nodeCommand)].compactMap(\.self) + files.map { ["node", $0] }
    return commands.map { words in
      StartCandidate(words, needs: words[0].contains("/") ? [words[0]] : [], name: name)
    }
  }

  /// The words of a script that needs no shell; a program other than node is one of a package.
  private static func nodeCommand(_ script: String) -> [String]? {
    guard !script.contains(where: { "&|;<>$`'\"\\*?(){}=".contains($0) }) else { return nil }
    let words = script.split(separator: " ").map(String.init)
    guard let first = words.first, !["npm", "npx", "yarn", "pnpm"].contains(first) else { return nil }
    return first == "node" || first.contains("/") ? words : ["node_modules/.bin/\(first)"] + words.dropFirst()
  }
}
