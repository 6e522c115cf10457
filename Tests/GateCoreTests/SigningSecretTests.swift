import GateCore
import Testing

@Suite("The secret of a webhook")
struct SigningSecretTests {
  @Test(
    "After `whsec_` the key is in base64, with or without padding; any other text is the key itself",
    arguments: [
      ("whsec_aGVsbG8=", "hello"), ("whsec_aGVsbG8", "hello"), ("whsec_/+8/", "\u{ff}\u{ef}?"), ("plain", "plain"),
      ("whsec-aGVsbG8=", "whsec-aGVsbG8="), ("aGVsbG8=", "aGVsbG8="),
    ])
  func key(text: String, latin: String) {
    #expect(SigningSecret(text)?.key == latin.unicodeScalars.map { UInt8($0.value) })
  }

  @Test(
    "A key that is not base64 is refused", arguments: ["whsec_", "whsec_?", "whsec_a", "whsec_aGVsbG8 ", "whsec_é"])
  func malformed(text: String) {
    #expect(SigningSecret(text) == nil)
  }

  @Test("Neither text nor key is printed")
  func hidden() {
    var dumped = ""
    dump(SigningSecret("whsec_aGVsbG8="), to: &dumped)
    #expect(!dumped.contains("aGVs") && !dumped.contains("104"), "\(dumped)")
  }
}
