import CLaunchReason
import MarkerProtocol

/// The door to the C room.
enum Room {
  /// Has handlers mark this process's end in words of a mapped page, which stays mapped for as long as it lives.
  ///
  /// - Parameters:
  ///   - page: The page, with the words at the places that ``LaunchPage`` names.
  ///   - file: Its file.
  ///   - tag: Of the run.
  static func watch(_ page: UnsafeMutableRawBufferPointer, file: CInt, tag: UInt32) {
    guard let start = page.baseAddress else { return }
    func word(_ place: Int) -> UnsafeMutablePointer<UInt64> { (start + place).assumingMemoryBound(to: UInt64.self) }
    _ = hw_launch_watch(
      hw_launch_words(
        crash: word(LaunchPage.crashWord), exit: word(LaunchPage.exitWord), request: word(LaunchPage.requestWord),
        tag: tag, page: start, size: page.count, file: file
      )
    )
  }

  /// Whether this process was forked from the one that is watched.
  static var hasForked: Bool { hw_launch_has_forked() != 0 }

  static func installSignalHandlers() { hw_launch_install_handlers() }

  /// The ELF build id of the program, in hexadecimal digits; empty where it has none.
  static var buildID: String {
    var bytes = [UInt8](repeating: 0, count: 32)
    let count = hw_build_id(&bytes, bytes.count)
    return bytes.prefix(count).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}
