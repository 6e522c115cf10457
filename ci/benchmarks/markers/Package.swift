// swift-tools-version: 6.2
import PackageDescription

/// The parts of MemoryMarkers that are built, separated by commas.
let traits = (Context.environment["MARKERS_TRAITS"] ?? "").split(separator: ",").map { Package.Dependency.Trait(name: "\($0)") }

/// A program that measures what the library costs it.
func program(_ name: String, with dependencies: [Target.Dependency] = []) -> Target {
  .executableTarget(name: name, dependencies: dependencies, swiftSettings: [.swiftLanguageMode(.v6)])
}

let markers = Target.Dependency.product(name: "MemoryMarkers", package: "highwater")

let package = Package(
  name: "markers",
  dependencies: [.package(name: "highwater", path: "../../..", traits: Set(traits))],
  targets: [
    program("plain"),
    program("marks", with: [markers]),
    // These need the traits LaunchReason, and LoopHunter.
    program("launch", with: [markers]),
    program("costs", with: [markers]),
  ]
)
