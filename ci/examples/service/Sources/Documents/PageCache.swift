import MemoryMarkers

/// The pages of the documents that were requested last.
final class PageCache {
  /// The maximum number of cached pages.
  private let limit = 256
  private let store: DocumentStore
  private var pages: [Int: String] = [:]
  /// The documents of the cached pages, the oldest page first.
  private var order: [Int] = []

  init(of store: DocumentStore) {
    self.store = store
    // `weak`, because the cache holds the store, and the store would hold the cache.
    store.observe { [weak self] number in self?.documentChanged(number) }
  }

  /// The page of a document; `nil` if there is no such document.
  func page(of number: Int) -> String? {
    if let page = pages[number] { return page }
    guard let text = store[number] else { return nil }
    let page = "<article id=\"\(number)\">\(text.split(separator: " ").joined(separator: "&nbsp;"))</article>\n"
    keep(page, of: number)
    return page
  }

  private func keep(_ page: String, of number: Int) {
    if order.count == limit { pages[order.removeFirst()] = nil }
    pages[number] = page
    order.append(number)
  }

  /// Reports values that only the program knows; Highwater uses the maximum of a run.
  func report() {
    Marks.value("cache.entries", Double(pages.count), unit: "items")
    Marks.value("cache.bytes", Double(pages.values.reduce(0) { $0 + $1.utf8.count }), unit: "bytes")
  }

  private func documentChanged(_ number: Int) {
    pages[number] = nil
    order.removeAll { $0 == number }
    // The seeded loop: a note in the document is a change, which the cache observes, which adds a note … A real loop would
    // only end when memory runs out; this one stops.
    if Fault.seeded == .loop, store.uncommittedChanges < 600, let text = store[number] {
      store.put("\(text) (its page was dropped)", at: number)
    }
  }
}
