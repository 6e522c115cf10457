import FoundationEssentials
import GateCore

// Projects that only a Dockerfile describes.

extension ProjectKind {
  static let containerFiles = ["Dockerfile", "Containerfile"]

  /// What the image runs (`ENTRYPOINT` and `CMD`), here without a container: what is installed on this machine may be
  /// enough.
  @Sendable static func container(_ repository: Repository) -> [StartCandidate] {
    let text = containerFiles.map(repository.text).first { !$0.isEmpty } ?? ""
    let words = words(of: "ENTRYPOINT", in: text) + words(of: "CMD", in: text)
    guard let program = words.first, !words.contains(where: { $0.contains("$") }) else { return [] }
    let folder = text.split(whereSeparator: \.isNewline).last { $0.hasPrefix("WORKDIR ") }?.dropFirst(8)
    // The files of the repository are in the folder of the image.
    let local = words.map { word in folder.map { word.replacing("\($0)/", with: "") } ?? word }
    let isOwn = program != local[0] && !local[0].contains("/")
    return [StartCandidate((isOwn ? ["./\(local[0])"] : [local[0]]) + local.dropFirst())]
  }

  /// The words of the last instruction of a kind; none for a command that needs a shell.
  private static func words(of instruction: String, in text: String) -> [String] {
    let lines = text.replacing("\\\n", with: " ").split(whereSeparator: \.isNewline)
    let line = lines.last { $0.hasPrefix("\(instruction) ") }
    let value = line?.dropFirst(instruction.count + 1).trimmingPrefix(while: { $0 == " " }) ?? ""
    if value.hasPrefix("[") { return (try? JSONDecoder().decode([String].self, from: Data(value.utf8))) ?? [] }
    let needsShell = value.contains { "&|;<>`'\"\\*?()".contains($0) }
    return needsShell ? [] : value.split(separator: " ").map(String.init)
  }
}
