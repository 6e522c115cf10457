#if LoopHunter

/// Recognizes most unwatched objects by one relaxed load.
///
/// A Bloom filter with one hash and 4096 bits: with 100 watched objects, 2.4 % of the others are false positives.
struct WatchFilter: ~Copyable, Sendable {
  private static let words = 64

  private let bits = AtomicBits(words: words)

  func mayContain(_ object: ObjectIdentifier) -> Bool {
    let (word, bit) = Self.place(of: object)
    return bits[word] & bit != 0
  }

  /// Rebuilds the filter for exactly these objects; an object that stays is never missing in between.
  func replace(with objects: some Sequence<ObjectIdentifier>) {
    var next = [UInt64](repeating: 0, count: Self.words)
    for object in objects {
      let (word, bit) = Self.place(of: object)
      next[word] |= bit
    }
    for word in 0..<Self.words { bits[word] = next[word] }
  }

  func insert(_ object: ObjectIdentifier) {
    let (word, bit) = Self.place(of: object)
    bits.insert(bit, at: word)
  }

  /// Twelve bits of the address, hashed with the golden ratio (Knuth, The Art of Computer Programming 3, section 6.4).
  private static func place(of object: ObjectIdentifier) -> (word: Int, bit: UInt64) {
    let mixed = UInt64(UInt(bitPattern: object)) &* 0x9e37_79b9_7f4a_7c15
    return (Int(mixed >> 58), 1 << (mixed >> 52 & 63))
  }
}

#endif
