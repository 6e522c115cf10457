import GateCore

/// Reads `webhooks`.
struct WebhookReader {
  let context: ReadingContext
  /// Whether an unset variable is an error; if not, the webhook only names it.
  let areNeeded: Bool

  func webhooks(_ value: YAMLValue) -> [Webhook]? {
    context.list(value, as: "webhooks", example: "webhooks: [{url: \"${HIGHWATER_WEBHOOK_URL}\"}]", webhook)
  }

  private func webhook(_ value: YAMLValue) -> Webhook? {
    guard
      let fields = Fields(
        value, of: "a webhook", known: ["url", "format", "on", "secret"], short: "url",
        example: "- url: ${HIGHWATER_WEBHOOK_URL}", in: context
      )
    else { return nil }
    var (format, occasion): (Webhook.Format, Webhook.Occasion) = (.json, .always)
    fields.take("format", into: &format) { context.choice($0, as: "format") }
    fields.take("on", into: &occasion) { context.choice($0, as: "on") }
    var unset: [String] = []
    let url = address(fields, unset: &unset)
    var secret: Secret?
    if let value = fields["secret"] {
      secret = text(value, as: "secret", unset: &unset).map(Secret.init)
      if secret == nil { return nil }
    }
    guard let url, let reference = fields["url"]?.scalar else { return nil }
    return Webhook(
      reference: reference,
      url: url,
      format: format,
      occasion: occasion,
      secret: secret,
      unsetVariables: unset,
      place: value.place
    )
  }

  private func address(_ fields: Fields, unset: inout [String]) -> Secret? {
    guard let entry = fields.only(of: ["url"], for: "a webhook", in: context),
      let url = text(entry.value, as: "url", unset: &unset)
    else { return nil }
    guard !unset.isEmpty || ReadingContext.isWebAddress(url) else {
      context.printError(
        "`url` is not an HTTP URL",
        at: entry.value.place,
        hint: "write `http://` or `https://`, then a host, without spaces"
      )
      return nil
    }
    return Secret(url)
  }

  /// The text with its variables replaced; if that is not needed, adds unset ones to the list instead of reporting them.
  private func text(_ value: YAMLValue, as name: String, unset: inout [String]) -> String? {
    guard let text = context.line(value, as: name, example: "\(name): ${HIGHWATER_WEBHOOK_\(name.uppercased())}") else {
      return nil
    }
    let result = Interpolation(of: text, environment: context.environment ?? [:])
    if !areNeeded, result.malformed == nil, !result.missing.isEmpty {
      unset += result.missing.filter { !unset.contains($0) }
      return result.text
    }
    return context.interpolated(text, at: value.place)
  }
}
