import CMemoryMarkers
import Glibc

/// The door to the C room that writes marks and has atomic numbers.
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

// MARK: - Shared state

/// A number that threads share.
///
/// This type is necessary because `Atomic` is in a library of its own, which would be loaded with the program.
struct SharedWord: ~Copyable, @unchecked Sendable {
  // Sendable, since the place never changes, and what stands there is changed by atomic operations only.
  private let place: UnsafeMutablePointer<UInt64>

  init(_ number: UInt64 = 0) {
    place = .allocate(capacity: 1)
    place.initialize(to: number)
  }

  deinit {
    place.deallocate()
  }

  var value: UInt64 {
    get { hw_atomic_load(place) }
    nonmutating set { hw_atomic_store(place, newValue) }
  }

  /// Returns what stood there.
  func exchange(_ number: UInt64) -> UInt64 { hw_atomic_exchange(place, number) }

  /// Returns the next number, which becomes the value.
  @discardableResult
  func next() -> UInt64 { hw_atomic_add(place, 1) }

  /// Returns whether it stood at what is expected, and was replaced.
  func replace(_ expected: UInt64, by number: UInt64) -> Bool { hw_atomic_replace(place, expected, number) != 0 }
}

/// Bits that threads share.
struct SharedBits: ~Copyable, @unchecked Sendable {
  // Sendable, for the same reason.
  private let words: UnsafeMutablePointer<UInt64>
  let count: Int

  init(words count: Int) {
    self.count = count
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

/// A lock (pthread_mutex_lock(3)); `Mutex` is in the same library as `Atomic`.
struct Lock: ~Copyable, @unchecked Sendable {
  // Sendable, since that is what a lock is for.
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>

  init() {
    mutex = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  func locked<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body()
  }
}
