import Testing

/// Tests that the harness detects the errors that other suites rely on it to detect.
@Suite("The browser harness", .serialized, .inBrowser, .needsBrowser, .timeLimit(.minutes(60)))
struct BrowserHarnessTests {
  private let page = """
    <!doctype html><meta charset="utf-8"><title>a page</title><style>p { color: black }
    @media (prefers-color-scheme: dark) { p { color: white } } @media print { p { color: red } }</style>
    <p>text</p><input id="i"><button id="b">press</button>
    <script>
    document.querySelector("p").textContent = "written";
    const found = [];
    for (const kind of ["click", "dblclick", "mousemove", "mouseup"])
      document.querySelector("#b").addEventListener(kind, () => found.push(kind));
    </script>
    """

  @Test("Scripts, keys and the pointer work")
  func interaction() async throws {
    try await Browser.current.visit(page) { browser in
      #expect(try await browser.text("p") == "written")
      try await browser.click("#i")
      try await browser.type("hällo")
      try await browser.press(.home)
      try await browser.type("a", holding: .control)
      try await browser.type("c", holding: .control)
      try await browser.press(.end)
      try await browser.type("v", holding: .control)
      #expect(try await browser.evaluate("return document.querySelector('#i').value") == "hällohällo")
      try await browser.press(.tab)
      #expect(try await browser.evaluate("return document.activeElement.id") == "b")
      try await browser.doubleClick(browser.place(in: "#b"))
      #expect(try await browser.evaluate("return found.slice(-1)[0]") == "dblclick")
    }
  }

  @Test(
    "A page can be viewed in print, in dark mode, on a phone and without scripts",
    arguments: [
      (Browser.View.desktop, "rgb(0, 0, 0)", "written", 1280), (.dark, "rgb(255, 255, 255)", "written", 1280),
      (.print, "rgb(255, 0, 0)", "written", 760), (.phone, "rgb(0, 0, 0)", "written", 390),
      (.withoutScripts, "rgb(0, 0, 0)", "text", 1280),
    ]
  )
  func views(view: Browser.View, color: String, text: String, width: Int) async throws {
    let viewport = "<meta name=\"viewport\" content=\"width=device-width\">"
    try await Browser.current.visit(viewport + page, as: view) { browser in
      let found: String = try await browser.evaluate("return getComputedStyle(document.querySelector('p')).color")
      #expect(found == color)
      #expect(try await browser.text("p") == text)
      #expect(try await browser.evaluate("return innerWidth") == width)
    }
  }

  @Test(
    "Requests and console messages are detected",
    arguments: [
      "<img src=\"http://127.0.0.1:9/x.png\">", "<script>fetch('http://127.0.0.1:9/').catch(() => {})</script>",
      "<link rel=\"stylesheet\" href=\"missing.css\">", "<script>throw new Error('no')</script>",
      "<script>console.error('no')</script>",
      "<meta http-equiv=\"Content-Security-Policy\" content=\"img-src 'none'\"><img src=\"x.png\">",
    ]
  )
  func detects(html: String) async throws {
    await withKnownIssue {
      try await Browser.current.visit(html) { _ in }
    }
  }
}
