/// A 64-bit hash that is the same in every run and on every machine (FNV-1a, Fowler, Noll and Vo).
///
/// For file names and for comparing settings; it is not cryptographic.
package enum StableHash {
  package static func hexadecimal(of text: String) -> String { hexadecimal(of: Array(text.utf8)) }

  package static func hexadecimal(of bytes: [UInt8]) -> String {
    let hash = bytes.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    let digits = String(hash, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}
