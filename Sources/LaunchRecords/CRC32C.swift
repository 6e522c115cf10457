/// The checksum CRC-32C (Castagnoli), as iSCSI uses it (RFC 3720, section 12.1 and appendix B.4).
struct CRC32C {
  /// The remainders of all half bytes for the polynomial 0x1EDC6F41 with reversed bits.
  ///
  /// A small inline table, because it is in the memory of each program that keeps a launch record.
  private static let table: InlineArray<16, UInt32> = [
    0x0000_0000, 0x105e_c76f, 0x20bd_8ede, 0x30e3_49b1, 0x417b_1dbc, 0x5125_dad3, 0x61c6_9362, 0x7198_540d,
    0x82f6_3b78, 0x92a8_fc17, 0xa24b_b5a6, 0xb215_72c9, 0xc38d_26c4, 0xd3d3_e1ab, 0xe330_a81a, 0xf36e_6f75,
  ]

  private var remainder = UInt32.max

  /// The checksum of the bytes so far.
  var value: UInt32 { ~remainder }

  mutating func add(_ bytes: UnsafeRawBufferPointer) {
    for byte in bytes {
      remainder ^= UInt32(byte)
      remainder = remainder >> 4 ^ Self.table[Int(remainder & 15)]
      remainder = remainder >> 4 ^ Self.table[Int(remainder & 15)]
    }
  }
}
