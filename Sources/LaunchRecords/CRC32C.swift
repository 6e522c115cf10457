/// The checksum CRC-32C (Castagnoli), as iSCSI uses it (RFC 3720, section 12.1 and appendix B.4).
package struct CRC32C {
  /// The polynomial 0x1EDC6F41 with its bits reversed, applied to each half of a byte that there is.
  ///
  /// So small, and a tuple, since a program that keeps a launch record holds it in its memory.
  private static let table: InlineArray<16, UInt32> = [
    0x0000_0000, 0x105e_c76f, 0x20bd_8ede, 0x30e3_49b1, 0x417b_1dbc, 0x5125_dad3, 0x61c6_9362, 0x7198_540d,
    0x82f6_3b78, 0x92a8_fc17, 0xa24b_b5a6, 0xb215_72c9, 0xc38d_26c4, 0xd3d3_e1ab, 0xe330_a81a, 0xf36e_6f75,
  ]

  private var rest = UInt32.max

  init() {}

  /// The checksum of what was added.
  var value: UInt32 { ~rest }

  mutating func add(_ bytes: UnsafeRawBufferPointer) {
    for byte in bytes {
      rest ^= UInt32(byte)
      rest = rest >> 4 ^ Self.table[Int(rest & 15)]
      rest = rest >> 4 ^ Self.table[Int(rest & 15)]
    }
  }

  package static func checksum(of bytes: [UInt8]) -> UInt32 {
    var sum = CRC32C()
    bytes.withUnsafeBytes { sum.add($0) }
    return sum.value
  }
}
