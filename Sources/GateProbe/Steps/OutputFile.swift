import GateCore
import Glibc
import LinuxSystem

/// The file for a target's output, of limited size; its errors never fail a run.
struct OutputFile: Sendable {
  /// Enough for debugging; a target in a loop must not fill the disk.
  static let maxBytes = 16 << 20

  /// Why the file does not contain the complete output.
  private(set) var failure: SystemFailure?
  private let path: String
  private var descriptor: Descriptor?
  private var remaining = maxBytes

  init(path: String) {
    self.path = path
    do throws(SystemFailure) {
      descriptor = try Descriptor.file(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, mode: 0o644)
    } catch {
      failure = error
    }
  }

  mutating func append(_ bytes: ArraySlice<UInt8>) {
    guard remaining > 0 else { return }
    write(bytes.prefix(remaining))
    remaining -= min(bytes.count, remaining)
    if remaining == 0 { write(Array("\n… output cut here …\n".utf8)[...]) }
  }

  private mutating func write(_ bytes: ArraySlice<UInt8>) {
    var rest = bytes
    while !rest.isEmpty, let file = descriptor {
      switch file.write(rest) {
      case .bytes(let count): rest = rest.dropFirst(count)
      case .full: giveUp(because: EAGAIN)
      case .failed(let code): giveUp(because: code)
      }
    }
  }

  private mutating func giveUp(because code: Int32) {
    descriptor = nil
    failure = SystemFailure(.write, path: path, code: code)
  }
}
