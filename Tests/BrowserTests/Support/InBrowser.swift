import Testing

/// Gives all tests of a suite one browser; the suites are `.serialized`, since the browser has one window.
struct InBrowser: SuiteTrait, TestScoping {
  /// The browser of the running suite.
  @TaskLocal static var browser: Browser?

  func provideScope(
    for test: Test,
    testCase: Test.Case?,
    performing function: @Sendable () async throws -> Void
  ) async throws {
    let browser = try await Browser()
    do {
      try await Self.$browser.withValue(browser, operation: function)
    } catch {
      await browser.stop()
      throw error
    }
    await browser.stop()
  }
}

extension Trait where Self == InBrowser {
  static var inBrowser: InBrowser { InBrowser() }
}

extension Trait where Self == ConditionTrait {
  static var needsBrowser: ConditionTrait {
    .enabled(if: Browser.isInstalled, "chromium and chromedriver are not installed")
  }
}

extension Browser {
  /// The browser of the running suite.
  static var current: Browser {
    get throws { try #require(InBrowser.browser) }
  }
}
