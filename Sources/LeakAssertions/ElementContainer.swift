/// A collection of the standard library, whose elements are not stored in fields.
///
/// Other collections may compute their elements, so they are read by their fields, which lead to one of these.
protocol ElementContainer {
  /// Calls a function with the label, type and address of each element.
  ///
  /// It iterates over a copy that shares the elements, so a concurrent change is neither seen nor harmful.
  func forEachElement(_ body: (String, Any.Type, UnsafeRawPointer) -> Void)
}

extension ElementContainer where Self: Sequence {
  func forEachElement(_ body: (String, Any.Type, UnsafeRawPointer) -> Void) {
    guard !TypeLayout(of: Element.self).isTrivial else {
      return
    }
    for (index, element) in self.enumerated() {
      withUnsafePointer(to: element) { body("[\(index)]", Element.self, UnsafeRawPointer($0)) }
    }
  }
}

extension Array: ElementContainer {}
extension ArraySlice: ElementContainer {}
extension ContiguousArray: ElementContainer {}
extension Set: ElementContainer {}

extension Dictionary: ElementContainer {
  func forEachElement(_ body: (String, Any.Type, UnsafeRawPointer) -> Void) {
    for (index, (key, value)) in self.enumerated() {
      withUnsafePointer(to: key) { body("[\(index)].key", Key.self, UnsafeRawPointer($0)) }
      withUnsafePointer(to: value) { body("[\(index)].value", Value.self, UnsafeRawPointer($0)) }
    }
  }
}
