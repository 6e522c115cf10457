import MemoryMarkers

/// Answers requests for documents.
package final class DocumentService {
  private let store: DocumentStore
  private let pages: PageCache
  private var bytesSent = 0

  package init(_ store: DocumentStore) {
    self.store = store
    pages = PageCache(of: store)
  }

  /// Starts a session for a request.
  package func begin(_ request: Request) -> Session {
    Marks.iteration()  // growth is counted per request
    let session = Session(request, of: self)
    if Fault.seeded == .leak {
      // The seeded leak: the session holds the closure, and the closure holds the session.
      session.onEnd = { self.bytesSent += session.answer?.body.utf8.count ?? 0 }
    } else {
      session.onEnd = { [unowned session] in self.bytesSent += session.answer?.body.utf8.count ?? 0 }
    }
    return session
  }

  /// Handles `GET /documents/7`, `GET /documents/1-300`, `PUT /documents/7` and `GET /status`.
  func answer(to request: Request) -> Answer {
    if request.path == "/status" { return Answer(status: "200 OK", body: "\(bytesSent) bytes sent\n") }
    let words = request.path.split(separator: "/")
    let numbers = words.last?.split(separator: "-").compactMap { Int($0) } ?? []
    guard words.count == 2, words[0] == "documents", let first = numbers.first, let last = numbers.last,
      last >= first, last - first < 1000
    else { return Answer(status: "404 Not Found") }
    return request.method == "PUT" ? put(request.body, at: first) : get(first...last)
  }

  private func get(_ numbers: ClosedRange<Int>) -> Answer {
    defer { pages.report() }
    return Answer(status: "200 OK", body: numbers.compactMap { pages.page(of: $0) }.joined())
  }

  private func put(_ body: String, at number: Int) -> Answer {
    store.put(body, at: number)
    guard !body.isEmpty else {
      store.rollBack()
      return Answer(status: "400 Bad Request")
    }
    store.commit()
    return Answer(status: "200 OK")
  }
}
