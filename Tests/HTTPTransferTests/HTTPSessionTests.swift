import HTTPTransfer
import LoopbackServers
import Testing

@Suite("Sending a request over HTTP")
struct HTTPSessionTests {
  @Test("Method, headers and body arrive unchanged, and the response is returned")
  func echo() throws {
    let server = try LoopbackServer()
    let request = HTTPRequest(
      url: server.url("/echo?x=1"),
      method: "POST",
      headers: [("Content-Type", "application/json"), ("User-Agent", "highwater/test"), ("X-Empty", "")],
      body: Array("{\"grüße\": 1}".utf8)
    )
    let response = try HTTPSession().send(request)
    let visit = try #require(try server.visits(1).first)
    #expect(response.status == 200)
    #expect(response.body == request.body)
    #expect(visit.method == "POST")
    #expect(visit.path == "/echo?x=1")
    #expect(visit.headers["content-type"] == "application/json")
    #expect(visit.headers["user-agent"] == "highwater/test")
    #expect(visit.headers["x-empty"] == "")
    #expect(visit.headers["expect"] == nil)
  }

  @Test("A body may be empty, binary or large", arguments: [0, 1, 3_000_000])
  func bodies(size: Int) throws {
    let server = try LoopbackServer()
    let body = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    var request = HTTPRequest(url: server.url("/echo"), method: "PUT", body: body)
    request.maximumResponseSize = size
    #expect(try HTTPSession().send(request).body == body)
    #expect(try server.visits(1).first?.headers["expect"] == nil)
  }

  @Test(
    "Methods arrive unchanged, including those that libcurl handles specially",
    arguments: ["GET", "DELETE", "HEAD", "POST"])
  func methods(method: String) throws {
    let server = try LoopbackServer()
    let response = try HTTPSession().send(HTTPRequest(url: server.url("/status/202"), method: method))
    #expect(response.status == 202)
    #expect(response.body.isEmpty == (method == "HEAD"))
    let visit = try #require(try server.visits(1).first)
    #expect(visit.method == method)
    #expect(visit.headers["content-type"] == nil)
  }

  @Test("A response with any status is returned", arguments: [204, 302, 404, 429, 500, 503])
  func statuses(status: Int) throws {
    let server = try LoopbackServer()
    #expect(try HTTPSession().send(HTTPRequest(url: server.url("/status/\(status)"))).status == status)
  }

  @Test("A redirect is not followed")
  func redirect() throws {
    let server = try LoopbackServer()
    #expect(try HTTPSession().send(HTTPRequest(url: server.url("/redirect"))).status == 302)
    #expect(try server.visits(1).map(\.path) == ["/redirect"])
  }

  @Test("Requests of one session share a connection")
  func reuse() throws {
    let server = try LoopbackServer()
    let session = HTTPSession()
    for _ in 0..<3 { _ = try session.send(HTTPRequest(url: server.url("/echo"))) }
    #expect(Set(try server.visits(3).map(\.connection)).count == 1)
  }

  @Test("Nothing of a request leaks into the next one")
  func isolation() throws {
    let server = try LoopbackServer()
    let session = HTTPSession()
    _ = try session.send(
      HTTPRequest(url: server.url("/echo"), method: "POST", headers: [("X-Secret", "1")], body: [1, 2, 3])
    )
    _ = try session.send(HTTPRequest(url: server.url("/echo")))
    let second = try #require(try server.visits(2).last)
    #expect(second.method == "GET")
    #expect(second.headers["x-secret"] == nil)
    #expect(second.body.isEmpty)
  }

  @Test("Retry-After is parsed as seconds and as a date")
  func retryAfter() throws {
    let server = try LoopbackServer()
    #expect(try HTTPSession().send(HTTPRequest(url: server.url("/busy/1/7"))).retryAfter == .seconds(7))
    let date = try #require(try HTTPSession().send(HTTPRequest(url: server.url("/busy/1/date"))).retryAfter)
    #expect(date > .seconds(40) && date <= .seconds(101))
    #expect(try HTTPSession().send(HTTPRequest(url: server.url("/echo"))).retryAfter == nil)
  }

  @Test("A user and password in the URL are sent as Basic authentication")
  func credentials() throws {
    let server = try LoopbackServer()
    _ = try HTTPSession().send(HTTPRequest(url: "http://user:pa%20ss@127.0.0.1:\(server.port)/echo"))
    #expect(try server.visits(1).first?.headers["authorization"] == "Basic dXNlcjpwYSBzcw==")
  }

  @Test("A response of 1 GB is truncated, and the rest is not read", arguments: ["yes", "no"])
  func huge(announced: String) throws {
    let server = try LoopbackServer()
    var request = HTTPRequest(url: server.url("/huge/\(announced)"))
    request.maximumResponseSize = 100_000
    let response = try HTTPSession().send(request)
    #expect(response.status == 200)
    #expect(response.body == Array(repeating: UInt8(ascii: "x"), count: 100_000))
    // The server can send as much as fits into the buffers of two sockets.
    #expect(try #require(try server.visits(1).first).sent < 64_000_000)
  }

  @Test("A response of exactly the maximum size is complete, and the maximum can be zero", arguments: [0, 8])
  func exact(limit: Int) throws {
    let server = try LoopbackServer()
    var request = HTTPRequest(url: server.url("/status/200"))
    request.maximumResponseSize = limit
    #expect(try HTTPSession().send(request).body == Array("as asked".utf8.prefix(limit)))
  }
}
