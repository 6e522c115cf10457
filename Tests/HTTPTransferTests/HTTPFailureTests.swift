import HTTPTransfer
import LoopbackServers
import Synchronization
import Testing

@Suite("Requests without a response")
struct HTTPFailureTests {
  private func failure(
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
    "An invalid URL is rejected before anything is sent",
    arguments: ["", "nonsense", "example.org/x", "http://", "http:// x", "http://a:b:c/", "http://h/\r\nX: y", "//h/"]
  )
  func badURL(url: String) {
    #expect(failure(HTTPRequest(url: url))?.code == .badURL)
  }

  @Test(
    "Only http and https are supported", arguments: ["file:///etc/passwd", "ftp://h/x", "gopher://h", "dict://h"])
  func scheme(url: String) {
    let code = failure(HTTPRequest(url: url))?.code
    #expect(code == .unsupportedScheme || url.hasPrefix("file") && code == .badURL)
  }

  @Test(
    "Headers and methods that would inject another line are rejected before anything is sent",
    arguments: [
      ("X", "a\r\nY: b"), ("X", "a\nb"), ("X\r\nY", "a"), ("X Y", "a"), ("", "a"), ("X", "a\u{0}b"), ("X:", ""),
    ]
  )
  func badHeader(name: String, value: String) throws {
    let server = try LoopbackServer()
    let request = HTTPRequest(url: server.url("/echo"), headers: [(name, value)])
    #expect(failure(request)?.code == .badURL)
    #expect(failure(HTTPRequest(url: server.url("/echo"), method: "GET /x HTTP/1.1\r\nX:"))?.code == .badURL)
    #expect(try server.readLog().isEmpty)
  }

  @Test("A closed port is named")
  func refused() throws {
    let server = try LoopbackServer()
    server.stop()
    let failure = try #require(
      self.failure(HTTPRequest(url: "http://user:secret@127.0.0.1:\(server.port)/path?token=t")))
    #expect(failure.code == .refused)
    #expect(failure.problem == "cannot connect to 127.0.0.1:\(server.port): connection refused")
  }

  @Test("A host that cannot be resolved is named")
  func unresolved() {
    let failure = self.failure(HTTPRequest(url: "http://user:secret@nothing.invalid/path"))
    #expect(failure?.code == .unresolved)
    #expect(failure?.problem == "cannot resolve the host `nothing.invalid`")
  }

  @Test(
    "A server that never responds, or never finishes its response, ends in a timeout",
    arguments: ["silent", "trickle"])
  func timeout(path: String) throws {
    let server = try LoopbackServer()
    var request = HTTPRequest(url: server.url("/\(path)"))
    request.totalTimeout = .milliseconds(400)
    let failure = try #require(self.failure(request))
    #expect(failure.code == .timedOut)
    #expect(failure.problem == "127.0.0.1:\(server.port) did not respond in time")
  }

  @Test("With no time left, nothing is sent")
  func noTime() throws {
    let server = try LoopbackServer()
    var request = HTTPRequest(url: server.url("/echo"))
    request.totalTimeout = .zero
    #expect(failure(request)?.code == .timedOut)
    #expect(try server.readLog().isEmpty)
  }

  @Test("A transfer can be cancelled while it waits")
  func cancelled() throws {
    let server = try LoopbackServer()
    var request = HTTPRequest(url: server.url("/silent"))
    request.totalTimeout = .seconds(50)
    let calls = Mutex(0)
    let failure = self.failure(request) {
      calls.withLock { count in
        count += 1
        return count > 3
      }
    }
    #expect(failure?.code == .cancelled)
    #expect(calls.withLock { $0 } == 4)
  }

  @Test(
    "A server that closes the connection early is reported as a lost connection",
    arguments: ["nothing", "half", "drop-body"])
  func lost(path: String) throws {
    let server = try LoopbackServer()
    let body = [UInt8](repeating: 1, count: path == "drop-body" ? 20_000_000 : 10)
    let request = HTTPRequest(url: server.url("/\(path)"), method: "POST", body: body)
    #expect(failure(request)?.code == .connectionLost)
  }

  @Test("A TLS server that closes the connection during a large request does not raise SIGPIPE")
  func lostWithTLS() throws {
    let certificates = try Certificates()
    let server = try LoopbackServer(certificate: certificates.identity(for: "IP:127.0.0.1"))
    let url = server.url("/drop-body", scheme: "https")
    let request = HTTPRequest(url: url, method: "POST", body: [UInt8](repeating: 1, count: 20_000_000))
    #expect(failure(request, trust: HTTPTrust(file: certificates.authority))?.code == .connectionLost)
  }

  @Test("A response that is not HTTP is reported", arguments: ["garbage", "no-status"])
  func garbage(path: String) throws {
    let server = try LoopbackServer()
    let failure = try #require(self.failure(HTTPRequest(url: server.url("/\(path)"))))
    #expect(failure.code == .other)
    #expect(failure.problem == "the response of 127.0.0.1:\(server.port) is not HTTP")
  }

  @Test("Endless response headers are cut off after 128 KiB")
  func endlessHeaders() throws {
    let server = try LoopbackServer()
    let failure = try #require(self.failure(HTTPRequest(url: server.url("/headers"))))
    #expect(failure.problem == "the response headers of 127.0.0.1:\(server.port) are longer than 128 KiB")
    #expect(try #require(try server.visits(1).first).sent < 64_000_000)
  }

  @Test("A session works again after a failure")
  func recovery() throws {
    let server = try LoopbackServer()
    let session = HTTPSession()
    for path in ["/nothing", "/garbage", "/half", "/headers"] {
      #expect(throws: HTTPFailure.self) { try session.send(HTTPRequest(url: server.url(path))) }
    }
    #expect(try session.send(HTTPRequest(url: server.url("/echo"))).status == 200)
  }
}
