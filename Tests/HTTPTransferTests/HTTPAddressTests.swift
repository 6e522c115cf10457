import HTTPTransfer
import Testing

@Suite("The printable part of a URL")
struct HTTPAddressTests {
  @Test(
    "It is the host and port, never credentials, path or query",
    arguments: [
      ("https://hooks.example.org/services/T0/SECRET", "hooks.example.org:443"),
      ("http://user:secret@host/x?token=t#f", "host:80"),
      ("HTTP://Host:8080", "Host:8080"),
      ("http://[::1]:7001/x", "[::1]:7001"),
    ]
  )
  func shown(url: String, address: String) throws {
    #expect(try HTTPAddress(parsing: url).description == address)
  }

  @Test(
    "Addresses of this machine are recognized in each notation",
    arguments: [
      ("127.0.0.1", true), ("127.255.0.3", true), ("127.1", true), ("0x7f000001", true), ("0.0.0.0", true),
      ("[::1]", true), ("[::]", true), ("[::ffff:127.0.0.1]", true), ("LocalHost.", true), ("a.localhost", true),
      ("126.0.0.1", false), ("128.0.0.1", false), ("[::2]", false), ("[fe80::1]", false), ("[::ffff:10.0.0.1]", false),
      ("localhost.example", false), ("127.0.0.1.example", false),
    ]
  )
  func loopback(host: String, isLoopback: Bool) throws {
    #expect(try HTTPAddress(parsing: "http://\(host):80/").isLoopback == isLoopback)
  }

  @Test(
    "The description of an invalid URL contains no part of it",
    arguments: [
      "secret", "http://secret:port/", "http://se cret/", "secret://h", "http://a:secret@b@", "http://secret%c2%9b",
      "http://secret\u{9b}", "http://secret%e2%80%ae/",
    ])
  func bad(url: String) {
    let failure = #expect(throws: HTTPFailure.self) { try HTTPAddress(parsing: url) }
    #expect(failure?.problem.contains("secret") == false)
  }
}
