import FoundationEssentials
import GateCore
import LinuxSystem

@testable import GateApplication

extension FuzzTarget {
  /// Environment variables as `NAME=VALUE`, separated by zero bytes: of the build, and of the terminal.
  static let variables = FuzzTarget("variables") { input in
    var variables: [String: String] = [:]
    for entry in input.split(separator: 0) {
      let text = String(systemBytes: Array(entry))
      guard let equals = text.firstIndex(of: "=") else { continue }
      variables[String(text[..<equals])] = String(text[text.index(after: equals)...])
    }
    let console = Console(variables: variables)
    let invocation = Invocation(workingDirectory: "/", variables: variables, console: console)
    _ = (invocation.ci.isInCI, console.style(), BuildContext(variables: variables, root: "/").person)
    let run = RunInfo(startingAt: Date(timeIntervalSince1970: 1e9), in: "/", invocation)
    let texts = [run.commit, run.branch, run.subject, run.buildURL, run.pullRequest].compactMap(\.self)
    try promise(texts.allSatisfy { $0.count <= 4000 }, "a text of the build is very long")
    let environment = EnvironmentInfo(
      name: "e",
      fingerprint: Fingerprint(
        architecture: "x", pageSize: 4096, cpus: 1, aslr: "off", thp: "off", measurement: "traced", kernel: "6.1",
        libc: "glibc 2.36"))
    let result = RunResult(run: run, environment: environment, scenarios: [])
    try expectRoundTrip(result, { ResultFile.encode($0, words: .reports) }) {
      try ResultFile.decode($0, path: "r.json")
    }
    try expectRoundTrip(result.summary, RunLine.encode) { try RunLine.decode($0, path: "h", line: 1) }
    let context = SummaryContext(detail: .verbose, exitCode: .pass)
    try PrintedText.expectHarmless(SummaryReport.text(result, style: TerminalStyle(), context: context))
    try PrintedText.expectHarmless(HistoryReport.text([result.summary], of: [], style: TerminalStyle()))
    try PrintedText.expectOpenMetrics(OpenMetricsReport.text(result.summary))
  }

  /// The files `HEAD`, `packed-refs` and `commondir` of a checkout, separated by zero bytes.
  static let checkout = FuzzTarget("checkout") { input in
    let names = ["HEAD", "packed-refs", "commondir"]
    for (name, text) in zip(names, input.parts(names.count)) { Scratch.write(text, to: ".git/\(name)") }
    guard let commit = GitCheckout(containing: Scratch.folder)?.commit else { return }
    try promise([40, 64].contains(commit.utf8.count) && commit.allSatisfy(\.isHexDigit), "not a commit: \(commit)")
  }
}
