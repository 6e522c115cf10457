import LinuxSystem
import Testing

@Suite("Text from and for the system")
struct SystemTextTests {
  @Test(
    "All bytes come out as they came in",
    arguments: [
      Array("plain é 漢字 👩‍👩‍👧‍👦".utf8), Array(0...255), [0xff], [0xc3], [0xc3, 0x28], [0xed, 0xa0, 0x80], [0xf4, 0x8f, 0xbf],
      [0x61, 0xf4, 0x8f, 0xbe, 0x80, 0xf4, 0x8f, 0xbf, 0xbf, 0x62, 0xff], [],
    ] as [[UInt8]]
  )
  func roundTrip(bytes: [UInt8]) {
    let text = String(systemBytes: bytes)
    #expect(text.systemBytes == bytes)
    #expect(text.hasSystemBytes == (String(validating: bytes, as: UTF8.self) != text))
  }

  @Test("Text that is UTF-8 is the same text")
  func unchanged() {
    #expect(String(systemBytes: Array("é\u{10ff7f}".utf8)) == "é\u{10ff7f}")
  }

  @Test("The environment and the working directory are those of the process")
  func input() {
    #expect(ProcessInput.environment["PATH"]?.isEmpty == false)
    #expect(ProcessInput.workingDirectory.hasPrefix("/"))
  }
}
