import GateCore

/// The keys of an `http` step.
enum CallKeys {
  static let url = Key(
    "url", .address, "the address", standard: nil, example: #"url: "http://127.0.0.1:8080/""#)
  static let method = Key("method", methodForm, "the method", standard: "`GET`", example: "method: POST")
  static let body = Key("body", .text, "what is sent", example: "body: text")
  static let headers = Key("headers", headerForm, "fields of the request", example: "headers: {Accept: text/plain}")
  static let expect = Key(
    "expect", .integer(in: 100...599, sample: 200), "the status that the answer must have", standard: "200 to 299",
    example: "expect: 200")
  static let times = Key(
    "times", .integer(in: 1...StepKeys.mostTurns), "how often it is sent", standard: "`1`", example: "times: 100")
  static let table = KeyTable(
    "http", of: "an `http` step", [url.row, method.row, body.row, headers.row, expect.row, times.row], short: "url",
    only: ["url"], example: #"http: {url: "http://127.0.0.1:8080/"}"#)

  static func call(_ fields: Fields) -> Step.HTTPCall? {
    guard fields.only() != nil, let url = fields.value(of: url) else { return nil }
    var call = Step.HTTPCall(url: url)
    fields.take(method, into: &call.method)
    fields.take(body, into: &call.body)
    fields.take(headers, into: &call.headers)
    fields.take(expect, into: &call.expectedStatus)
    fields.take(times, into: &call.times)
    return call
  }

  private static let methodForm = ValueForm<String>(.pattern("^[A-Z]{1,20}$")) { value, row, context in
    guard let text = context.line(value, as: row.name, example: row.example) else { return nil }
    guard text.utf8.count <= 20, text.utf8.allSatisfy({ (0x41...0x5a).contains($0) }) else {
      context.printError(
        "`\(Shown.text(text))` is not an HTTP method", at: value.place, hint: "such as `GET`, `POST` or `DELETE`")
      return nil
    }
    return text
  }

  private static let headerForm = ValueForm<[String: String]>(
    .map(["^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}$": .text])
  ) { value, row, context in
    guard case .mapping(let entries) = value.content else {
      context.expected("a mapping", as: row.name, not: value, example: row.example)
      return nil
    }
    var (headers, known): ([String: String], Set<String>) = ([:], [])
    for entry in entries {
      let name = entry.key.text
      guard isToken(name) else {
        context.printError("`\(Shown.text(name))` is not a header name", at: entry.key.place)
        continue
      }
      if !known.insert(name.lowercased()).inserted {
        context.printError("duplicate header `\(name)`", at: entry.key.place)
      }
      guard let text = context.text(entry.value, as: name, example: "\(name): text"),
        let full = context.interpolated(text, at: entry.value.place)
      else { continue }
      if full.utf8.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7f }) {
        context.printError("the header `\(name)` must not contain control characters", at: entry.value.place)
      }
      headers[name] = full
    }
    return headers
  }

  /// Whether a text is a `token` (RFC 9110, section 5.6.2).
  private static func isToken(_ text: String) -> Bool {
    let marks = Set("!#$%&'*+-.^_`|~".utf8)
    return (1...200).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte)
          || marks.contains(byte)
      }
  }
}
