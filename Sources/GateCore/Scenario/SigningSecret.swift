import FoundationEssentials

/// The secret with which a webhook's messages are signed, as Standard Webhooks 1.0 writes it (standardwebhooks.com), or any
/// other text.
package struct SigningSecret: Sendable, Equatable, CustomReflectable {
  /// What begins a secret whose key is in base64.
  package static let prefix = "whsec_"

  package let text: Secret
  /// The key of the signature: the decoded bytes, or those of the text in UTF-8.
  package let key: [UInt8]

  /// - Returns: nil if the text begins with ``prefix``, and no key in base64 follows.
  package init?(_ text: String) {
    self.text = Secret(text)
    guard text.hasPrefix(Self.prefix) else {
      key = Array(text.utf8)
      return
    }
    let digits = text.dropFirst(Self.prefix.count)
    // Other libraries accept a key without its padding.
    let padding = String(repeating: "=", count: digits.contains("=") ? 0 : (4 - digits.utf8.count % 4) % 4)
    guard let bytes = Data(base64Encoded: digits + padding), !bytes.isEmpty else { return nil }
    key = Array(bytes)
  }

  package var customMirror: Mirror { Mirror(self, children: []) }
}
