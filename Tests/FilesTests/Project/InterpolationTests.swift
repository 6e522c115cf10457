import Testing

@testable import GateApplication

@Suite("Variables in strings")
struct InterpolationTests {
  static let environment = ["A": "1", "B_2": "two", "EMPTY": "", "NESTED": "${A}"]

  @Test(
    "`${NAME}` is replaced, and `$${` is an escaped `${`",
    arguments: [
      ("", ""), ("plain", "plain"), ("${A}", "1"), ("x${A}${B_2}y", "x1twoy"), ("$A $ {A} $", "$A $ {A} $"),
      ("$${A}", "${A}"), ("a$${A}${A}", "a${A}1"), ("${NESTED}", "${A}"), ("}${A}}", "}1}"),
    ]
  )
  func replaced(source: String, text: String) {
    let result = Interpolation(of: source, environment: Self.environment)
    #expect(result.text == text)
    #expect(result.missing.isEmpty)
    #expect(result.malformed == nil)
  }

  @Test("Each unset or empty variable is named")
  func missing() {
    let result = Interpolation(of: "${X}${A}${EMPTY}", environment: Self.environment)
    #expect(result.missing == ["X", "EMPTY"])
  }

  @Test(
    "A malformed reference is rejected",
    arguments: [
      ("${", "${"), ("${}", "${}"), ("${A", "${A"), ("${A:-b}", "${A:-b}"), ("x${1}", "${1}"), ("${ A }", "${ A }"),
    ]
  )
  func malformed(source: String, part: String) {
    #expect(Interpolation(of: source, environment: Self.environment).malformed == part)
  }

  @Test(
    "Web addresses have a scheme, a host and no blanks",
    arguments: [
      "http://h", "HTTPS://h/", "http://h:80", "http://h:8080/a?b#c", "http://[::1]:80/", "http://u:p@h/", "http://h?x",
    ]
  )
  func addresses(text: String) {
    #expect(ReadingContext.isWebAddress(text))
  }

  @Test(
    "Other addresses are rejected",
    arguments: [
      "", "h", "//h", "ftp://h", "http:/h", "http://", "http:///x", "http://:80", "http://u@", "http://h:0",
      "http://h:65536", "http://h:x", "http://[::1", "http://[]", "http://[::1]x", "http://a b", "http://ä/",
      "http://h/\r\nX: y", "file:///etc/passwd",
    ]
  )
  func otherAddresses(text: String) {
    #expect(!ReadingContext.isWebAddress(text))
  }
}
