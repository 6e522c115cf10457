import Foundation
import Testing

@Suite("Verdicts of real runs")
struct VerdictTests {
  /// A project whose target holds the next of some sizes, in MiB, with each start, and notes `$BUILD` in `order`.
  private func project(sizes: [Double], repetitions: String = "{min: 5, max: 20}") throws -> TemporaryProject {
    let project = try TemporaryProject(
      """
      version: 1
      scenarios:
        - name: load
          target: {command: [perl, next.pl], inherit-env: [BUILD]}
          setup: ["echo >> started"]
          repetitions: \(repetitions)
          warmup: 0
          gate: {peak_rss: [3%, 512KiB]}
      """)
    try project.write(
      """
      my $turn = (-s 'started') - 1;
      open my $list, '<', 'sizes' or die; my @sizes = split ' ', <$list>;
      open my $order, '>>', 'order' or die; print $order ($ENV{BUILD} // '-'), "\\n";
      my $text = 'x' x int(1048576 * ($sizes[$turn % @sizes] + ($ENV{EXTRA} // 0)));
      exit 9 if ($ENV{BUILD} // '') eq 'broken';
      select undef, undef, undef, 0.05;
      """, to: "next.pl")
    try write(sizes, in: project)
    return project
  }

  private func write(_ sizes: [Double], in project: TemporaryProject) throws {
    try project.write(sizes.map { "\($0)" }.joined(separator: " "), to: "sizes")
    try project.write("", to: "started")
    try project.write("", to: "order")
  }

  private func scenario(_ file: String, in project: TemporaryProject) throws -> [String: Any] {
    let scenarios = try #require(object(in: project.read(file))["scenarios"] as? [[String: Any]])
    return try #require(scenarios.first)
  }

  @Test("A quiet program needs the fewest repetitions, and a noisy one is run again until nothing more is allowed")
  func adaptive() throws {
    let project = try project(sizes: [24])
    try project.approveOnce()
    let quiet = try Gate.run("check", "--json", "quiet.json", in: project)
    #expect(quiet.code == 0, "\(quiet.output)\(quiet.errors)")
    #expect(try scenario("quiet.json", in: project)["stopped"] as? String == "5 of 5 to 20: decided")
    // Spread evenly over as much again: neither a rise of 3 % nor none can be shown with 20 values.
    try write([24, 32, 26, 28, 30, 25, 31, 27, 29], in: project)
    try project.approveOnce()
    let noisy = try Gate.run("check", "--json", "noisy.json", in: project)
    #expect(noisy.code == 4, "\(noisy.output)\(noisy.errors)")
    let result = try scenario("noisy.json", in: project)
    #expect((result["repetitions"] as? [Any])?.count == 20)
    #expect(result["stopped"] as? String == "20, the most of 5 to 20: still undecided")
    #expect(noisy.words.contains("repetitions: 20, the most of 5 to 20: still undecided"))
    let metric = try #require((result["metrics"] as? [[String: Any]])?.first)
    #expect(metric["method"] as? String == "rank-test")
  }

  @Test("The same files are judged alike each time, byte for byte, and as the check judged them")
  func repeatable() throws {
    let project = try project(sizes: [24, 24.5, 25, 24.2])
    #expect(try Gate.run("check", "--json", "base.json", in: project).code == 5)
    try write([26, 26.4, 27, 26.1], in: project)
    #expect(try Gate.run("approve", "--from", "base.json", in: project).code == 0)
    let check = try Gate.run("check", "--json", "now.json", in: project)
    #expect(check.code == 1, "\(check.output)")
    for name in ["one.json", "two.json"] {
      #expect(try Gate.run("compare", "base.json", "now.json", "--json", name, in: project).code == 1)
    }
    #expect(try project.read("one.json") == project.read("two.json"))
    let (judged, again) = (try scenario("now.json", in: project), try scenario("one.json", in: project))
    let metrics = try [judged, again].map { try JSONSerialization.data(withJSONObject: $0["metrics"] as Any) }
    #expect(metrics[0].count == metrics[1].count && judged["verdict"] as? String == again["verdict"] as? String)
    #expect(NSArray(array: judged["metrics"] as? [Any] ?? []) == NSArray(array: again["metrics"] as? [Any] ?? [1]))
  }

  @Test("Three repetitions are compared by size alone, and the report says so")
  func fewness() throws {
    let project = try project(sizes: [24], repetitions: "3")
    try project.approveOnce()
    let same = try Gate.run("check", in: project)
    #expect(same.code == 0)
    #expect(same.words.contains("no statistics: 3 against 3 values are too few"))
    try write([26], in: project)
    #expect(try Gate.run("check", in: project).code == 1)
  }

  // MARK: Two builds

  @Test("Two builds are run in turn, each first as often as the other, and judged without any baseline")
  func against() throws {
    let project = try project(sizes: [24])
    let same = try Gate.run("check", "--against", "BUILD=main", "--json", "now.json", in: project)
    #expect(same.code == 0, "\(same.output)\(same.errors)")
    #expect(
      try project.read("order").split(separator: "\n") == [
        "main", "-", "-", "main", "main", "-", "-", "main", "main", "-",
      ])
    #expect(try project.baselines().isEmpty)
    let larger = try Gate.run("check", "--against", "BUILD=main EXTRA=-2", in: project)
    #expect(larger.code == 1, "\(larger.output)")
    #expect(larger.words.contains("compared with another build, run in turn with this one: BUILD=main EXTRA=-2"))
    #expect(!larger.output.contains("highwater approve"))
    let smaller = try Gate.run(
      "check", "--against", "perl next.pl", "--json", "now.json", in: project, variables: ["EXTRA": "1"])
    #expect(smaller.code == 0, "the variable is not passed on")
    let compared = try Gate.run("compare", ".highwater/against/result.json", "now.json", in: project)
    #expect(compared.code == 0, "\(compared.output)")
  }

  @Test("A build that fails is named, and its output shown")
  func brokenBuild() throws {
    let project = try project(sizes: [24])
    let outcome = try Gate.run("check", "--against", "BUILD=broken", in: project)
    #expect(outcome.code == 3)
    #expect(outcome.words.contains("the other build, repetition 1 of 5: the target ended: exited with code 9"))
    #expect(outcome.output.contains(".highwater/against/output/load/1.log"))
    let missing = try Gate.run("check", "--against", "no-such-program", in: project)
    #expect(missing.code == 3)
    #expect(missing.words.contains("cannot execute `no-such-program`"), "\(missing.output)")
  }

  @Test("What --against cannot mean ends with 2 and a hint", arguments: ["", "'open", "BUILD=x \"open"])
  func badBuild(text: String) throws {
    let outcome = try Gate.run("check", "--against", text, in: try project(sizes: [24]))
    #expect(outcome.code == 2)
    #expect(outcome.errors.contains("--against") && outcome.errors.contains("hint:"))
    #expect(outcome.output.isEmpty)
  }

  // MARK: Old baselines

  @Test("Only what improved is approved by --ratchet")
  func ratchet() throws {
    let project = try project(sizes: [24], repetitions: "5")
    try project.approveOnce()
    let before = try Data(contentsOf: project.baselineFile())
    try write([26], in: project)
    #expect(try Gate.run("check", in: project).code == 1)
    #expect(try Gate.run("approve", "--ratchet", in: project).output.contains("unchanged"))
    #expect(try Data(contentsOf: project.baselineFile()) == before)
    try write([20], in: project)
    #expect(try Gate.run("check", in: project).code == 0)
    #expect(try Gate.run("approve", "--ratchet", in: project).output.contains("replaced"))
    #expect(try Gate.run("check", in: project).verdict == "pass")
  }

  @Test("Approvals in small steps are told to have crept, with the level that they began at")
  func creep() throws {
    let project = try project(sizes: [40], repetitions: "5")
    try project.approveOnce()
    for size in [40.9, 41.8] {
      try write([size], in: project)
      #expect(try Gate.run("check", in: project).code == 0)
      let approval = try Gate.run("approve", in: project)
      #expect(approval.words.contains("peak_rss has crept up by") == (size > 41), "\(approval.output)")
    }
    #expect(try Gate.run("check", in: project).words.contains("peak_rss has crept up by"))
  }

  @Test("The summary tells how long ago the baselines were approved, and how many commits ago")
  func age() throws {
    let project = try project(sizes: [24], repetitions: "5")
    func commit() throws {
      let script =
        "git add -A && git -c user.name=a -c user.email=a@b -c commit.gpgsign=false commit -qm x --allow-empty"
      #expect(try Gate.shell("([ -d .git ] || git init -q .) && \(script)", in: project).code == 0)
    }
    try commit()
    try project.approveOnce()
    try commit()
    try commit()
    #expect(try Gate.run("check", in: project).words.contains("baselines approved today, 2 commits since"))
    try project.edit(project.baselineFile()) { baseline in
      var approved = try #require(baseline["approved"] as? [String: Any])
      approved["at"] = "2020-01-01T00:00:00.000Z"
      approved["commit"] = "--output=pwned"
      baseline["approved"] = approved
    }
    let old = try Gate.run("check", in: project).words
    #expect(old.contains("days ago; approve anew what is current"), "\(old)")
    #expect(!FileManager.default.fileExists(atPath: project.url("pwned").path))
  }
}
