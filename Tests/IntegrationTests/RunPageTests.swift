import Foundation
import Testing

@Suite("Run pages of real programs", .endsHangs)
struct RunPageTests {
  /// The text of a page without its scripts, with plain spaces.
  private func words(of page: String) throws -> String {
    let body = try #require(page.split(separator: "<body>", maxSplits: 1).last)
    let visible = try #require(body.split(separator: "<script", maxSplits: 1).first)
    return String(visible).replacing(/<[^>]*>/, with: " ").replacing("\u{a0}", with: " ").replacing("&gt;", with: ">")
      .replacing("&#39;", with: "'").replacing(/\s+/, with: " ")
  }

  private func peaks(in result: String) throws -> [Double] {
    let result = try #require(try JSONSerialization.jsonObject(with: Data(result.utf8)) as? [String: Any])
    let repetitions = (result["scenarios"] as? [[String: Any]])?.first?["repetitions"] as? [[String: Any]]
    return try #require(repetitions).compactMap { ($0["metrics"] as? [String: Any])?["peak_rss"] as? Double }
  }

  private func mebibytes(_ bytes: Double) -> String {
    String(format: "%.1f MiB", bytes / 1_048_576)
  }

  private static let program = """
    import os, sys, time
    marks = open(os.environ["HIGHWATER_MARKS"], "w")
    marks.write("phase load\\n"); marks.flush()
    data = bytearray(b"x" * int(float(open("size").read()) * 1048576))
    marks.write("mark filled\\n"); marks.flush()
    time.sleep(0.4)
    """

  /// A project whose target holds the number of MiB in the file `size`.
  private func project() throws -> TemporaryProject {
    let project = try TemporaryProject(
      """
      version: 1
      history: off
      scenarios:
        - name: load
          target: {command: [python3, -S, program.py]}
          repetitions: 5
          warmup: 0
          gate: {peak_rss: 3%}
      """
    )
    try project.write(Self.program, to: "program.py")
    try project.write("24", to: "size")
    return project
  }

  @Test(
    "The page of a check shows the measurements, curves and phases of its result and of the baseline")
  func check() throws {
    let project = try project()
    #expect(try Highwater.run("check", in: project).code == 5)
    #expect(try Highwater.run("approve", in: project).code == 0)
    try project.write("32", to: "size")
    let outcome = try Highwater.run("check", "--html", "pages/run.html", in: project)
    #expect(outcome.code == 1, "\(outcome.output)\(outcome.errors)")
    let result = try #require(
      try JSONSerialization.jsonObject(with: Data(project.read(".highwater/result.json").utf8)) as? [String: Any])
    let scenario = try #require((result["scenarios"] as? [[String: Any]])?.first)
    let metric = try #require((scenario["metrics"] as? [[String: Any]])?.first)
    let page = try project.read("pages/run.html")
    let words = try words(of: page)
    for side in ["baseline", "current"] {
      let median = try #require((metric[side] as? [String: Any])?["median"] as? Double)
      #expect(words.contains(mebibytes(median)), "\(side)")
    }
    let repetitions = try #require(scenario["repetitions"] as? [[String: Any]])
    #expect(repetitions.count == 5)
    for repetition in repetitions {
      let curve = try #require(repetition["curve"] as? [String: Any])
      let main = try #require(curve["main"] as? String)
      // The number of readings depends on the load of the machine.
      #expect(main.split(separator: " ").count > 2)
      let peak = try #require((repetition["metrics"] as? [String: Any])?["peak_rss"] as? Double)
      #expect(words.contains(mebibytes(peak)))
      #expect((curve["peak"] as? [String: Any])?["height"] as? Double == peak)
    }
    for part in ["regression", "peak_rss rose by", "load", "filled", "the baseline", "highwater approve"] {
      #expect(words.contains(part), "\(part)")
    }
    let curve = try #require(scenario["baselineCurve"] as? String)
    let details = try #require(
      FileManager.default.enumerator(atPath: project.url("baselines").path)?.compactMap { $0 as? String }
        .first { $0.contains("/details/") && $0.hasSuffix(".json") })
    #expect(try project.read("baselines/\(details)").contains(curve))
  }

  @Test("The page of a recorded command has its measurements and the command to repeat it")
  func record() throws {
    let harness = try ScenarioHarness()
    let outcome = try harness.run(
      [
        "record", "--html", "page.html", "--json", "-", "--", "python3", "-c",
        "x = bytearray(30 << 20); import time; time.sleep(0.3)",
      ])
    #expect(outcome.code == 0, "\(outcome.errors)")
    let peak = try peaks(in: outcome.output)[0]
    let words = try words(of: harness.project.read("page.html"))
    #expect(words.contains("Memory of python3") && words.contains("peak \(mebibytes(peak))"))
    #expect(words.contains("highwater record -- python3 -c 'x = bytearray(30"))
  }

  @Test("Two reports on standard output are an error before a target starts")
  func twoOutputs() throws {
    let outcome = try Highwater.run("check", "--json", "-", "--html", "-", in: project())
    #expect(outcome.code == 2 && outcome.errors.contains("--json and --html cannot both"))
  }
}
