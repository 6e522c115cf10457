/// A signal by its number on Linux for x86-64 and arm64 (signal(7)).
package struct Signal: Sendable, Hashable, Codable {
  package let number: Int32

  package init(number: Int32) {
    self.number = number
  }

  private static let names: [Int32: String] = [
    1: "HUP", 2: "INT", 3: "QUIT", 4: "ILL", 5: "TRAP", 6: "ABRT", 7: "BUS", 8: "FPE", 9: "KILL", 10: "USR1",
    11: "SEGV", 12: "USR2", 13: "PIPE", 14: "ALRM", 15: "TERM", 16: "STKFLT", 17: "CHLD", 18: "CONT", 19: "STOP",
    20: "TSTP", 21: "TTIN", 22: "TTOU", 23: "URG", 24: "XCPU", 25: "XFSZ", 26: "VTALRM", 27: "PROF", 28: "WINCH",
    29: "IO", 30: "PWR", 31: "SYS",
  ]

  /// All names without `SIG`, by number.
  package static let allNames = names.sorted { $0.key < $1.key }.map(\.value)

  /// Finds a signal by its name, with or without `SIG`, as in `HUP` or `SIGHUP`.
  package init?(name: String) {
    let plain = name.hasPrefix("SIG") ? String(name.dropFirst(3)) : name
    guard let number = Self.names.first(where: { $0.value == plain })?.key else { return nil }
    self.init(number: number)
  }

  /// The name without `SIG`; `RTMIN+n` for the real-time signals, which start at 34 under glibc.
  package var name: String {
    Self.names[number] ?? (number >= 34 ? "RTMIN+\(number - 34)" : "\(number)")
  }

  package static let hup = Signal(number: 1)
  package static let int = Signal(number: 2)
  package static let ill = Signal(number: 4)
  package static let trap = Signal(number: 5)
  package static let abrt = Signal(number: 6)
  package static let bus = Signal(number: 7)
  package static let fpe = Signal(number: 8)
  package static let kill = Signal(number: 9)
  package static let segv = Signal(number: 11)
  package static let term = Signal(number: 15)
  package static let sys = Signal(number: 31)
}
