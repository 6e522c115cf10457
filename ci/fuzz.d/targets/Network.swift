import GateCore
import Glibc
import HTTPTransfer
import LinuxSystem

@testable import GateApplication
@testable import GateProbe

extension FuzzTarget {
  /// The bytes that a server answers with, before it closes the connection.
  static let response = FuzzTarget("response") { input in
    let server = AnsweringServer.shared
    server.answer = input
    var request = HTTPRequest(url: "http://127.0.0.1:\(server.port)/", method: "POST", body: [0x7b, 0x7d])
    request.totalTimeout = .seconds(5)
    request.maximumResponseSize = 4096
    request.avoidsProxyOnLoopback = true
    do {
      let response = try HTTPSession(trust: HTTPTrust()).send(request)
      try promise(response.status >= 0, "the status is \(response.status)")
      try promise(response.body.count <= 4096, "the body has \(response.body.count) bytes")
      if let pause = response.retryAfter {
        try promise(pause > .zero && pause <= .seconds(86_400 * 365), "the pause is \(pause)")
      }
    } catch let error as HTTPFailure {
      try PrintedText.expectNoControl(error.problem)
    }
  }

  /// The address of a webhook.
  static let address = FuzzTarget("address") { input in
    let text = String(decoding: input, as: UTF8.self)
    let shown = ShownURL.withoutCredentials(text)
    try promise(!shown.contains("?") && !shown.contains("#"), "a query is shown: \(shown)")
    let address: HTTPAddress
    do throws(HTTPFailure) {
      address = try HTTPAddress(parsing: text)
    } catch {
      return try promise(input.count < 80 || !error.problem.contains(text), "an error shows the address: \(error)")
    }
    try PrintedText.expectNoControl(address.host)
    try promise((0...65535).contains(address.port), "the port is \(address.port)")
    _ = address.isLoopback
  }

  /// A file in the folder of messages to deliver.
  static let outbox = FuzzTarget("outbox") { input in
    guard let message = QueuedMessage(parsing: input) else { return }
    let webhook = Webhook(reference: "x", url: Secret("http://127.0.0.1"), secret: SigningSecret("s"))
    try promise(message.hasValidNames, "a name is not plain")
    // Nobody finds the SHA-256 of a message by trying.
    try promise(message.message(to: webhook, of: "shop") == nil, "a message is sent that no run has written")
    try expectRoundTrip(message, { (try? $0.encoded()) ?? [] }) { bytes in
      guard let read = QueuedMessage(parsing: bytes) else { throw BrokenPromise(description: "not a message") }
      return read
    }
  }
}

/// A server on the loopback interface that answers each request with the same bytes.
private final class AnsweringServer: @unchecked Sendable {
  // Sendable, because the answer is set only while no request is under way.

  static let shared = AnsweringServer()

  var answer: [UInt8] = []
  let port: UInt16
  private var thread: PosixThread?

  private init() {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isReady = withUnsafeMutablePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(listener, address, size) == 0 && listen(listener, 16) == 0 && getsockname(listener, address, &size) == 0
      }
    }
    precondition(isReady, "a port of the loopback interface is free")
    port = UInt16(bigEndian: address.sin_port)
    thread = try? PosixThread(named: "hw-server") { [unowned self] in serve(listener) }
  }

  private func serve(_ listener: CInt) {
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let client = accept(listener, nil, nil)
      guard client >= 0 else { continue }
      _ = recv(client, &buffer, buffer.count, 0)
      _ = answer.withUnsafeBytes { Glibc.send(client, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      shutdown(client, Int32(SHUT_WR))
      // The client closes first, so that no unread bytes reset the connection.
      while recv(client, &buffer, buffer.count, 0) > 0 {}
      close(client)
    }
  }
}
