import MemoryMarkers

/// A request of a client.
package struct Request {
  package let method: String
  package let path: String
  package let body: String

  package init(_ method: String, _ path: String, body: String = "") {
    self.method = method
    self.path = path
    self.body = body
  }
}

/// The response to a client.
package struct Answer {
  package let status: String
  package var body = ""
}

/// The processing of one request.
package final class Session {
  private let request: Request
  private let service: DocumentService
  private(set) var answer: Answer?
  var onEnd: () -> Void = {}

  init(_ request: Request, of service: DocumentService) {
    self.request = request
    self.service = service
  }

  /// Processes the request as one turn: too many calls within it are a loop.
  package func run() async -> Answer {
    let answer = await TaskTurn.run { service.answer(to: request) }
    self.answer = answer
    onEnd()
    return answer
  }
}
