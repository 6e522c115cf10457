import Foundation
import PackagePlugin

/// Embeds the pages' templates, styles and scripts in the program, and the chart library if it is installed.
///
/// Raw string literals cost the compiler almost nothing; `.embedInCode` takes seconds of CPU for each 10 KB. Without
/// the chart library the pages have static charts only.
@main
struct EmbedPages: BuildToolPlugin {
  /// From Debian's package `libjs-dygraphs`; not copied into the repository.
  private static let chartLibrary = "/usr/share/javascript/dygraphs"

  func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
    let script = context.package.directoryURL.appending(path: "ci/embedding/embed")
    let pages = target.directoryURL.appending(path: "Pages")
    let texts = try FileManager.default.contentsOfDirectory(at: pages, includingPropertiesForKeys: nil)
      .filter { ["css", "js", "mustache"].contains($0.pathExtension) }
      .sorted { $0.path < $1.path }
    let library = ["dygraph.min.js", "dygraph.min.css"]
      .map { URL(fileURLWithPath: "\(Self.chartLibrary)/\($0)") }
      .filter { FileManager.default.fileExists(atPath: $0.path) }
    let output = context.pluginWorkDirectoryURL.appending(path: "EmbeddedText.swift")
    return [
      .buildCommand(
        displayName: "Embedding the pages\(library.isEmpty ? " without libjs-dygraphs, which is not installed" : "")",
        executable: URL(fileURLWithPath: "/bin/sh"),
        arguments: [script.path, output.path] + (texts + library).map(\.path),
        inputFiles: [script] + texts + library,
        outputFiles: [output]
      )
    ]
  }
}
