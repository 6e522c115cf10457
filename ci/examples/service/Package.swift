// swift-tools-version: 6.2
import PackageDescription

/// Swift 6 mode, and `async` functions that run on the actor of their caller.
let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6), .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let package = Package(
  name: "service",
  dependencies: [
    // In your package: .package(url: "…", from: "…", traits: …) with the URL of Highwater's repository. Without the trait
    // Gate, the dependencies of Highwater itself are not fetched.
    .package(name: "highwater", path: "../../..", traits: ["LaunchReason", "LoopHunter"])
  ],
  targets: [
    // The program links MemoryMarkers …
    .target(
      name: "Documents",
      dependencies: [.product(name: "MemoryMarkers", package: "highwater")],
      swiftSettings: settings
    ),
    .executableTarget(
      name: "service",
      dependencies: ["Documents", .product(name: "MemoryMarkers", package: "highwater")],
      swiftSettings: settings
    ),
    // … and only its tests link LeakAssertions.
    .testTarget(
      name: "DocumentsTests",
      dependencies: ["Documents", "Names", .product(name: "LeakAssertions", package: "highwater")],
      swiftSettings: settings
    ),
    // Types with common names, which no library may make ambiguous.
    .target(name: "Names", path: "Tests/Names", swiftSettings: settings),
  ]
)
