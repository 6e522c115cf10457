import GateCore

/// The conditions of `ready`, and its timeout.
enum ReadyKeys {
  static let conditions = Readiness.Condition.Keys.all.map(Key.init)

  static let within = Key(
    "within", .timeout, "how long the condition is waited for", standard: "`30s`", example: "within: 30s")

  static let table = KeyTable(
    "ready", of: "`ready`", conditions.map(\.row) + [within.row], only: conditions.map(\.row.name),
    example: "ready: {tcp: 7001, within: 10s}")

  static func readiness(_ fields: Fields) -> Readiness? {
    guard let entry = fields.only(), let key = conditions.first(where: { $0.row.name == entry.key.text }),
      let condition = key.read(entry.value, in: fields.context)
    else { return nil }
    var readiness = Readiness(condition)
    fields.take(within, into: &readiness.within)
    return readiness
  }
}
