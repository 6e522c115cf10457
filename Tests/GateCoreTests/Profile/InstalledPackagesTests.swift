import GateCore
import Testing

@Suite("Scripts of installed packages")
struct InstalledPackagesTests {
  private func profile(_ live: Int64, packages: String) -> MemoryProfile {
    let functions = [
      CallTree.Function(module: "", name: "<module>", file: "/srv/app.py", line: 9),
      CallTree.Function(module: "", name: "load_table", file: "/srv/app.py", line: 4),
      CallTree.Function(module: "", name: "full", file: "\(packages)/numpy/numeric.py", line: 385),
      CallTree.Function(module: "_umath.so", name: "PyArray_NewFromDescr"),
      CallTree.Function(module: "_umath.so", name: "default_malloc"),
    ]
    var calls = CallTree.Builder()
    calls.add(CallTree.Weight(live: live), stack: functions)
    return MemoryProfile(
      process: "python", method: .stopsAndBlocks, peak: Bytes(live), anonymous: Bytes(live), calls: calls.tree)
  }

  private func change(packages: String) throws -> FunctionChange {
    let (before, now) = (profile(1_000_000, packages: packages), profile(9_000_000, packages: packages))
    return try #require(ProfileComparison(before: [before, before], now: [now, now]).finding?.culprit?.change)
  }

  @Test(
    "The script of the program is named, and not the one of a package that it calls",
    arguments: [
      "/srv/venv/lib/python3.11/site-packages", "/usr/lib/python3/dist-packages", "/usr/lib/python3.11",
      "/srv/node_modules",
    ])
  func ownScript(packages: String) throws {
    let change = try change(packages: packages)
    #expect(change.function.name == "default_malloc")
    #expect(change.callers.map(\.name) == ["PyArray_NewFromDescr", "load_table", "<module>"])
    #expect(change.scriptLine == 4)
  }

  @Test("Other files are the program's own")
  func otherFolders() throws {
    let change = try change(packages: "/srv/vendored")
    #expect(change.callers.map(\.name) == ["PyArray_NewFromDescr", "full", "load_table", "<module>"])
    #expect(change.scriptLine == 385)
  }
}
