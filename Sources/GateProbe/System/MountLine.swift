/// A mount, from a line of `/proc/PID/mountinfo` (proc_pid_mountinfo(5)).
struct MountLine {
  /// The folder of the file system that is mounted; usually its root.
  let root: String
  let point: String
  /// The type, such as `tmpfs`.
  let fileSystem: String
  /// The super options, which include the controllers of cgroup v1.
  let options: Set<String>

  init?(_ line: Substring) {
    let halves = line.firstRange(of: " - ").map { (line[..<$0.lowerBound], line[$0.upperBound...]) }
    guard let (first, second) = halves else { return nil }
    let (place, kind) = (first.split(separator: " "), second.split(separator: " "))
    guard place.count > 4, kind.count > 2 else { return nil }
    (root, point) = (Self.unescaped(place[3]), Self.unescaped(place[4]))
    (fileSystem, options) = (String(kind[0]), Set(kind[2].split(separator: ",").map(String.init)))
  }

  /// The mounts that a process sees; empty if they cannot be read.
  static func all(ofProcessIn folder: String) -> [MountLine] {
    all(in: SmallFile.text(at: "\(folder)/mountinfo", atMost: 1 << 20) ?? "")
  }

  static func all(in text: String) -> [MountLine] { text.split(separator: "\n").compactMap(MountLine.init) }

  /// Decodes space, tab, line feed and backslash, which the kernel escapes as a backslash and three octal digits.
  private static func unescaped(_ text: Substring) -> String {
    var bytes: [UInt8] = []
    var rest = text.utf8
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "\\"), let code = UInt8(String(rest.prefix(3)) ?? "", radix: 8) else {
        bytes.append(byte)
        continue
      }
      bytes.append(code)
      rest = rest.dropFirst(3)
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
