// swift-tools-version: 6.2
import PackageDescription

/// The traits to build MemoryMarkers with, separated by commas; default: all.
let parts = Context.environment["MARKERS_TRAITS"] ?? "LaunchReason,LoopHunter"
let traits = Set(parts.split(separator: ",").map { Package.Dependency.Trait(name: "\($0)") })

/// A program that measures the cost of the library.
func program(_ name: String, with dependencies: [Target.Dependency] = []) -> Target {
  .executableTarget(name: name, dependencies: dependencies, swiftSettings: [.swiftLanguageMode(.v6)])
}

let markers = Target.Dependency.product(name: "MemoryMarkers", package: "highwater")

let package = Package(
  name: "markers",
  dependencies: [.package(name: "highwater", path: "../../..", traits: traits)],
  targets: [
    program("plain"),
    program("least"),
    program("marks", with: [markers]),
    // These need the trait LaunchReason, and costs also LoopHunter.
    program("least-launch", with: [markers]),
    program("launch", with: [markers]),
    program("costs", with: [markers]),
  ]
)
