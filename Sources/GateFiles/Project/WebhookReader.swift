import GateCore

/// Reads `webhooks`.
struct WebhookReader {
  let context: ReadingContext
  /// Whether this run sends notifications; if not, a webhook with unset variables is left out.
  let areNeeded: Bool

  func webhooks(_ value: YAMLValue) -> [Webhook]? {
    context.list(value, as: "webhooks", example: "webhooks: [{url: \"${HIGHWATER_WEBHOOK_URL}\"}]", webhook)
  }

  private func webhook(_ value: YAMLValue) -> Webhook? {
    guard
      let fields = Fields(
        value, of: "a webhook", known: ["url", "format", "on", "secret"], example: "- url: ${HIGHWATER_WEBHOOK_URL}",
        in: context
      )
    else { return nil }
    var (format, occasion): (Webhook.Format, Webhook.Occasion) = (.json, .always)
    fields.take("format", into: &format) { context.choice($0, as: "format") }
    fields.take("on", into: &occasion) { context.choice($0, as: "on") }
    let url = address(fields)
    var secret: Secret?
    if let value = fields["secret"] {
      secret = text(value, as: "secret").map(Secret.init)
      if secret == nil { return nil }
    }
    guard let url, let reference = fields["url"]?.scalar else { return nil }
    return Webhook(
      reference: reference,
      url: url,
      format: format,
      occasion: occasion,
      secret: secret,
      place: value.place
    )
  }

  private func address(_ fields: Fields) -> Secret? {
    guard let entry = fields.only(of: ["url"], for: "a webhook", in: context),
      let url = text(entry.value, as: "url")
    else { return nil }
    guard ReadingContext.isWebAddress(url) else {
      context.printError(
        "`url` is not an HTTP URL",
        at: entry.value.place,
        hint: "write `http://` or `https://`, then a host, without spaces"
      )
      return nil
    }
    return Secret(url)
  }

  /// The text with its variables replaced; nil without a diagnostic if they are unset but not needed.
  private func text(_ value: YAMLValue, as name: String) -> String? {
    guard let text = context.line(value, as: name, example: "\(name): ${HIGHWATER_WEBHOOK_\(name.uppercased())}") else {
      return nil
    }
    let result = Interpolation(of: text, environment: context.environment)
    if !areNeeded, result.malformed == nil, !result.missing.isEmpty { return nil }
    return context.interpolated(text, at: value.place)
  }
}
