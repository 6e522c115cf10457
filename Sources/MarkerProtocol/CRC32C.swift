/// The checksum CRC-32C (Castagnoli), as iSCSI uses it (RFC 3720, section 12.1 and appendix B.4).
package enum CRC32C {
  /// The polynomial 0x1EDC6F41 with its bits reversed, applied to each byte there is.
  private static let table: [UInt32] = (0..<256).map { byte in
    (0..<8).reduce(UInt32(byte)) { rest, _ in rest & 1 == 1 ? rest >> 1 ^ 0x82f6_3b78 : rest >> 1 }
  }

  package static func checksum(of bytes: some Sequence<UInt8>) -> UInt32 {
    table.withUnsafeBufferPointer { table in
      ~bytes.reduce(UInt32.max) { sum, byte in sum >> 8 ^ table[Int((sum ^ UInt32(byte)) & 0xff)] }
    }
  }
}
