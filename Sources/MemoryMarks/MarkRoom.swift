import CMemoryMarkers

/// The door to the C room that writes marks.
enum MarkRoom {
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
}
