import Foundation
import HTTPTransfer
import LoopbackServers
import Testing

@Suite("Server certificates")
struct HTTPTrustTests {
  private let certificates: Certificates

  init() throws {
    certificates = try Certificates()
  }

  private func code(
    for names: String,
    host: String,
    days: Int = 2,
    trusted: Bool = true
  ) throws -> HTTPFailure.Code? {
    let server = try LoopbackServer(certificate: certificates.identity(for: names, days: days))
    let session = HTTPSession(trust: HTTPTrust(file: trusted ? certificates.authority : nil))
    do {
      let response = try session.send(HTTPRequest(url: server.url("/echo", scheme: "https", host: host)))
      return response.status == 200 ? nil : .other
    } catch {
      return error.code
    }
  }

  @Test("A certificate of a trusted authority is accepted", arguments: ["localhost", "127.0.0.1"])
  func trusted(host: String) throws {
    #expect(try code(for: "DNS:localhost,IP:127.0.0.1", host: host) == nil)
  }

  @Test("A certificate of an unknown authority is rejected")
  func unknownAuthority() throws {
    #expect(try code(for: "DNS:localhost", host: "localhost", trusted: false) == .untrusted)
  }

  @Test(
    "A certificate for another host is rejected",
    arguments: [("DNS:example.org", "localhost"), ("DNS:localhost", "127.0.0.1")])
  func otherHost(names: String, host: String) throws {
    #expect(try code(for: names, host: host) == .untrusted)
  }

  @Test("An expired certificate is rejected")
  func expired() throws {
    #expect(try code(for: "DNS:localhost", host: "localhost", days: -1) == .untrusted)
  }

  @Test("The reason is reported, with only the server of the URL")
  func description() throws {
    let server = try LoopbackServer(certificate: certificates.identity(for: "DNS:localhost", days: -1))
    let session = HTTPSession(trust: HTTPTrust(file: certificates.authority))
    let failure = #expect(throws: HTTPFailure.self) {
      try session.send(HTTPRequest(url: "https://user:secret@localhost:\(server.port)/path?token=t"))
    }
    #expect(
      failure?.problem == "the certificate of localhost:\(server.port) is not trusted: "
        + "SSL certificate problem: certificate has expired"
    )
  }

  @Test("A missing certificate file is named")
  func missingFile() {
    let session = HTTPSession(trust: HTTPTrust(file: "/nonexistent/ca.pem"))
    let failure = #expect(throws: HTTPFailure.self) { try session.send(HTTPRequest(url: "https://localhost:1/")) }
    #expect(failure?.code == .refused || failure?.problem.contains("/nonexistent/ca.pem") == true)
  }

  @Test("SSL_CERT_FILE is used")
  func certFile() async {
    await #expect(processExitsWith: .success) {
      let certificates = try Certificates()
      let server = try LoopbackServer(certificate: certificates.identity(for: "DNS:localhost"))
      unsetenv("CURL_CA_BUNDLE")
      setenv("SSL_CERT_FILE", certificates.authority, 1)
      let request = HTTPRequest(url: server.url("/echo", scheme: "https", host: "localhost"))
      let response = try withExtendedLifetime(certificates) { try HTTPSession().send(request) }
      try #require(response.status == 200)
    }
  }

  @Test("CURL_CA_BUNDLE takes precedence")
  func bundle() async {
    await #expect(processExitsWith: .success) {
      let certificates = try Certificates()
      let server = try LoopbackServer(certificate: certificates.identity(for: "DNS:localhost"))
      setenv("SSL_CERT_FILE", "/nonexistent", 1)
      setenv("CURL_CA_BUNDLE", certificates.authority, 1)
      let request = HTTPRequest(url: server.url("/echo", scheme: "https", host: "localhost"))
      let response = try withExtendedLifetime(certificates) { try HTTPSession().send(request) }
      try #require(response.status == 200)
    }
  }

  @Test("SSL_CERT_DIR is used")
  func certDirectory() async {
    await #expect(processExitsWith: .success) {
      let certificates = try Certificates()
      let server = try LoopbackServer(certificate: certificates.identity(for: "DNS:localhost"))
      unsetenv("CURL_CA_BUNDLE")
      unsetenv("SSL_CERT_FILE")
      setenv("SSL_CERT_DIR", try certificates.hashedDirectory(), 1)
      let request = HTTPRequest(url: server.url("/echo", scheme: "https", host: "localhost"))
      let response = try withExtendedLifetime(certificates) { try HTTPSession().send(request) }
      try #require(response.status == 200)
    }
  }
}

@Suite("Proxies from the environment")
struct ProxyTests {
  @Test("http_proxy is used, except for the hosts in NO_PROXY")
  func plain() async {
    await #expect(processExitsWith: .success) {
      let proxy = try LoopbackServer(isProxy: true)
      let server = try LoopbackServer()
      unsetenv("NO_PROXY")
      unsetenv("no_proxy")
      setenv("http_proxy", "http://127.0.0.1:\(proxy.port)", 1)
      let response = try HTTPSession().send(HTTPRequest(url: "http://hooks.example/x"))
      try #require(response.body == Array("by proxy: http://hooks.example/x".utf8))
      setenv("NO_PROXY", "127.0.0.1", 1)
      try #require(try HTTPSession().send(HTTPRequest(url: server.url("/status/200"))).body == Array("as asked".utf8))
    }
  }

  @Test("https_proxy only forwards the connection: TLS is with the server itself")
  func tunnel() async {
    await #expect(processExitsWith: .success) {
      let certificates = try Certificates()
      let proxy = try LoopbackServer(isProxy: true)
      let server = try LoopbackServer(certificate: certificates.identity(for: "DNS:localhost"))
      unsetenv("NO_PROXY")
      unsetenv("no_proxy")
      setenv("https_proxy", "http://127.0.0.1:\(proxy.port)", 1)
      let session = HTTPSession(trust: HTTPTrust(file: certificates.authority))
      let request = HTTPRequest(url: server.url("/echo", scheme: "https", host: "localhost"), headers: [("X-Key", "k")])
      try #require(try session.send(request).status == 200)
      let seen = try proxy.visits(1)
      try #require(seen.map(\.path) == ["localhost:\(server.port)"])
      try #require(seen.allSatisfy { $0.headers["x-key"] == nil })
    }
  }

  @Test("A request that avoids it goes directly to this machine, whatever the variables say")
  func avoided() async {
    await #expect(processExitsWith: .success) {
      let proxy = try LoopbackServer(isProxy: true)
      let server = try LoopbackServer()
      unsetenv("NO_PROXY")
      unsetenv("no_proxy")
      for name in ["http_proxy", "all_proxy", "ALL_PROXY"] { setenv(name, "http://127.0.0.1:\(proxy.port)", 1) }
      for host in ["127.0.0.1", "localhost", "LocalHost", "0x7f.1"] {
        var request = HTTPRequest(url: server.url("/status/200", host: host))
        request.avoidsProxyOnLoopback = true
        try #require(try HTTPSession().send(request).body == Array("as asked".utf8))
      }
      var request = HTTPRequest(url: "http://127.0.0.1:1/")
      request.avoidsProxyOnLoopback = true
      let failure = #expect(throws: HTTPFailure.self) { try HTTPSession().send(request) }
      try #require(failure?.problem.contains("proxy") == false)
      request.url = "http://hooks.example/"
      try #require(try HTTPSession().send(request).body == Array("by proxy: http://hooks.example/".utf8))
    }
  }

  @Test("An unreachable proxy is mentioned, without its password")
  func unreachable() async {
    await #expect(processExitsWith: .success) {
      unsetenv("NO_PROXY")
      unsetenv("no_proxy")
      setenv("http_proxy", "http://user:secret@127.0.0.1:1", 1)
      let failure = #expect(throws: HTTPFailure.self) {
        try HTTPSession().send(HTTPRequest(url: "http://hooks.example/"))
      }
      try #require(failure?.code == .refused)
      try #require(failure?.problem.hasSuffix("(the environment sets a proxy)") == true)
      try #require(failure?.problem.contains("secret") == false)
    }
  }
}
