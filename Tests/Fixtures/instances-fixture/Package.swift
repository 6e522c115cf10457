// swift-tools-version: 6.2
import PackageDescription

/// A package of its own, because the trait is off by default: a package is built with one set of traits.
let package = Package(
  name: "instances-fixture",
  dependencies: [.package(name: "highwater", path: "../../..", traits: ["InstanceProfiler"])],
  targets: [
    .executableTarget(
      name: "instances-fixture",
      dependencies: [.product(name: "MemoryMarkers", package: "highwater")],
      swiftSettings: [.swiftLanguageMode(.v6)]
    )
  ]
)
