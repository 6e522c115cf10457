import GateCore

/// The keys of a webhook.
enum WebhookKeys {
  static let url = Key(
    "url", reference, "`http://` or `https://`; required", standard: nil, example: #"url: "${HIGHWATER_WEBHOOK_URL}""#)
  static let format = Key(
    "format", ValueForm<Webhook.Format>.choice,
    Webhook.Format.allCases.map { "`\($0.rawValue)`" }.joined(separator: ", "), standard: "`json`",
    example: "format: slack")
  static let on = Key(
    "on", ValueForm<Webhook.Occasion>.choice,
    "`always`; `failure`: the exit code is not 0; `change`: trouble began or ended", standard: "`always`",
    example: "on: change")
  static let secret = Key(
    "secret", reference, "signs the message: `whsec_` and a key in base64, or any text",
    example: #"secret: "${HIGHWATER_WEBHOOK_SECRET}""#)
  static let table = KeyTable(
    "webhook", of: "a webhook", [url.row, format.row, on.row, secret.row], short: "url", only: ["url"],
    example: "- url: ${HIGHWATER_WEBHOOK_URL}")

  static let list = ValueForm<[Webhook]>.list(
    .init(.mapping { table }) { value, _, context in
      Fields(value, of: table, in: context).flatMap { Webhook($0, at: value.place) }
    })

  /// A text with variables, which need not be set where no webhook is used.
  private static let reference = ValueForm<(text: String, unset: [String])>(.text) { value, row, context in
    guard let text = context.line(value, as: row.name, example: row.example) else { return nil }
    let result = Interpolation(of: text, environment: context.environment ?? [:])
    if !context.needsWebhooks, result.malformed == nil, !result.missing.isEmpty {
      return (result.text, result.missing)
    }
    return context.interpolated(text, at: value.place).map { ($0, []) }
  }
}

extension Webhook {
  fileprivate init?(_ fields: Fields, at place: SourcePlace) {
    var (format, occasion): (Webhook.Format, Webhook.Occasion) = (.json, .always)
    fields.take(WebhookKeys.format, into: &format)
    fields.take(WebhookKeys.on, into: &occasion)
    let url = fields.only() == nil ? nil : fields.value(of: WebhookKeys.url)
    let given = fields.value(of: WebhookKeys.secret)
    let secret = given.flatMap { SigningSecret($0.text) }
    if let given, given.unset.isEmpty, secret == nil {
      fields.context.printError(
        "`secret` begins with `\(SigningSecret.prefix)`, and no key in base64 follows",
        at: fields["secret"]?.place ?? place, hint: "copy the whole secret, or use a text with another beginning")
      return nil
    }
    if let url, url.unset.isEmpty, !ReadingContext.isWebAddress(url.text) {
      fields.context.printError(
        "`url` is not an HTTP URL", at: fields["url"]?.place ?? place,
        hint: "write `http://` or `https://`, then a host, without spaces")
      return nil
    }
    guard let url, let reference = fields["url"]?.scalar, fields["secret"] == nil || given != nil else { return nil }
    let unset = url.unset + (given?.unset ?? [])
    self.init(
      reference: reference, url: Secret(url.text), format: format, occasion: occasion,
      secret: secret,
      unsetVariables: unset.indices.filter { !unset[..<$0].contains(unset[$0]) }.map { unset[$0] }, place: place)
  }
}
