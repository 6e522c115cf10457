import Digests
import FoundationEssentials
import GateCore
import Mustache

/// A self-contained HTML file: it makes no requests, and only its own scripts and styles have an effect.
///
/// Its body comes from templates that escape their values. Only ``styles`` and ``scripts`` run, identified by hash
/// (Content Security Policy Level 3), so that a hostile name that is not escaped would still be plain text; `style` and
/// `on…` attributes have no effect either.
struct HTMLPage {
  var title: String
  /// HTML.
  var body: String
  var styles: [String]
  var scripts: [String] = []
  /// The data for the scripts as JSON; they find it as the element `data`.
  var data: String?

  func text() -> String {
    let policy = [
      "default-src 'none'",
      "style-src \(Self.sources(styles))",
      "script-src \(Self.sources(scripts))",
      "img-src data:",
      "base-uri 'none'",
      "form-action 'none'",
    ]
    var values: [String: Any] = [
      "policy": policy.joined(separator: "; "),
      "generator": "\(Tool.name) \(Tool.version)",
      "title": title,
      "styles": styles,
      "scripts": scripts,
      "body": body,
    ]
    values["data"] = data.map(Self.harmless)
    return PageTemplate.page.render(values)
  }

  private static func sources(_ texts: [String]) -> String {
    guard !texts.isEmpty else { return "'none'" }
    let digests = texts.map { Data(SHA256.digest(of: Array($0.utf8))).base64EncodedString() }
    return digests.map { "'sha256-\($0)'" }.joined(separator: " ")
  }

  /// JSON without characters that could end the script element or begin a comment in it (HTML standard, 4.12.1.3), and
  /// in ASCII, which browsers store in half the memory and read faster: both only occur within strings, where an escape
  /// is equivalent.
  static func harmless(_ json: String) -> String {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(json.utf8.count + json.utf8.count / 64)
    for unit in json.utf16 {
      if unit < 0x80, unit != UInt8(ascii: "<") {
        bytes.append(UInt8(truncatingIfNeeded: unit))
      } else {
        let digits = String(unit, radix: 16)
        bytes += "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".utf8
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// The templates and texts of the pages, by the names of their files in this folder.
struct PageTemplate: Sendable {
  private let template: MustacheTemplate

  /// - Parameter name: The template's file without its extension; a missing or broken template is an error of the
  ///   build.
  init(_ name: String) {
    guard let text = EmbeddedText.named("\(name).mustache"), let template = try? MustacheTemplate(string: text) else {
      preconditionFailure("the build embeds every template, and each is rendered by a test")
    }
    self.template = template
  }

  func render(_ values: [String: Any]) -> String {
    template.render(values)
  }

  static let page = PageTemplate("page")
}

/// Embedded files other than templates.
enum PageText {
  /// An own style or script.
  static func named(_ name: String) -> String {
    guard let text = EmbeddedText.named(name) else {
      preconditionFailure("the build embeds every file of this folder")
    }
    return text
  }

  /// The chart library that draws the curves; nil if the build lacks it, so that static charts remain.
  static let chartScript = EmbeddedText.named("dygraph.min.js")
  static let chartStyle = EmbeddedText.named("dygraph.min.css")
}

/// The chart library of interactive charts, which a build has if it finds it (Debian's libjs-dygraphs).
enum ChartLibrary {
  static var isBuiltIn: Bool { PageText.chartScript != nil }
}
