import Foundation
import HTTPTransfer
import Testing

/// A headless Chromium with one window, driven over WebDriver (W3C WebDriver 2) by Debian's chromedriver.
///
/// A shell kills the driver when its input closes, however this process ends; the browser reads from a pipe of the
/// driver and exits with it.
final class Browser: Sendable {
  struct Failure: Error {
    let request: String
    let answer: String
  }

  private let process: Process
  private let input: Pipe
  private let folder: URL
  private let session: String

  private static let tools = ["chromium", "chromedriver"].map { name in
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin").split(separator: ":")
    return folders.map { "\($0)/\(name)" }.first(where: FileManager.default.isExecutableFile)
  }

  static let isInstalled = !tools.contains(nil)

  /// Starts the browser, and its driver on a free loopback port.
  init() async throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "highwater-browser-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    process = Process()
    input = Pipe()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = [
      "-c", #"exec 3<&0; setsid "$0" --port=0 3<&- & cat <&3 >/dev/null; kill -s KILL -- -$!"#,
      Self.tools[1] ?? "chromedriver",
    ]
    process.standardInput = input
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    let port = try Self.port(from: output.fileHandleForReading)
    let sessions = "http://127.0.0.1:\(port)/session"
    let made: Session = try await Self.send("POST", to: sessions, Self.capabilities(folder: folder.path))
    session = "\(sessions)/\(made.sessionId)"
  }

  /// Ends the browser and its driver.
  func stop() async {
    let _: Ignored? = try? await Self.send("DELETE", to: session)
    await end()
  }

  private func end() async {
    try? input.fileHandleForWriting.close()
    while process.isRunning { try? await Task.sleep(for: .milliseconds(5)) }
    try? FileManager.default.removeItem(at: folder)
  }

  private struct Session: Decodable {
    let sessionId: String
  }

  /// Waits for the line in which the driver reports its port.
  private static func port(from output: FileHandle) throws -> Int {
    var text = ""
    while let more = String(data: output.availableData, encoding: .utf8), !more.isEmpty {
      text += more
      if let match = text.firstMatch(of: /successfully on port ([0-9]+)/), let port = Int(match.1) { return port }
    }
    throw Failure(request: "chromedriver", answer: text)
  }

  private static func capabilities(folder: String) -> JSON {
    let switches: [JSON] = [
      "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
      "--disable-background-networking", "--remote-debugging-pipe", "--hide-scrollbars", "--lang=en-US",
      .text("--user-data-dir=\(folder)/profile"),
    ]
    let options: JSON = ["binary": .text(tools[0] ?? "chromium"), "args": .list(switches)]
    let logs: JSON = ["performance": "ALL", "browser": "ALL"]
    return ["capabilities": ["alwaysMatch": ["goog:chromeOptions": options, "goog:loggingPrefs": logs]]]
  }
}

extension Browser {
  /// The display of a page.
  struct View: Sendable {
    var width = 1280
    var height = 900
    var isDark = false
    /// `screen` or `print`.
    var media = "screen"
    var runsScripts = true

    static let desktop = View()
    static let dark = View(isDark: true)
    static let phone = View(width: 390, height: 844)
    static let print = View(width: 760, height: 1075, media: "print")
    static let withoutScripts = View(runsScripts: false)
  }

  /// Opens a page from a file, runs a test on it, and expects no other request and no console message.
  func visit(
    _ html: String,
    at fragment: String = "",
    as view: View = .desktop,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ work: (Browser) async throws -> Void
  ) async throws {
    let file = folder.appending(path: "\(UUID().uuidString).html")
    try Data(html.utf8).write(to: file)
    try await look(as: view)
    try await open("about:blank")
    _ = try await (requests(), diagnostics())
    try await open(file.absoluteString + (fragment.isEmpty ? "" : "#\(fragment)"))
    try await work(self)
    // Let pending requests and callbacks of the last action finish.
    if view.runsScripts { try await settle() }
    let otherRequests = try await requests().filter { !$0.hasPrefix(file.absoluteString) }
    #expect(otherRequests == [], "the page requests other files", sourceLocation: sourceLocation)
    let diagnostics = try await diagnostics()
    #expect(diagnostics == [], "the console stays empty", sourceLocation: sourceLocation)
    try FileManager.default.removeItem(at: file)
  }

  private func look(as view: View) async throws {
    try await command(
      "Emulation.setDeviceMetricsOverride",
      [
        "width": .number(view.width), "height": .number(view.height), "deviceScaleFactor": 1,
        "mobile": .flag(view.width < 600),
      ])
    let scheme: JSON = ["name": "prefers-color-scheme", "value": view.isDark ? "dark" : "light"]
    try await command("Emulation.setEmulatedMedia", ["media": .text(view.media), "features": [scheme]])
    try await command("Emulation.setScriptExecutionDisabled", ["value": .flag(!view.runsScripts)])
  }

  /// Opens an address, which may differ from the current one only in its fragment.
  func open(_ address: String) async throws {
    let _: Ignored? = try await post("url", ["url": .text(address)])
  }

  func back() async throws {
    let _: Ignored? = try await post("back", [:])
  }

  /// The result of a script with these `arguments`, such as `return document.title`.
  func evaluate<Value: Decodable>(
    _ script: String,
    _ arguments: JSON...,
    as type: Value.Type = Value.self
  ) async throws -> Value {
    try await post("execute/sync", ["script": .text(script), "args": .list(arguments)])
  }

  /// The visible text of the first element that matches a selector, if any.
  func text(_ selector: String) async throws -> String? {
    try await evaluate("return document.querySelector(arguments[0])?.innerText ?? null", .text(selector))
  }

  /// Waits until two frames have been drawn.
  func settle() async throws {
    let script = "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done(null)))"
    let _: Ignored? = try await post("execute/async", ["script": .text(script), "args": []])
  }

  /// Waits until a script such as `return document.activeElement.id === "x"` returns true; gives up after 30 seconds.
  func wait(for script: String, sourceLocation: SourceLocation = #_sourceLocation) async throws {
    for _ in 0..<600 {
      if try await evaluate(script, as: Bool.self) { return }
      try await Task.sleep(for: .milliseconds(50))
    }
    Issue.record("it never came true: \(script)", sourceLocation: sourceLocation)
  }

  /// The visible part or the whole page, as a PNG file.
  func screenshot(to path: String, isWhole: Bool = false) async throws {
    let picture: Picture = try await command("Page.captureScreenshot", ["captureBeyondViewport": .flag(isWhole)])
    try Data(base64Encoded: picture.data)?.write(to: URL(fileURLWithPath: path))
  }

  private struct Picture: Decodable {
    let data: String
  }

  /// A command of the DevTools protocol.
  func command<Value: Decodable>(_ name: String, _ parameters: JSON) async throws -> Value {
    try await post("goog/cdp/execute", ["cmd": .text(name), "params": parameters])
  }

  func command(_ name: String, _ parameters: JSON) async throws {
    let _: Ignored? = try await command(name, parameters)
  }

  /// The addresses that the page has requested since the last call, without data URLs.
  private func requests() async throws -> [String] {
    struct Event: Decodable {
      struct Message: Decodable {
        struct Parameters: Decodable {
          struct Request: Decodable { let url: String }
          let request: Request?
          let url: String?
        }
        let method: String
        let params: Parameters?
      }
      let message: Message
    }
    let began = ["Network.requestWillBeSent", "Network.webSocketCreated", "Network.webTransportCreated"]
    return try await log("performance").compactMap { entry in
      let event = try JSONDecoder().decode(Event.self, from: Data(entry.message.utf8)).message
      guard began.contains(event.method) else { return nil }
      return event.params?.request?.url ?? event.params?.url
    }.filter { !$0.hasPrefix("data:") && $0 != "about:blank" }
  }

  /// Warnings and errors on the console since the last call.
  private func diagnostics() async throws -> [String] {
    try await log("browser").filter { ["SEVERE", "WARNING"].contains($0.level) }.map(\.message)
  }

  private struct LogEntry: Decodable {
    let level: String
    let message: String
  }

  private func log(_ type: String) async throws -> [LogEntry] {
    try await post("se/log", ["type": .text(type)])
  }
}

extension Browser {
  /// Keys without a character (WebDriver, 17.4.2).
  enum Key: String, Sendable {
    case tab = "\u{e004}", enter = "\u{e007}", shift = "\u{e008}", control = "\u{e009}", escape = "\u{e00c}"
    case end = "\u{e010}", home = "\u{e011}", left = "\u{e012}", up = "\u{e013}", right = "\u{e014}", down = "\u{e015}"
  }

  /// Presses keys one after the other.
  func press(_ keys: Key...) async throws {
    try await type(keys.map(\.rawValue).joined())
  }

  /// Types a text character by character while holding keys such as ``Key/control``.
  func type(_ text: String, holding held: Key...) async throws {
    let down = held.map { key("keyDown", $0.rawValue) }
    let up = held.reversed().map { key("keyUp", $0.rawValue) }
    let strokes = text.map(String.init).flatMap { [key("keyDown", $0), key("keyUp", $0)] }
    try await act(["type": "key", "id": "keyboard", "actions": .list(down + strokes + up)])
  }

  /// A point in the window, in CSS pixels from the visible top left corner.
  struct Place: Sendable, Decodable {
    var x: Double
    var y: Double
  }

  /// A point in the first element that matches a selector, as fractions of its size; scrolls the element into view.
  func place(in selector: String, x: Double = 0.5, y: Double = 0.5) async throws -> Place {
    try await evaluate(
      """
      const element = document.querySelector(arguments[0]);
      element.scrollIntoView({block: "nearest", behavior: "instant"});
      const box = element.getBoundingClientRect();
      return {x: box.x + box.width * arguments[1], y: box.y + box.height * arguments[2]};
      """,
      .text(selector), .real(x), .real(y)
    )
  }

  func hover(_ place: Place) async throws {
    try await pointer([move(to: place)])
  }

  func click(_ place: Place) async throws {
    try await pointer([move(to: place), Self.down, Self.up])
  }

  func click(_ selector: String) async throws {
    try await click(place(in: selector))
  }

  func doubleClick(_ place: Place) async throws {
    try await pointer([move(to: place), Self.down, Self.up, Self.down, Self.up])
  }

  func drag(from start: Place, to end: Place) async throws {
    let middle = Place(x: (start.x + end.x) / 2, y: (start.y + end.y) / 2)
    try await pointer([move(to: start), Self.down, move(to: middle), move(to: end), Self.up])
  }

  private static let down: JSON = ["type": "pointerDown", "button": 0]
  private static let up: JSON = ["type": "pointerUp", "button": 0]

  private func key(_ kind: String, _ value: String) -> JSON {
    ["type": .text(kind), "value": .text(value)]
  }

  private func move(to place: Place) -> JSON {
    ["type": "pointerMove", "duration": 0, "x": .number(Int(place.x)), "y": .number(Int(place.y))]
  }

  private func pointer(_ actions: [JSON]) async throws {
    let mouse: JSON = ["pointerType": "mouse"]
    try await act(["type": "pointer", "id": "mouse", "parameters": mouse, "actions": .list(actions)])
  }

  private func act(_ source: JSON) async throws {
    let _: Ignored? = try await post("actions", ["actions": [source]])
  }
}

extension Browser {
  /// A response that is ignored.
  private struct Ignored: Decodable {
    init(from decoder: any Decoder) {}
  }

  private struct Response<Value: Decodable>: Decodable {
    let value: Value
  }

  private func post<Value: Decodable>(_ path: String, _ body: JSON) async throws -> Value {
    try await Self.send("POST", to: "\(session)/\(path)", body)
  }

  /// Sends a request and returns the response.
  ///
  /// Uses HTTPTransfer: FoundationNetworking rejects the driver's headers, which have no space after the colon ("Failed
  /// writing header", Swift 6.3.1 with chromedriver 156).
  private static func send<Value: Decodable>(
    _ method: String,
    to url: String,
    _ body: JSON? = nil
  ) async throws -> Value {
    var request = HTTPRequest(url: url, method: method)
    request.body = try body.map { Array(try JSONEncoder().encode($0)) }
    request.totalTimeout = .seconds(120)
    request.maximumResponseSize = 64 << 20
    let answer = try await withCheckedThrowingContinuation { (waiting: CheckedContinuation<HTTPResponse, any Error>) in
      DispatchQueue.global().async { [request] in
        waiting.resume(with: Result { try HTTPSession().send(request) })
      }
    }
    guard answer.status == 200 else {
      let words = body.map { "\($0)" } ?? ""
      let text = String(decoding: answer.body.prefix(2000), as: UTF8.self)
      throw Failure(request: "\(method) \(url) \(words.prefix(500))", answer: text)
    }
    return try JSONDecoder().decode(Response<Value>.self, from: Data(answer.body)).value
  }
}
