import Foundation
import PackagePlugin

/// Embeds files in the program, so that it is one file: the texts of the pages, the plugins of test frameworks, the pipelines
/// that `init` writes, and the libraries for profiled targets and for tests in Java.
///
/// String literals cost the compiler almost nothing; `.embedInCode` takes seconds of CPU for each 10 KB.
@main
struct Embed: BuildToolPlugin {
  /// The folder of Debian's package `libjs-dygraphs`, which is not copied into the repository.
  ///
  /// Without it the pages have static charts only.
  private static let chartLibrary = "/usr/share/javascript/dygraphs"

  func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
    let sources = context.package.directoryURL.appending(path: "Sources")
    let sampler =
      ["java", "operators", "python", "reports", "sampler", "samples"].map { "AllocationSampler/\($0).c" }
      + ["allocator", "sampler", "script_frames"].map { "AllocationSampler/\($0).h" }
      + ["CMemoryProfiler/ring.h", "CCallStacks/python_layout.h"]
    let counter = ["counts", "entry", "hooks", "modules", "objects"].map { "CInstanceProfiler/\($0).c" }
    let reporter =
      ["agent", "class_file", "heap", "java_calls", "names", "record"].map { "JUnitReporter/\($0).c" }
      + ["interface", "java_calls", "junit"].map { "JUnitReporter/\($0).h" } + ["HeapSampler/java_interface.h"]
    switch target.name {
    case "GateApplication":
      let folders = ["Reports/Pages", "Suite/Plugins"]
      return [
        try texts(in: folders.map { target.directoryURL.appending(path: $0) }, context),
        library("EmbeddedJUnitReporter", reporter, in: sources, context),
      ]
    case "GateProbe":
      return [
        library("EmbeddedLibrary", sampler, in: sources, context),
        library(
          "EmbeddedAllocationCounter",
          ["AllocationCounter/counter.c", "AllocationCounter/counts.h", "AllocationSampler/allocator.h"], in: sources,
          context),
        library("EmbeddedMutationLibrary", ["MutationLibrary/mutation.c"], in: sources, context),
        command(
          "Embedding the sampler of Node.js", "embed-texts", [sources.appending(path: "HeapSampler/node.cjs")],
          into: "EmbeddedText", context),
        library(
          "EmbeddedJavaSampler",
          ["java.c", "java_log.c", "java_native.c", "java.h", "java_interface.h"].map { "HeapSampler/\($0)" }
            + ["AllocationSampler/script_frames.h"], in: sources, context),
        library("EmbeddedInstanceCounter", ["InstanceCounter/preload.c"] + counter, in: sources, context),
      ]
    default: return []
    }
  }

  private func texts(in folders: [URL], _ context: PluginContext) throws -> Command {
    let texts =
      try folders
      .flatMap { try FileManager.default.contentsOfDirectory(at: $0, includingPropertiesForKeys: nil) }
      .filter { ["css", "js", "mjs", "mustache", "py"].contains($0.pathExtension) }
      .sorted { $0.path < $1.path }
    let library = ["dygraph.min.js", "dygraph.min.css"]
      .map { URL(fileURLWithPath: "\(Self.chartLibrary)/\($0)") }
      .filter { FileManager.default.fileExists(atPath: $0.path) }
    let missing = library.isEmpty ? " without libjs-dygraphs, which is not installed" : ""
    let pipelines = ["github", "gitlab"].map { system in
      (name: system, file: context.package.directoryURL.appending(path: "ci/pipelines/\(system)/memory.yml"))
    }
    return command(
      "Embedding the pages and plugins\(missing)", "embed-texts", texts + library, named: pipelines,
      into: "EmbeddedText", context)
  }

  private func library(_ name: String, _ files: [String], in sources: URL, _ context: PluginContext) -> Command {
    let files = files.map { sources.appending(path: $0) }
    return command("Compiling and embedding \(name)", "embed-library", files, into: name, context)
  }

  private func command(
    _ name: String, _ script: String, _ files: [URL], named: [(name: String, file: URL)] = [], into output: String,
    _ context: PluginContext
  ) -> Command {
    let script = context.package.directoryURL.appending(path: "ci/embedding/\(script)")
    let output = context.pluginWorkDirectoryURL.appending(path: "\(output).swift")
    return .buildCommand(
      displayName: name,
      executable: URL(fileURLWithPath: "/bin/sh"),
      // Headers only decide when to run it again.
      arguments: [script.path, output.path] + files.filter { $0.pathExtension != "h" }.map(\.path)
        + named.map { "\($0.name).yml=\($0.file.path)" },
      inputFiles: [script] + files + named.map(\.file),
      outputFiles: [output]
    )
  }
}
