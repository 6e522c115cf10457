/// `{{port}}` in the texts of a scenario: a TCP port that no program uses, chosen anew for each repetition.
package enum FreePort {
  package static let name = "port"
  package static let placeholder = "{{\(name)}}"

  /// The text with the port in place of each `{{port}}`.
  package static func fill(_ text: String, with port: Int) -> String {
    guard text.contains("{{") else { return text }
    return text.replacing(placeholder, with: "\(port)").replacing("{{ \(name) }}", with: "\(port)")
  }
}

extension Scenario {
  /// Whether a port has to be chosen.
  package var needsPort: Bool { filled(with: 1) != self }

  /// The scenario of a repetition that has this port.
  package func filled(with port: Int) -> Scenario {
    var filled = mapTexts { FreePort.fill($0, with: port) }
    if case .tcp(let host, nil)? = ready?.condition { filled.ready?.condition = .tcp(host: host, port: port) }
    return filled
  }
}

extension Readiness.Condition {
  /// The condition for the port that is chosen for each repetition, if it is for this one.
  package func withoutPort(_ chosen: Int) -> Self {
    guard case .tcp(let host, chosen) = self else { return self }
    return .tcp(host: host, port: nil)
  }
}
