import HTTPTransfer
import LoopbackServers
import Synchronization
import Testing

@Suite("When no answer comes")
struct HTTPFailureTests {
  private func fault(
    _ request: HTTPRequest,
    trust: HTTPTrust = HTTPTrust(),
    isCancelled: @escaping () -> Bool = { false }
  ) -> HTTPFailure? {
    do {
      _ = try HTTPSession(trust: trust).send(request, isCancelled: isCancelled)
      return nil
    } catch {
      return error
    }
  }

  @Test(
    "A URL that is none is refused without sending",
    arguments: ["", "nonsense", "example.org/x", "http://", "http:// x", "http://a:b:c/", "http://h/\r\nX: y", "//h/"]
  )
  func badURL(url: String) {
    #expect(fault(HTTPRequest(url: url))?.code == .badURL)
  }

  @Test(
    "Nothing but http and https is spoken", arguments: ["file:///etc/passwd", "ftp://h/x", "gopher://h", "dict://h"])
  func scheme(url: String) {
    let code = fault(HTTPRequest(url: url))?.code
    #expect(code == .unsupportedScheme || url.hasPrefix("file") && code == .badURL)
  }

  @Test(
    "Headers and methods that would start another line are refused without sending",
    arguments: [
      ("X", "a\r\nY: b"), ("X", "a\nb"), ("X\r\nY", "a"), ("X Y", "a"), ("", "a"), ("X", "a\u{0}b"), ("X:", ""),
    ]
  )
  func badHeader(name: String, value: String) throws {
    let server = try LoopbackServer()
    let request = HTTPRequest(url: server.url("/echo"), headers: [(name, value)])
    #expect(fault(request)?.code == .badURL)
    #expect(fault(HTTPRequest(url: server.url("/echo"), method: "GET /x HTTP/1.1\r\nX:"))?.code == .badURL)
    #expect(try server.readLog().isEmpty)
  }

  @Test("A dead port is named")
  func refused() throws {
    let server = try LoopbackServer()
    server.stop()
    let failure = try #require(fault(HTTPRequest(url: "http://user:secret@127.0.0.1:\(server.port)/path?token=t")))
    #expect(failure.code == .refused)
    #expect(failure.problem == "cannot connect to 127.0.0.1:\(server.port): Connection refused")
  }

  @Test("A host without an address is named")
  func unresolved() {
    let failure = fault(HTTPRequest(url: "http://user:secret@nothing.invalid/path"))
    #expect(failure?.code == .unresolved)
    #expect(failure?.problem == "no address is known for the host `nothing.invalid`")
  }

  @Test(
    "A server that never answers, or never comes to an end, is left when the time is over",
    arguments: ["silent", "trickle"])
  func timeout(path: String) throws {
    let server = try LoopbackServer()
    var request = HTTPRequest(url: server.url("/\(path)"))
    request.totalTimeout = .milliseconds(400)
    let failure = try #require(fault(request))
    #expect(failure.code == .timedOut)
    #expect(failure.problem == "127.0.0.1:\(server.port) gave no answer in time")
  }

  @Test("Without any time left nothing is sent")
  func noTime() throws {
    let server = try LoopbackServer()
    var request = HTTPRequest(url: server.url("/echo"))
    request.totalTimeout = .zero
    #expect(fault(request)?.code == .timedOut)
    #expect(try server.readLog().isEmpty)
  }

  @Test("A transfer is called off while it waits")
  func cancelled() throws {
    let server = try LoopbackServer()
    var request = HTTPRequest(url: server.url("/silent"))
    request.totalTimeout = .seconds(50)
    let questions = Mutex(0)
    let failure = fault(request) {
      questions.withLock { count in
        count += 1
        return count > 3
      }
    }
    #expect(failure?.code == .cancelled)
    #expect(questions.withLock { $0 } == 4)
  }

  @Test("A server that ends in the middle is a lost connection", arguments: ["nothing", "half", "drop-body"])
  func lost(path: String) throws {
    let server = try LoopbackServer()
    let body = [UInt8](repeating: 1, count: path == "drop-body" ? 20_000_000 : 10)
    let request = HTTPRequest(url: server.url("/\(path)"), method: "POST", body: body)
    #expect(fault(request)?.code == .connectionLost)
  }

  @Test("A server of TLS that ends in the middle of a large request kills nobody by SIGPIPE")
  func lostWithTLS() throws {
    let certificates = try Certificates()
    let server = try LoopbackServer(certificate: certificates.identity(for: "IP:127.0.0.1"))
    let url = server.url("/drop-body", scheme: "https")
    let request = HTTPRequest(url: url, method: "POST", body: [UInt8](repeating: 1, count: 20_000_000))
    #expect(fault(request, trust: HTTPTrust(file: certificates.authority))?.code == .connectionLost)
  }

  @Test("What is not HTTP is said to be none")
  func garbage() throws {
    let server = try LoopbackServer()
    let failure = try #require(fault(HTTPRequest(url: server.url("/garbage"))))
    #expect(failure.code == .other)
    #expect(failure.problem == "what 127.0.0.1:\(server.port) answered is not HTTP")
  }

  @Test("A head without an end is left after 128 KiB")
  func endlessHeaders() throws {
    let server = try LoopbackServer()
    let failure = try #require(fault(HTTPRequest(url: server.url("/headers"))))
    #expect(failure.problem == "the headers that 127.0.0.1:\(server.port) answered are too long")
    #expect(try #require(try server.visits(1).first).sent < 64_000_000)
  }

  @Test("The session is as good as new after a failure")
  func recovery() throws {
    let server = try LoopbackServer()
    let session = HTTPSession()
    for path in ["/nothing", "/garbage", "/half", "/headers"] {
      #expect(throws: HTTPFailure.self) { try session.send(HTTPRequest(url: server.url(path))) }
    }
    #expect(try session.send(HTTPRequest(url: server.url("/echo"))).status == 200)
  }
}
