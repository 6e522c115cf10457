import GateCore

extension Invocation {
  /// Leaves what the CI system of this job shows without being asked, such as a summary and annotations on GitHub.
  ///
  /// None of this changes a verdict.
  func reportToCI(_ result: RunResult, context: SummaryContext) {
    if let path = ci.summaryFile {
      let text = MarkdownReport.text(result, context: context)
      do throws(FileError) {
        try SafeFile.append(Array(text.utf8), to: absolute(path))
      } catch {
        for diagnostic in error.diagnostics {
          console.note("the summary of the step was not written: \(diagnostic.place ?? path): \(diagnostic.problem)")
        }
      }
    }
    if let annotations = ci.system?.row.annotations { console.pass(annotations(result, context)) }
  }
}
