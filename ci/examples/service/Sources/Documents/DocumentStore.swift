import MemoryMarkers

/// The documents by number, and the observers of their changes.
package final class DocumentStore {
  private var texts: [Int: String] = [:]
  private var observers: [(Int) -> Void] = []
  private let hunter: LoopHunter

  /// The texts that the current request has replaced, until it is committed or rolled back.
  private var replaced: [(number: Int, text: String?)] = []

  /// Creates an empty store; the hunter counts its changes: too many in one request are a loop.
  package init(hunter: LoopHunter) {
    self.hunter = hunter
    hunter.watch(self, "put")
  }

  /// The text of a document.
  package subscript(number: Int) -> String? { texts[number] }

  /// The number of changes of the current request so far.
  var uncommittedChanges: Int { replaced.count }

  /// Calls a function with the number of each document that changes.
  func observe(_ observer: @escaping (Int) -> Void) {
    observers.append(observer)
  }

  /// Replaces the text of a document, and notifies the observers.
  package func put(_ text: String, at number: Int) {
    hunter.hit(self, "put")
    replaced.append((number, texts.updateValue(text, forKey: number)))
    for observer in observers { observer(number) }
  }

  /// Commits the changes.
  package func commit() {
    replaced.removeAll()
  }

  /// Reverts the changes, the latest first.
  func rollBack() {
    while let (number, text) = replaced.popLast() { texts[number] = text }
  }
}
