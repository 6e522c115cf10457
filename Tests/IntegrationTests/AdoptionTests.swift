import Foundation
import Testing

/// A package that depends on this one by path and uses MemoryMarkers only.
@Suite("Packages that depend on MemoryMarkers", .endsHangs)
struct AdoptionTests {
  /// A package with one program, built for debugging as by `swift build`.
  private struct DependentPackage {
    let project: TemporaryProject

    init() throws {
      project = try TemporaryProject(
        """
        version: 1
        scenarios:
          - name: program
            target:
              command: [.build/debug/program]
            repetitions: 1
            warmup: 0
        """)
    }

    func build(traits: [String], _ program: String) throws -> Highwater.Outcome {
      try project.write(
        """
        // swift-tools-version: 6.2
        import PackageDescription
        let package = Package(
          name: "program",
          dependencies: [.package(name: "highwater", path: "\(ExampleTests.root)", traits: \(traits))],
          targets: [
            .executableTarget(name: "program", dependencies: [.product(name: "MemoryMarkers", package: "highwater")])
          ]
        )
        """, to: "Package.swift")
      try project.write("import MemoryMarkers\n\(program)\n", to: "Sources/program/main.swift")
      return try Highwater.Running(["swift", "build"], in: project, variables: [:], program: "/usr/bin/env").wait()
    }

    /// The dependencies that were fetched.
    var fetched: [String] {
      (try? FileManager.default.contentsOfDirectory(atPath: project.url(".build/checkouts").path)) ?? []
    }

    /// The modules that were linked.
    var linked: Set<String> {
      get throws {
        let objects = try project.read(".build/debug/program.product/Objects.LinkFileList").split(separator: "\n")
        return Set(
          objects.compactMap { path in
            path.split(separator: "/").first { $0.hasSuffix(".build") && $0 != ".build" }.map { "\($0.dropLast(6))" }
          })
      }
    }
  }

  /// A single package for all traits, since its first build is the slowest.
  @Test("Each trait links only its own modules; without traits only the markers are linked, and nothing is fetched")
  func traits() throws {
    let package = try DependentPackage()
    let marks = try package.build(traits: [], "Marks.phase(\"load\")\nMarks.phase(\"serve\")")
    try #require(marks.code == 0, "\(marks.text)")
    #expect(try package.linked == ["CMemoryMarkers", "MemoryMarkers", "program"])
    let check = try Highwater.run("check", in: package.project)
    #expect(check.code == 5, "\(check.text)")
    let scenario = try #require((package.project.result()["scenarios"] as? [[String: Any]])?.first)
    let phases = try #require((scenario["repetitions"] as? [[String: Any]])?.first?["phases"] as? [[String: Any]])
    #expect(phases.compactMap { $0["name"] as? String } == ["load", "serve"])

    let uses = [
      "LaunchReason": "_ = LaunchReason(appVersion: \"1\", policy: .off)",
      "LoopHunter": "_ = LoopHunter(turn: ManualTurn()) { _ in }",
    ]
    for (trait, other) in [("LaunchReason", "LoopHunter"), ("LoopHunter", "LaunchReason")] {
      let with = try package.build(traits: [trait], try #require(uses[trait]))
      #expect(with.code == 0, "\(with.text)")
      let without = try package.build(traits: [trait], try #require(uses[other]))
      #expect(without.code != 0)
      #expect(without.text.contains("cannot find '\(other)' in scope"), "\(without.text)")
    }
    #expect(package.fetched == [])
  }
}
