import CMemoryMarkers

// The only file that imports CMemoryMarkers.

/// The FIFO to Highwater, as C writes to it.
enum MarkChannel {
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

  /// Passes a string to C without the array that Swift's own conversion to `const char *` allocates.
  private static func withText(_ string: String, _ body: (hw_mark_text) -> Void) {
    var string = string
    string.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) { bytes in
        // The address of a rebound string is never nil, even if the string is empty.
        if let start = bytes.baseAddress { body(hw_mark_text(bytes: start, length: bytes.count)) }
      }
    }
  }
}

/// The serial queue, run loop or event loop that the calling code runs on.
enum Context {
  /// A number that differs between serial dispatch queues, and outside of them between threads.
  static var current: UInt64 { hw_context() }

  static var thread: UInt64 { hw_thread() }
}

// MARK: - Atomics

/// A number that threads share.
///
/// This type is necessary because `Atomic` is in a library of its own, which would be loaded into the program.
struct AtomicWord: ~Copyable, @unchecked Sendable {
  // Sendable, because the address never changes and its content is accessed by atomic operations only.
  private let address: UnsafeMutablePointer<UInt64>

  init(_ number: UInt64 = 0) {
    address = .allocate(capacity: 1)
    address.initialize(to: number)
  }

  deinit {
    address.deallocate()
  }

  var value: UInt64 {
    get { hw_atomic_load(address) }
    nonmutating set { hw_atomic_store(address, newValue) }
  }

  /// Returns the previous value.
  func exchange(_ number: UInt64) -> UInt64 { hw_atomic_exchange(address, number) }

  /// Returns the incremented value.
  @discardableResult
  func increment() -> UInt64 { hw_atomic_add(address, 1) }

  /// Returns whether the value was the expected one, and has been replaced.
  func compareExchange(_ expected: UInt64, _ number: UInt64) -> Bool {
    hw_atomic_replace(address, expected, number) != 0
  }
}

/// Bits that threads share.
struct AtomicBits: ~Copyable, @unchecked Sendable {
  // Sendable, for the same reason.
  private let words: UnsafeMutablePointer<UInt64>

  init(words count: Int) {
    words = .allocate(capacity: count)
    words.initialize(repeating: 0, count: count)
  }

  deinit {
    words.deallocate()
  }

  subscript(_ index: Int) -> UInt64 {
    get { hw_atomic_load(words + index) }
    nonmutating set { hw_atomic_store(words + index, newValue) }
  }

  func insert(_ bits: UInt64, at index: Int) { hw_atomic_or(words + index, bits) }
}
