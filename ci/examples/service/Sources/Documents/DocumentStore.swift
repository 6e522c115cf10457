import MemoryMarkers

/// The documents by their numbers, and who is told of their changes.
package final class DocumentStore {
  private var texts: [Int: String] = [:]
  private var observers: [(Int) -> Void] = []
  private let hunter: LoopHunter

  /// The texts that the request under way has replaced; they are needed until it is known that it succeeds.
  private var replaced: [(number: Int, text: String?)] = []

  /// Makes an empty store, whose every change is counted by a hunter: too many for one request are a loop.
  package init(hunter: LoopHunter) {
    self.hunter = hunter
    hunter.watch(self, "put")
  }

  /// The text of a document.
  package subscript(number: Int) -> String? { texts[number] }

  /// How many changes the request under way has made so far.
  var uncommittedChanges: Int { replaced.count }

  /// Calls a function with the number of each document that changes.
  func observe(_ observer: @escaping (Int) -> Void) {
    observers.append(observer)
  }

  /// Gives a document a new text, and tells the observers.
  package func put(_ text: String, at number: Int) {
    hunter.hit(self, "put")
    replaced.append((number, texts.updateValue(text, forKey: number)))
    for observer in observers { observer(number) }
  }

  /// Makes the changes final.
  package func commit() {
    replaced.removeAll()
  }

  /// Takes the changes back, the latest first.
  func rollBack() {
    while let (number, text) = replaced.popLast() { texts[number] = text }
  }
}
