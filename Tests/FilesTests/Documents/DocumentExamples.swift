import FoundationEssentials
import GateCore

/// Values that use every field of the documents.
enum DocumentExamples {
  static let fingerprint = Fingerprint(
    architecture: "x86_64", pageSize: 4096, cpus: 2, aslr: "off", thp: "madvise", measurement: "sampled",
    memoryLimit: .mebibytes(512), kernel: "6.18.2", libc: "glibc 2.36", allocator: "MALLOC_ARENA_MAX=2", swap: "off",
    variables: "DEBUG LANG"
  )

  static let environment = EnvironmentInfo(
    name: "linux-x86_64-2cpu-sampled", fingerprint: fingerprint,
    counters: CounterCheck(bound: .kibibytes(248), difference: .kibibytes(-16))
  )

  /// 2026-01-02T03:04:05.678Z.
  static let instant = Date(timeIntervalSince1970: 1_767_323_045.678)

  static let result = RunResult(
    run: RunInfo(
      id: "019b7c9e-5a2e-7000-8000-00000000002a", startedAt: instant, duration: .milliseconds(12_345),
      commit: "9437a5f", isDirty: true,
      subject: "Load “all” rows at once", branch: "feature/faster-load",
      buildURL: "https://ci.example/builds/7?tab=log",
      pullRequest: "12",
      shard: RunInfo.Shard(
        index: 2, count: 4,
        scenarios: ["redis-load[clients=50]", "crasher", "leak", "reporting"].map(ScenarioName.init)),
      notes: [.editsOwnGate(baselines: ["redis-load"], files: ["highwater.yml"]), .unknownEdits]
    ),
    environment: environment,
    scenarios: [judged, failed, leaking]
  )

  private static var judged: ScenarioResult {
    var scenario = regression
    scenario.plan = RepetitionPlan(min: 5, max: 20)
    scenario.definition = definition
    scenario.approval = baseline.approval
    scenario.reference = ReferenceInfo(
      composition: Composition(
        anonymous: .mebibytes(16), file: .mebibytes(4), shared: .zero, stack: .kibibytes(132), heap: .mebibytes(12)),
      curve: baselineCurve, commitsSinceApproval: 31)
    scenario.repetitions[0].curve = curve
    scenario.tags = ["server", "nightly"]
    scenario.failedRepetitions = [
      FailedRepetition(
        number: 1, end: End(.crash, signal: .segv), loop: .loop(name: "Layout.pass", calls: 6000, turns: 3))
    ]
    scenario.explanation = RiseExplanation(
      .steady, finding: .other(part: .heapOverhead, rise: .mebibytes(2)),
      firstNamed: .init(id: "0198a000-0000-7000-8000-000000000001", commit: "57dc3d9"))
    scenario.explanation?.changes = changes
    scenario.ungated = [
      MetricResult(
        rule: GateRule(metric: .treePeak, tolerance: nil, severity: .off), unit: "bytes", verdict: .skipped,
        current: ValueSummary(median: 24_207_360, count: 1, range: 24_207_360...24_207_360))
    ]
    return scenario
  }

  private static let changes = CodeChanges(
    base: "57dc3d9c0d6e8b7a5f3c1d2e4b6a8c0d2e4f6a8b", origin: .approved,
    functions: [
      ChangedFunction(
        function: FunctionName(module: "server", name: "remember"), file: "src/cache.c", line: 120,
        removed: ["  free(old);"],
        commits: [
          CommitInfo(commit: "4f2c9e1ab0d6e8b7a5f3c1d2e4b6a8c0d2e4f6a8", subject: "Keep headers", author: "Ada")
        ])
    ],
    elsewhere: [
      ChangedPlace(
        file: "requirements.txt", dependencies: [DependencyChange(name: "pillow", before: "9.0", now: nil)])
    ], otherFiles: 3)

  private static let curve = MemoryCurve(
    main: MemorySeries([
      .init(time: .microseconds(100), low: .kibibytes(4), high: .kibibytes(4)),
      .init(time: .microseconds(10_200), low: .mebibytes(20), high: .mebibytes(24)),
      .init(time: .seconds(2), low: .mebibytes(23), high: .mebibytes(23)),
    ]),
    tree: MemorySeries([.init(time: .zero, low: .zero, high: .mebibytes(25))]), end: .microseconds(1_834_567),
    phases: [.init("load", at: .milliseconds(1)), .init("serve", at: .microseconds(1_000_001))],
    marks: [.init("filled <b>", at: .seconds(1))], iterations: 12,
    peak: .init(height: Bytes(24_207_360), after: .milliseconds(120), before: .milliseconds(130)),
    steady: .init(from: .milliseconds(600), to: .seconds(2), first: Bytes(23_003_000), last: Bytes(23_003_200))
  )

  private static let definition = {
    var scenario = Scenario(
      name: ScenarioName("redis-load[clients=50]"),
      target: Target(command: .arguments(["redis-server", "--port", "7001"]), workingDirectory: "/srv/app"))
    scenario.root = "/srv/app"
    scenario.steps = [Step(.phase("load")), Step(.wait(.seconds(1)))]
    return scenario.definition
  }()

  private static let regression = ScenarioResult(
    name: ScenarioName("redis-load[clients=50]"),
    verdict: .regression,
    environment: environment,
    repetitions: [
      RepetitionResult(
        end: End(.exited, code: 0), duration: .microseconds(1_234_567), processes: 1,
        metrics: [.peakRSS: 24_207_360, .steadyRSS: 23_003_136, .growth: 12.5, .treePeak: 24_207_360, .faultRate: 1.5],
        growth: Growth(slope: 12.5, low: 10.25, high: 16, kind: .settling), steadiness: .steady,
        phases: [
          .init(name: "load", metrics: [.peakRSS: 24_207_360, .steadyRSS: 23_003_136], peakIsExact: true),
          .init(name: "serve", metrics: [.peakRSS: 23_003_136]),
        ],
        widestGap: .nanoseconds(10_400_321), notes: [.killedAfterStop(signal: .term, grace: .seconds(10))],
        spike: .init(
          height: .mebibytes(30), after: .milliseconds(120), before: .milliseconds(130), phase: "load", isBusy: true
        ),
        treeMethod: .cgroup, largestProcesses: processes
      )
    ],
    metrics: [
      MetricResult(
        rule: GateRule(metric: .peakRSS, tolerance: .bounds(relative: Percent(3), absolute: .kibibytes(512))),
        unit: "bytes", verdict: .regression,
        baseline: .init(median: 23_000_000, count: 5, range: 22_900_000...23_100_000),
        current: .init(median: 24_207_360, count: 5),
        change: .init(absolute: 1_207_360, percent: 5.25, low: 1_100_000, high: 1_300_000, shift: 1_205_000),
        allowed: 690_000, detectable: 120_000, resolution: 98_304, method: .ranks, chance: 0.003968,
        reason: .rise
      ),
      MetricResult(
        rule: GateRule(metric: .steadyRSS, tolerance: .automatic, limit: .mebibytes(200), severity: .warn),
        unit: "bytes", verdict: .inconclusive, reason: .unavailable(cause: .neverSteady(steadiness: .drifting))
      ),
    ],
    composition: composition,
    compositionAtPeak: Composition(anonymous: .mebibytes(18), file: .mebibytes(4), shared: .kibibytes(4)),
    notes: [
      .environmentChanged(differences: [.init(field: .kernel, baseline: "6.17", current: "6.18.2")]), .nothingJudged,
      .recording(note: .killedAfterStop(signal: .term, grace: .seconds(10)), count: 1, total: 1),
      .creep(
        creep: Creep(
          metric: .peakRSS, unit: "bytes", rise: 207_360,
          anchor: .init(level: 24_000_000, at: instant, commit: "4f2a91c"),
          span: .runs(count: 12))),
    ]
  )

  private static let failed = ScenarioResult(
    name: ScenarioName("crasher"),
    verdict: .failed,
    environment: environment,
    gate: Gate(rules: [GateRule(metric: .peakRSS, tolerance: nil, limit: .mebibytes(64))]),
    repetitions: [
      RepetitionResult(
        end: End(
          .crash, signal: .segv, proof: .kernelLog(line: "wait status 139"), cause: .fatalError(line: "in step 2"),
          oomKills: 3),
        duration: .zero, processes: 2, metrics: [:], steadiness: .tooShort,
        spike: .init(height: .mebibytes(1), after: .zero, before: .milliseconds(1)), treeMethod: .proportional
      ),
      RepetitionResult(end: End(.killed, signal: Signal(number: 37)), duration: .zero, processes: 1, metrics: [:]),
    ],
    failure: Failure(
      part: .init(.step, at: [.step(number: 2, of: 3)], text: "run: client"),
      problem: .commandEnded(status: .exited(code: 3), expected: [0]),
      place: SourcePlace(file: "/srv/app: two/highwater.yml", line: 7, column: 5),
      output: "first\n\ttab \"quoted\" \\ / \u{1b}[31mred\u{1b}[0m\u{2028}ä€🎈\n"
    )
  )

  private static let leaking = ScenarioResult(
    name: ScenarioName("leak"),
    verdict: .pass,
    environment: EnvironmentInfo(name: "my machines", fingerprint: fingerprint, ignoredFields: [.thp, .cpus]),
    gate: Gate(
      rules: [
        GateRule(metric: .growth, tolerance: nil, limit: .kibibytes(1)),
        GateRule(
          metric: .phase("load", .peakRSS), tolerance: .bounds(relative: Percent(0.5), absolute: nil), severity: .off
        ),
      ]
    ),
    metrics: [
      MetricResult(
        rule: GateRule(metric: .growth, tolerance: nil, limit: .kibibytes(1)), unit: "bytes/iteration", verdict: .pass,
        baseline: .init(median: 0, count: 5), current: .init(median: -0.125, count: 5),
        change: .init(absolute: -0.125, percent: nil, low: -1.5, high: 1.25), reason: .nearLimit(low: -1.5, high: 1025)
      )
    ],
    growthIsPerIteration: true
  )

  static let baselineCurve = MemorySeries([.init(time: .milliseconds(1), low: .mebibytes(2), high: .mebibytes(3))])

  static let baseline = Baseline(
    scenario: ScenarioName("redis-load[clients=50]"),
    environment: "linux-x86_64-2cpu-sampled",
    fingerprint: fingerprint,
    metrics: [
      .peakRSS: [24_207_360, 24_211_456, 24_203_264], .steadyRSS: [23_003_136, 23_003_136, 23_007_232],
      .growth: [0.5, -0.25, 0], .phase("load", .peakRSS): [24_207_360, 24_211_456, 24_203_264],
    ],
    composition: Composition(anonymous: .mebibytes(16), file: .mebibytes(4), shared: .zero, heap: .mebibytes(12)),
    treeMethod: .cgroup,
    anchors: [.peakRSS: .init(level: 24_000_000, at: instant, commit: "4f2a91c")],
    approval: Approval(
      at: instant, by: "Ada <ada@example.org>", commit: "9437a5f", isDirty: true, reason: "larger cache, agreed",
      run: "019b7c9e-5a2e-7000-8000-00000000002a"
    )
  )

  /// A recording of a server that fills a cache, with every field set.
  static let recording = {
    var recording = recordingOfVersion1
    (recording.treeMethod, recording.pageSize, recording.end.oomKills) = (.proportional, 16_384, 2)
    for index in recording.samples.indices where index % 50 > 1 {
      recording.samples[index].activity = Activity(
        minorFaults: Int64(300 + index * 7), cpuTime: .milliseconds(index / 3 * 10)
      )
    }
    for index in recording.samples.indices where index > 100 { recording.samples[index].main?.peak = .mebibytes(5) }
    recording.marks[0].peakBefore = .mebibytes(6)
    recording.processes[0].isExact = true
    recording.processes += processes
    recording.composition = composition
    recording.compositions = [
      CompositionReading(time: .milliseconds(30), composition: composition, proportional: .mebibytes(5)),
      CompositionReading(
        time: .seconds(1), composition: Composition(anonymous: Bytes(1), file: Bytes(2), shared: Bytes(3))
      ),
    ]
    return recording
  }()

  static let composition = Composition(
    anonymous: .mebibytes(17), file: .mebibytes(4), shared: .kibibytes(4), stack: .kibibytes(132), heap: .mebibytes(12),
    lazilyFreed: .mebibytes(2), hugePages: .mebibytes(4),
    libraries: [
      .init(name: "libc.so.6", resident: .mebibytes(2)), .init(name: "a \"b\"\n/ü", resident: .kibibytes(8)),
      .init(name: "libm.so.6", resident: .kibibytes(8)),
    ]
  )

  static let processes = [
    ProcessRecord(
      id: 4243, parent: 4242, command: "wor\u{1b}ker", isMain: false, peak: .mebibytes(3), firstSeen: .milliseconds(7),
      lastSeen: .milliseconds(900), isExact: true, ending: .signaled(signal: .segv, coreDumped: true)
    ),
    ProcessRecord(
      id: 4244, parent: 4242, command: "", isMain: false, peak: .mebibytes(1), firstSeen: .milliseconds(9),
      lastSeen: .milliseconds(10), ending: .exited(code: 137)
    ),
    ProcessRecord(
      id: 4245, parent: 4242, command: "x", isMain: true, peak: .zero, firstSeen: .zero, lastSeen: .zero,
      ending: .signaled(signal: .kill, coreDumped: false)
    ),
  ]

  /// The contents of the stored version 1 file.
  static let recordingOfVersion1 = Recording(
    samples: (0..<200).map { index in
      let anonymous = Bytes.kibibytes(4 * Int64(300 + min(index, 90) * 7))
      let resident = anonymous + .mebibytes(3) + .kibibytes(8)
      return Sample(
        time: .nanoseconds(Int64(index) * 10_000_000 + Int64(index * index % 37) * 1013),
        main: index < 2 || index == 150 || index > 195
          ? nil
          : MemoryReading(
            resident: resident, peak: resident + .kibibytes(index > 120 ? 512 : 0), anonymous: anonymous,
            file: .mebibytes(3), shared: .kibibytes(8)
          ),
        tree: resident + (index > 60 ? .mebibytes(2) : .zero),
        processes: index > 60 ? 2 : 1
      )
    },
    marks: [
      Mark(time: .milliseconds(20), event: .phase("load"), resident: .mebibytes(5)),
      Mark(time: .nanoseconds(123_456_789), event: .iteration),
      Mark(time: .milliseconds(500), event: .value(name: "keys", number: -1.5e300, unit: "1/s")),
      Mark(time: .milliseconds(900), event: .mark("filled")),
    ],
    processes: [
      ProcessRecord(
        id: 4242, parent: 1, command: "redis-server", isMain: true, peak: .mebibytes(7), firstSeen: .zero,
        lastSeen: .milliseconds(1990)
      )
    ],
    composition: Composition(
      anonymous: .mebibytes(4), file: .mebibytes(3), shared: .kibibytes(8), stack: .kibibytes(132), heap: .mebibytes(2)
    ),
    end: End(.stopped, signal: .term, cause: .coreDumped),
    failure: Failure(
      part: .init(.teardown, text: "rm ä"), problem: .commandEnded(status: .exited(code: 1), expected: [0]),
      place: SourcePlace(file: "x.yml", line: 3, column: 1), output: "rm: ä\n"
    ),
    duration: .nanoseconds(1_999_999_999),
    stopRequested: .milliseconds(1980),
    widestGap: .microseconds(12_345),
    unknownMarks: 3,
    outputTail: "Ready to accept\n",
    notes: [.brief, .unknownMarks(lines: 3)]
  )
}
