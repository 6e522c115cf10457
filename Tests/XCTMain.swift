import Testing

/// Runs the tests as the main function that SwiftPM would write, but lists no tests of XCTest for it, of which there are none:
/// that list needs an index of all sources, which takes a fifth of the time of a build.
@main
private struct Main {
  static func main() async { await Testing.__swiftPMEntryPoint() as Never }
}
