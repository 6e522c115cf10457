import GateCore
import Glibc
import LinuxSystem

/// The stream sockets on which processes listen, as `/proc` tells.
enum ListeningSockets {
  /// The sockets of these processes as conditions for readiness: TCP before Unix sockets, each once.
  ///
  /// `/proc/net/unix` has paths as they were given to bind(2); relative ones start at `folder`.
  static func of(_ pids: [Int32], in folder: String) -> [Readiness.Condition] {
    let inodes = Set(pids.flatMap(sockets))
    guard let pid = pids.first, !inodes.isEmpty else { return [] }
    func read(_ table: String, _ parse: (Substring) -> Entry?) -> [Readiness.Condition] {
      let text = SmallFile.text(at: "/proc/\(pid)/net/\(table)", atMost: 16 << 20) ?? ""
      let entries = text.split(separator: "\n").dropFirst().compactMap(parse)
      return entries.filter { inodes.contains($0.inode) }.map(\.condition)
    }
    let all = read("tcp", tcp) + read("tcp6", tcp) + read("unix") { unix($0, in: folder) }
    return all.indices.filter { !all[..<$0].contains(all[$0]) }.map { all[$0] }
  }

  /// A listening socket.
  struct Entry: Equatable {
    let inode: UInt64
    let condition: Readiness.Condition
  }

  /// The inodes of a process's sockets.
  private static func sockets(of pid: Int32) -> [UInt64] {
    let folder = "/proc/\(pid)/fd"
    return SmallFolder.entries(of: folder).compactMap { name, _ in
      var status = stat()
      guard stat("\(folder)/\(name)", &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return nil }
      return UInt64(status.st_ino)
    }
  }

  /// A line of `/proc/net/tcp` or `tcp6` in the state LISTEN (proc_pid_net(5), include/net/tcp_states.h).
  static func tcp(_ line: Substring) -> Entry? {
    let fields = line.split(separator: " ")
    guard fields.count > 9, fields[3] == "0A", let inode = UInt64(fields[9]) else { return nil }
    let address = fields[1].split(separator: ":")
    guard address.count == 2, let port = Int(address[1], radix: 16), let host = host(address[0]) else { return nil }
    return Entry(inode: inode, condition: .tcp(host: host, port: port))
  }

  /// The address to connect to, from words of 32 bits in the byte order of the machine; nil for other IPv6 addresses
  /// than the loopback one.
  private static func host(_ digits: Substring) -> String? {
    let words = stride(from: 0, to: digits.utf8.count, by: 8).compactMap {
      UInt32(digits.dropFirst($0).prefix(8), radix: 16)
    }
    let bytes = words.flatMap { word in withUnsafeBytes(of: word) { Array($0) } }
    let mapped: [UInt8] = Array(repeating: 0, count: 10) + [0xff, 0xff]
    if bytes.allSatisfy({ $0 == 0 }) { return "127.0.0.1" }
    if bytes.count == 16, bytes.dropLast().allSatisfy({ $0 == 0 }), bytes.last == 1 { return "::1" }
    guard bytes.count == 4 || bytes.starts(with: mapped) else { return nil }
    return bytes.suffix(4).map(String.init).joined(separator: ".")
  }

  /// A line of `/proc/net/unix` with the flag `__SO_ACCEPTCON` (include/linux/net.h) and a path, not an abstract name.
  static func unix(_ line: Substring, in folder: String) -> Entry? {
    let fields = line.split(separator: " ", maxSplits: 7)
    guard fields.count == 8, fields[3] == "00010000", !fields[7].hasPrefix("@"), let inode = UInt64(fields[6]) else {
      return nil
    }
    let path = fields[7].hasPrefix("/") ? String(fields[7]) : "\(folder)/\(fields[7])"
    return Entry(inode: inode, condition: .unix(path))
  }
}
