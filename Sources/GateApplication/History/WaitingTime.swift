/// How long a program may wait for a server.
struct WaitingTime {
  /// For all answers together, or for each.
  let limit: Duration
  private var rest: Duration?

  static func each(_ limit: Duration) -> Self { Self(limit: limit, rest: nil) }

  /// Only the time of waiting counts, not what is done between two answers.
  static func inAll(_ limit: Duration) -> Self { Self(limit: limit, rest: limit) }

  /// What is left for the next answer.
  var left: Duration { rest ?? limit }

  mutating func spend(_ time: Duration) {
    rest = rest.map { max(.zero, $0 - time) }
  }
}
