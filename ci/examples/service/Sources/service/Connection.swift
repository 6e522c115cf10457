import Documents
import Glibc
import Synchronization

/// A listening socket on the loopback interface, which serves one client at a time.
struct Listener {
  private let socket: CInt

  /// The socket for the SIGTERM handler.
  private static let current = Atomic<CInt>(-1)

  /// Listens on a port; returns `nil` and sets `errno` if that fails.
  init?(port: UInt16) {
    socket = Glibc.socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    var on: CInt = 1
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<CInt>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
    let bound = withUnsafePointer(to: address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard bound == 0, listen(socket, 64) == 0 else { return nil }
  }

  /// Makes ``next()`` return `nil` after SIGTERM.
  func stopOnTermination() {
    Self.current.store(socket, ordering: .relaxed)
    // accept(2) fails if its socket is shut down, before or during the call.
    signal(SIGTERM) { _ in _ = shutdown(Listener.current.load(ordering: .relaxed), CInt(SHUT_RDWR)) }
  }

  /// Waits for the next client; `nil` after SIGTERM.
  func next() -> Connection? {
    repeat {
      let client = accept(socket, nil, nil)
      if client >= 0 { return Connection(socket: client) }
    } while errno == EINTR || errno == ECONNABORTED
    return nil
  }
}

/// A connection with one request: the part of HTTP/1.1 that this example needs.
struct Connection: ~Copyable {
  private let socket: CInt

  init(socket: CInt) {
    self.socket = socket
  }

  deinit {
    close(socket)
  }

  /// The request; `nil` if the client closes the connection or sends more than 64 KiB.
  func request() -> Request? {
    var received: [UInt8] = []
    var block = [UInt8](repeating: 0, count: 4096)
    while received.count < 65_536 {
      if let request = Self.request(in: received) { return request }
      let count = recv(socket, &block, block.count, 0)
      guard count > 0 else { return nil }
      received += block[..<count]
    }
    return nil
  }

  /// The request, if it is complete.
  private static func request(in received: [UInt8]) -> Request? {
    guard let gap = received.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
    let lines = String(decoding: received[..<gap.lowerBound], as: UTF8.self).split(separator: "\r\n")
    let words = lines.first?.split(separator: " ").map(String.init) ?? []
    let fields = lines.map { $0.lowercased().split(separator: ":").map { $0.drop { $0 == " " } } }
    let length = fields.first { $0.first == "content-length" }?.last.flatMap { Int($0) }
    let body = received[gap.upperBound...]
    guard words.count == 3, body.count >= length ?? 0 else { return nil }
    return Request(words[0], words[1], body: String(decoding: body, as: UTF8.self))
  }

  /// Sends the response.
  func send(_ answer: Answer) {
    let head = "HTTP/1.1 \(answer.status)\r\nContent-Length: \(answer.body.utf8.count)\r\nConnection: close\r\n\r\n"
    var rest = Array((head + answer.body).utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.send(socket, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL)) }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }
}
