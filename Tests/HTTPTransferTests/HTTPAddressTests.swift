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
    "The description of an invalid URL contains no part of it",
    arguments: ["secret", "http://secret:port/", "http://se cret/", "secret://h", "http://a:secret@b@"])
  func bad(url: String) {
    let failure = #expect(throws: HTTPFailure.self) { try HTTPAddress(parsing: url) }
    #expect(failure?.problem.contains("secret") == false)
  }
}
