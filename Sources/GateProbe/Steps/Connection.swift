import GateCore
import Glibc
import LinuxSystem
import Synchronization

/// Checks whether a program accepts connections at an address.
enum Connection {
  /// Tries each address that the host name resolves to, for at most `time` each.
  static func isAccepted(host: String, port: Int, within time: Duration) -> Bool {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    hints.ai_flags = AI_NUMERICSERV
    var found: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, "\(port)", &hints, &found) == 0, let found else { return false }
    defer { freeaddrinfo(found) }
    let addresses = sequence(first: found) { $0.pointee.ai_next }
    return addresses.contains { address in
      accepts(
        family: address.pointee.ai_family,
        address: address.pointee.ai_addr,
        length: address.pointee.ai_addrlen,
        within: time
      )
    }
  }

  /// The ports that repetitions got: one that runs at the same time may not listen on its port yet.
  private static let givenPorts = Mutex<Set<Int>>([])

  /// A TCP port of this machine that no program uses, neither with IPv4 nor with IPv6, where that exists, and that no other
  /// repetition of this run got, as long as there are such.
  static func freePort() throws(SystemFailure) -> Int {
    var port: Int?
    for _ in 1...16 {
      port = boundPort(AF_INET6) ?? boundPort(AF_INET)
      if let port, givenPorts.withLock({ $0.insert(port).inserted }) { return port }
    }
    guard let port else { throw SystemFailure(.connect, code: errno) }
    return port
  }

  /// The port that the kernel gives to a socket; one for IPv6 excludes those in use with IPv4 (ipv6(7)).
  private static func boundPort(_ family: Int32) -> Int? {
    let number = socket(family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard number >= 0 else { return nil }
    let socket = Descriptor(owning: number)
    // A zeroed address is any address and any port, in both families.
    var address = sockaddr_in6()
    address.sin6_family = sa_family_t(family)
    var length = socklen_t(family == AF_INET6 ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size)
    return withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        let isBound = bind(socket.number, address, length) == 0 && getsockname(socket.number, address, &length) == 0
        return isBound ? Int(UInt16(bigEndian: pointer.pointee.sin6_port)) : nil
      }
    }
  }

  /// The bytes of an address for a path, without the NUL at its end (unix(7)).
  static let longestSocketName = 107

  /// Tries a Unix socket; its path may be longer than an address can hold (unix(7): 107 bytes).
  static func isAccepted(atSocket path: String, within time: Duration) -> Bool {
    // Opened only to have a short path; a server binds such a path relative to its working directory.
    guard let socket = try? Descriptor.open(path, Descriptor.withoutReading) else { return false }
    defer { withExtendedLifetime(socket) {} }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: "/proc/self/fd/\(socket.number)".utf8) }
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        accepts(family: AF_UNIX, address: $0, length: socklen_t(MemoryLayout<sockaddr_un>.size), within: time)
      }
    }
  }

  private static func accepts(
    family: Int32,
    address: UnsafePointer<sockaddr>,
    length: socklen_t,
    within time: Duration
  ) -> Bool {
    let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
    let number = socket(family, type, 0)
    guard number >= 0 else { return false }
    let socket = Descriptor(owning: number)
    if connect(socket.number, address, length) != 0 {
      guard errno == EINPROGRESS, isConnected(socket, within: time) else { return false }
    }
    return !isConnectedToItself(socket)
  }

  private static func isConnected(_ socket: Descriptor, within time: Duration) -> Bool {
    var list = [pollfd(fd: socket.number, events: Int16(POLLOUT), revents: 0)]
    Polling.wait(&list, atMost: time)
    guard list[0].revents != 0 else { return false }
    var code: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    return getsockopt(socket.number, SOL_SOCKET, SO_ERROR, &code, &size) == 0 && code == 0
  }

  /// Whether the kernel assigned the destination port as the socket's own (RFC 9293, simultaneous open).
  ///
  /// Without this check, an unused port in the ephemeral range would sometimes seem to accept connections.
  private static func isConnectedToItself(_ socket: Descriptor) -> Bool {
    name(of: socket, getsockname) == name(of: socket, getpeername)
  }

  /// The bytes of an address without its unused part; with Unix sockets only the peer has a name.
  private static func name(
    of socket: Descriptor,
    _ call: (Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
  ) -> [UInt8]? {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let result = withUnsafeMutablePointer(to: &storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { call(socket.number, $0, &length) }
    }
    guard result == 0 else { return nil }
    return withUnsafeBytes(of: &storage) { Array($0.prefix(Int(length))) }
  }
}
