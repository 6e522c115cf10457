import Foundation
import Testing

/// A program whose package depends on this one by its path, and on MemoryMarkers alone.
@Suite("Packages that depend on MemoryMarkers", .endsHangs)
struct AdoptionTests {
  /// A package with one program, which is built with debug settings, as `swift build` does.
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

    /// Builds the program with these traits of MemoryMarkers.
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

    /// The packages that were fetched.
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

  /// One package for all traits, since its first build costs the most.
  @Test("Each trait adds its part and no other one; without traits only the marks are linked, and nothing is fetched")
  func traits() throws {
    let package = try DependentPackage()
    let marks = try package.build(traits: [], "Marks.phase(\"load\")\nMarks.phase(\"serve\")")
    try #require(marks.code == 0, "\(marks.words)")
    #expect(try package.linked == ["CMemoryMarkers", "MemoryMarkers", "program"])
    let check = try Highwater.run("check", in: package.project)
    #expect(check.code == 5, "\(check.words)")
    let scenario = try #require((package.project.result()["scenarios"] as? [[String: Any]])?.first)
    let phases = try #require((scenario["repetitions"] as? [[String: Any]])?.first?["phases"] as? [[String: Any]])
    #expect(phases.compactMap { $0["name"] as? String } == ["load", "serve"])

    let uses = [
      "LaunchReason": "_ = LaunchReason(appVersion: \"1\", policy: .off)",
      "LoopHunter": "_ = LoopHunter(turn: ManualTurn()) { _ in }",
    ]
    for (trait, other) in [("LaunchReason", "LoopHunter"), ("LoopHunter", "LaunchReason")] {
      let with = try package.build(traits: [trait], try #require(uses[trait]))
      #expect(with.code == 0, "\(with.words)")
      let without = try package.build(traits: [trait], try #require(uses[other]))
      #expect(without.code != 0)
      #expect(without.words.contains("cannot find '\(other)' in scope"), "\(without.words)")
    }
    #expect(package.fetched == [])
  }
}
