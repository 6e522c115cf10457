// swift-tools-version: 6.2
import PackageDescription

/// The language rules that every Swift target keeps.
func languageSettings() -> [SwiftSetting] {
  [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
  ]
}

/// One module; its layer and allowed imports stand in `ci/layers`.
func module(
  _ name: String,
  over dependencies: [Target.Dependency] = [],
  exclude: [String] = [],
  embedding plugins: [Target.PluginUsage] = [],
  with settings: [SwiftSetting] = []
) -> Target {
  .target(
    name: name, dependencies: dependencies, exclude: exclude, swiftSettings: languageSettings() + settings,
    plugins: plugins)
}

/// For modules that compute so much that the tests, which are debug builds, would wait for them.
let alwaysOptimized: [SwiftSetting] = [.unsafeFlags(["-O"], .when(configuration: .debug))]

/// What another package gives to the gate; who depends on this package without the gate does not fetch it.
func gatePart(_ product: String, of package: String) -> Target.Dependency {
  .product(name: product, package: package, condition: .when(traits: ["Gate"]))
}

/// A small program, for tests or benchmarks.
func program(_ name: String, at path: String, over dependencies: [Target.Dependency] = []) -> Target {
  .executableTarget(name: name, dependencies: dependencies, path: path, swiftSettings: languageSettings())
}

/// The tests of one module, in the folder `Tests/<module>Tests` unless named; golden files there are data that tests
/// read by path.
func tests(
  _ name: String? = nil, of module: String, with dependencies: [Target.Dependency] = [], golden: Bool = false
) -> Target {
  .testTarget(
    name: name ?? "\(module)Tests",
    dependencies: [.target(name: module)] + dependencies,
    exclude: golden ? ["Golden"] : [],
    swiftSettings: languageSettings()
  )
}

/// The inputs of fuzzing: a test of the committed ones, or the fuzzer, which only `ci/fuzz` can link.
func fuzzing(of dependencies: [Target.Dependency]) -> Target {
  let path = "ci/fuzz.d"
  guard Context.environment["HIGHWATER_FUZZER"] == nil else {
    let excluded = ["InputTests.swift", "inputs", "stacks"]
    return .executableTarget(
      name: "fuzzer", dependencies: dependencies, path: path, exclude: excluded, swiftSettings: languageSettings())
  }
  let excluded = ["Fuzzer.swift", "inputs", "stacks"]
  return .testTarget(
    name: "FuzzTests", dependencies: dependencies, path: path, exclude: excluded, swiftSettings: languageSettings())
}

let package = Package(
  name: "highwater",
  products: [
    .executable(name: "highwater", targets: ["highwater"]),
    .library(name: "MemoryMarkers", targets: ["MemoryMarkers"]),
    .library(name: "LeakAssertions", targets: ["LeakAssertions"]),
  ],
  traits: [
    .trait(name: "Gate", description: "The program highwater. Without it no other package is fetched."),
    .trait(name: "LaunchReason", description: "Why a program was started, in MemoryMarkers."),
    .trait(name: "LoopHunter", description: "Loops that feed themselves, in MemoryMarkers."),
    .trait(name: "InstanceProfiler", description: "Living instances by class, in MemoryMarkers. Changes machine code."),
    .default(enabledTraits: ["Gate", "LaunchReason", "LoopHunter"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", .upToNextMinor(from: "1.8.2")),
    .package(url: "https://github.com/jpsim/Yams", .upToNextMinor(from: "6.2.2")),
    .package(url: "https://github.com/groue/GRDB.swift", .upToNextMinor(from: "7.10.0")),
    .package(url: "https://github.com/hummingbird-project/swift-mustache", .upToNextMinor(from: "2.1.1")),
  ],
  targets: [
    // Layer 0
    module("Statistics", with: alwaysOptimized),
    module("MarkerProtocol"),
    module("LaunchRecords"),
    module("Digests", with: alwaysOptimized),
    module("LinuxSystem"),
    .target(name: "CCallStacks"),
    .target(name: "CMemoryProfiler", dependencies: ["CCallStacks"], linkerSettings: [.linkedLibrary("m")]),
    .target(name: "CLinux", dependencies: ["CMemoryProfiler"]),
    .systemLibrary(name: "PCRE2", pkgConfig: "libpcre2-8", providers: [.apt(["libpcre2-dev"])]),
    module("RegularExpressions", over: ["PCRE2"]),
    .target(name: "CPostgreSQL"),
    .target(name: "EmptyICUData"),
    .systemLibrary(name: "CURL", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    module("HTTPTransfer", over: ["LinuxSystem", "CURL"]),
    // Layer 1
    module("GateCore", over: ["Statistics", "RegularExpressions"]),
    // Layer 2
    module(
      "GateProbe",
      over: [
        "GateCore", "LinuxSystem", "MarkerProtocol", "RegularExpressions", "CLinux", "CMemoryProfiler", "HTTPTransfer",
      ],
      embedding: ["Embed"]
    ),
    .plugin(name: "Embed", capability: .buildTool(), path: "ci/embedding"),
    // Layer 3
    module(
      "GateApplication",
      over: [
        "GateCore", "GateProbe", "LinuxSystem", "LaunchRecords", "Digests", "HTTPTransfer", "CLinux", "CPostgreSQL",
        gatePart("ArgumentParser", of: "swift-argument-parser"), gatePart("Yams", of: "Yams"),
        gatePart("GRDB", of: "GRDB.swift"), gatePart("GRDBSQLite", of: "GRDB.swift"),
        gatePart("Mustache", of: "swift-mustache"),
      ],
      embedding: ["Embed"]
    ),
    // Layer 4
    .executableTarget(
      name: "highwater",
      dependencies: [
        "GateCore", "LinuxSystem", "GateApplication", "EmptyICUData",
        gatePart("ArgumentParser", of: "swift-argument-parser"),
      ],
      swiftSettings: languageSettings()
    ),
    // Beside the layers, for other people's programs
    .target(name: "CMemoryMarkers"),
    .target(name: "CLaunchReason"),
    .target(name: "CInstanceProfiler"),
    module(
      "MemoryMarkers",
      over: [
        "CMemoryMarkers",
        .target(name: "CLaunchReason", condition: .when(traits: ["LaunchReason"])),
        .target(name: "LaunchRecords", condition: .when(traits: ["LaunchReason"])),
        .target(name: "CInstanceProfiler", condition: .when(traits: ["InstanceProfiler"])),
      ],
      exclude: ["README.md"]
    ),
    // Linked into the tests of others; of no layer
    module("LeakAssertions", exclude: ["README.md"]),
    // Run by hand: what the rules promise, over simulated and recorded values
    .executableTarget(
      name: "calibrate",
      dependencies: ["GateCore", "Statistics"],
      path: "ci/calibrate.d/replay",
      swiftSettings: languageSettings()
    ),
    // Tests
    .testTarget(name: "CalibrationTests", dependencies: ["calibrate", "GateCore"], swiftSettings: languageSettings()),
    tests(of: "Statistics"),
    tests(of: "MarkerProtocol"),
    tests(of: "LaunchRecords"),
    tests(of: "Digests"),
    tests(of: "LinuxSystem"),
    .testTarget(
      name: "CallStacksTests", dependencies: ["CCallStacks", "stacks-fixture"], swiftSettings: languageSettings()),
    tests(of: "RegularExpressions"),
    tests(of: "HTTPTransfer", with: ["LoopbackServers"]),
    tests(of: "GateCore", with: ["Statistics"]),
    tests(of: "GateProbe", with: ["CLinux", "GateCore", "LinuxSystem", "supervisor-fixture"]),
    tests("FilesTests", of: "GateApplication", with: ["GateCore", "LaunchRecords"], golden: true),
    tests("HistoryTests", of: "GateApplication", with: ["GateCore", "Statistics", "LoopbackServers"]),
    tests("ReportsTests", of: "GateApplication", with: ["GateCore", "LinuxSystem"], golden: true),
    tests("RunnerTests", of: "GateApplication", with: ["GateCore"]),
    tests(
      "WebhookTests", of: "GateApplication", with: ["GateCore", "LinuxSystem", "HTTPTransfer", "LoopbackServers"]),
    .testTarget(
      name: "BrowserTests",
      dependencies: ["GateApplication", "GateCore", "HTTPTransfer"],
      swiftSettings: languageSettings()
    ),
    tests(
      of: "MemoryMarkers",
      with: ["GateCore", "MarkerProtocol", "LaunchRecords", "launch-fixture", "marks-fixture", "marks-in-c"]
    ),
    tests(of: "LeakAssertions"),
    fuzzing(of: [
      "MarkerProtocol", "LaunchRecords", "LinuxSystem", "HTTPTransfer", "RegularExpressions", "GateCore", "GateProbe",
      "GateApplication", "CMemoryMarkers", "MemoryMarkers", "CCallStacks", "StackInputs",
    ]),
    .target(
      name: "StackInputs", dependencies: ["CCallStacks"], path: "ci/fuzz.d/stacks",
      cSettings: [.headerSearchPath("../../../Sources/CCallStacks")]),
    .testTarget(
      name: "IntegrationTests", dependencies: ["highwater", "LoopbackServers"], exclude: ["Support/run-steps.py"],
      swiftSettings: languageSettings()),
    // What tests start
    .executableTarget(name: "supervisor-fixture", dependencies: ["CLinux"], path: "Tests/Fixtures/supervisor-fixture"),
    .executableTarget(name: "stacks-fixture", dependencies: ["CCallStacks"], path: "Tests/Fixtures/stacks-fixture"),
    program("launch-fixture", at: "Tests/Fixtures/launch-fixture", over: ["MemoryMarkers"]),
    program("marks-fixture", at: "Tests/Fixtures/marks-fixture", over: ["MemoryMarkers"]),
    .executableTarget(name: "marks-in-c", dependencies: ["CMemoryMarkers"], path: "Tests/Fixtures/marks-in-c"),
    .target(
      name: "LoopbackServers",
      path: "Tests/LoopbackServers",
      exclude: ["loopback.py", "postgresql.sh"],
      swiftSettings: languageSettings()
    ),
  ]
)
