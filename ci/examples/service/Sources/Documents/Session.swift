import MemoryMarkers

/// What a client asks for.
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

/// What a client is told.
package struct Answer {
  package let status: String
  package var body = ""
}

/// One client's request, from its arrival to the answer.
package final class Session {
  private let request: Request
  private let service: DocumentService
  private(set) var answer: Answer?
  var onEnd: () -> Void = {}

  init(_ request: Request, of service: DocumentService) {
    self.request = request
    self.service = service
  }

  /// Does what the client asks for, as one turn: what comes by too often within it is a loop.
  package func run() async -> Answer {
    let answer = await TaskTurn.run { service.answer(to: request) }
    self.answer = answer
    onEnd()
    return answer
  }
}
