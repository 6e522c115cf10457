import GateCore
import HTTPTransfer

/// What webhooks are called where people read of them: nothing of a URL but its host.
struct WebhookLabels {
  private let labels: [(webhook: Webhook, label: String)]

  init(_ webhooks: [Webhook]) {
    let hosts = webhooks.map(Self.host)
    labels = webhooks.indices.map { index in
      let place = "webhook \(index + 1)"
      guard let host = hosts[index] else { return (webhooks[index], place) }
      let isShared = hosts.count { $0 == host } > 1
      return (webhooks[index], isShared ? "\(host) (\(place))" : host)
    }
  }

  subscript(webhook: Webhook) -> String {
    labels.first { $0.webhook == webhook }?.label ?? Self.host(of: webhook) ?? "webhook"
  }

  private static func host(of webhook: Webhook) -> String? {
    try? HTTPAddress(parsing: webhook.url.exposed).host
  }
}
