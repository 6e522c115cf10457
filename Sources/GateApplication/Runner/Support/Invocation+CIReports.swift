import GateCore

extension Invocation {
  /// Leaves what the CI system of this job shows without being asked: GitHub's summary of the step, and annotations.
  ///
  /// None of this changes a verdict.
  func reportToCI(_ result: RunResult, context: SummaryContext) {
    if let path = variables["GITHUB_STEP_SUMMARY"], !path.isEmpty {
      let text = MarkdownReport.text(result, context: context)
      do throws(FileError) {
        try SafeFile.append(Array(text.utf8), to: absolute(path))
      } catch {
        for diagnostic in error.diagnostics {
          console.note("the summary of the step was not written: \(diagnostic.place ?? path): \(diagnostic.problem)")
        }
      }
    }
    if ci.system?.name == .gitHub { console.pass(GitHubCommands.annotations(for: result, context: context)) }
  }
}
