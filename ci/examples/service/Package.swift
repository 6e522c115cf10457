// swift-tools-version: 6.2
import PackageDescription

/// Swift 6's rules, and `async` functions that stay where their caller is.
let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6), .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let package = Package(
  name: "service",
  dependencies: [
    // Elsewhere: .package(url: "…", from: "…", traits: …) with the address of Highwater's repository. Without the trait
    // Gate, the gate's own packages are not fetched.
    .package(name: "highwater", path: "../../..", traits: ["LaunchReason", "LoopHunter"])
  ],
  targets: [
    // What ships has MemoryMarkers in it …
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
    // … and only its tests have LeakAssertions.
    .testTarget(
      name: "DocumentsTests",
      dependencies: ["Documents", .product(name: "LeakAssertions", package: "highwater")],
      swiftSettings: settings
    ),
  ]
)
