import Foundation
import Testing

/// What a program gets that depends on this package without the gate, by its path, and with the parts of MemoryMarkers
/// that it names.
@Suite("Programs that adopt MemoryMarkers", .serialized, .timeLimit(.minutes(10)))
struct AdoptionTests {
  /// A package with one program, built with debug settings, as `swift build` does.
  private struct Adopter {
    let project: TemporaryProject
    let outcome: Gate.Outcome

    init(traits: [String], _ program: String) throws {
      project = try TemporaryProject(
        """
        version: 1
        scenarios:
          - name: adopter
            target:
              command: [.build/debug/adopter]
            repetitions: 1
            warmup: 0
        """)
      try project.write(
        """
        // swift-tools-version: 6.2
        import PackageDescription
        let package = Package(
          name: "adopter",
          dependencies: [.package(name: "highwater", path: "\(ExampleTests.root)", traits: \(traits))],
          targets: [
            .executableTarget(name: "adopter", dependencies: [.product(name: "MemoryMarkers", package: "highwater")])
          ]
        )
        """, to: "Package.swift")
      try project.write(program, to: "Sources/adopter/main.swift")
      outcome = try Gate.Running(["swift", "build"], in: project, variables: [:], program: "/usr/bin/env").wait()
    }

    /// The packages that were fetched.
    var fetched: [String] {
      (try? FileManager.default.contentsOfDirectory(atPath: project.url(".build/checkouts").path)) ?? []
    }

    /// The modules whose code was linked.
    var linked: Set<String> {
      get throws {
        let objects = try project.read(".build/debug/adopter.product/Objects.LinkFileList").split(separator: "\n")
        return Set(
          objects.compactMap { path in
            path.split(separator: "/").first { $0.hasSuffix(".build") && $0 != ".build" }.map { "\($0.dropLast(6))" }
          })
      }
    }
  }

  @Test("Marks alone: nothing is fetched, nothing else is linked, and the gate sees the phases")
  func marks() throws {
    let adopter = try Adopter(
      traits: [],
      """
      import MemoryMarkers
      Marks.phase("load")
      Marks.phase("serve")
      """)
    try #require(adopter.outcome.code == 0, "\(adopter.outcome.words)")
    #expect(adopter.fetched == [])
    #expect(try adopter.linked == ["CMemoryMarkers", "MemoryMarkers", "adopter"])
    let check = try Gate.run("check", in: adopter.project)
    #expect(check.code == 5, "\(check.words)")
    let scenario = try #require((adopter.project.result()["scenarios"] as? [[String: Any]])?.first)
    let phases = try #require((scenario["repetitions"] as? [[String: Any]])?.first?["phases"] as? [[String: Any]])
    #expect(phases.compactMap { $0["name"] as? String } == ["load", "serve"])
  }

  @Test(
    "Each other part is there where its trait is named, without the other one",
    arguments: [
      ("LaunchReason", "_ = LaunchReason(appVersion: \"1\", policy: .off)", "LoopHunter"),
      ("LoopHunter", "_ = LoopHunter(turn: ManualTurn()) { _ in }", "LaunchReason"),
    ])
  func parts(trait: String, use: String, other: String) throws {
    let adopter = try Adopter(traits: [trait], "import MemoryMarkers\n\(use)\n")
    try #require(adopter.outcome.code == 0, "\(adopter.outcome.words)")
    #expect(adopter.fetched == [])
    let without = try Adopter(traits: [other], "import MemoryMarkers\n\(use)\n")
    #expect(without.outcome.code != 0)
    #expect(without.outcome.words.contains("cannot find '\(trait)' in scope"), "\(without.outcome.words)")
  }
}
