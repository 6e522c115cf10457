import Testing

import Digests

@Suite("SHA-256 and HMAC")
struct SHA256Tests {
  private func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  @Test(
    "Digests are those of FIPS 180-2, appendix B, and of the empty message",
    arguments: [
      ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
      ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
      (
        "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
      ),
      (
        String(repeating: "a", count: 1_000_000),
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
      ),
    ]
  )
  func digest(message: String, expected: String) {
    #expect(hexadecimal(SHA256.digest(of: Array(message.utf8))) == expected)
  }

  struct Case: Sendable {
    let key: [UInt8]
    let message: [UInt8]
    let expected: String
  }

  @Test(
    "Signatures are those of RFC 4231, cases 1 to 4, 6 and 7",
    arguments: [
      Case(
        key: Array(repeating: 0x0b, count: 20),
        message: Array("Hi There".utf8),
        expected: "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
      ),
      Case(
        key: Array("Jefe".utf8),
        message: Array("what do ya want for nothing?".utf8),
        expected: "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
      ),
      Case(
        key: Array(repeating: 0xaa, count: 20),
        message: Array(repeating: 0xdd, count: 50),
        expected: "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"
      ),
      Case(
        key: Array(1...25),
        message: Array(repeating: 0xcd, count: 50),
        expected: "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"
      ),
      Case(
        key: Array(repeating: 0xaa, count: 131),
        message: Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
        expected: "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
      ),
      Case(
        key: Array(repeating: 0xaa, count: 131),
        message: Array(
          """
          This is a test using a larger than block-size key and a larger than block-size data. \
          The key needs to be hashed before being used by the HMAC algorithm.
          """.utf8
        ),
        expected: "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"
      ),
    ]
  )
  func signature(example: Case) {
    #expect(hexadecimal(SHA256.authentication(of: example.message, key: example.key)) == example.expected)
  }
}
