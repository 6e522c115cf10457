import CMemoryMarkers
import MarkerProtocol

/// The door to the C room.
enum Room {
  // MARK: Marks

  /// Whether no message would be sent: one relaxed load.
  static var isOff: Bool { hw_mark_is_off() != 0 }

  static var isConnected: Bool { hw_mark_is_connected() != 0 }

  static var dropped: Int { Int(hw_mark_dropped()) }

  static func phase(_ name: String) { withText(name) { hw_mark_phase_text($0) } }

  static func mark(_ name: String) { withText(name) { hw_mark_named_text($0) } }

  static func iteration() { hw_mark_iteration() }

  static func value(_ name: String, _ number: Double, unit: String) {
    withText(name) { name in withText(unit) { hw_mark_value_text(name, number, $0) } }
  }

  /// Lends a string to C without an array in between, as Swift's own conversion to `const char *` makes one.
  private static func withText(_ string: String, _ body: (hw_mark_text) -> Void) {
    var string = string
    string.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) { bytes in
        // There is an address, since a string that is rebound has a place, be it empty.
        if let start = bytes.baseAddress { body(hw_mark_text(bytes: start, length: bytes.count)) }
      }
    }
  }

  // MARK: Launches

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
