import Foundation
import Testing

@testable import GateApplication

@Suite("The tables of ci-systems.md")
struct CIDocumentationTests {
  private static func lines() throws -> [String] {
    let root = URL(filePath: #filePath).pathComponents.dropLast(3).joined(separator: "/").dropFirst()
    let path = "\(root)/Sources/highwater/Documentation.docc/ci-systems.md"
    return try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map(String.init)
  }

  @Test("Each format of reports has a row with its purpose")
  func formats() throws {
    let lines = try Self.lines()
    for format in ReportFormat.allCases {
      let name = format.rawValue
      let rows = ["--\(name) FILE", "--report \(name)=FILE"].map { "| `\(name)` | `\($0)` | \(format.purpose) |" }
      #expect(lines.contains(where: rows.contains), "\(rows)")
    }
  }

  @Test("Each CI system has a row with what it is recognised by")
  func systems() throws {
    let lines = try Self.lines()
    for row in CISystem.allCases.map(\.row) {
      let sign = [row.variable, row.value].compactMap(\.self).joined(separator: "=")
      #expect(lines.contains { $0.hasPrefix("| \(row.name) | `\(sign)` | ") }, "\(row.name) \(sign)")
    }
  }
}
