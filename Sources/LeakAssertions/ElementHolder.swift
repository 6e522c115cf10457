/// A collection of the standard library, whose elements lie where no field leads.
///
/// Only these are asked for their elements: a collection of the program's own may compute them, and is read by its
/// fields, which end in one of these.
protocol ElementHolder {
  /// Hands out elements by label, type and address.
  ///
  /// This goes over a copy, which shares the elements: a change in the meantime is not seen and does no harm.
  func forEachElement(_ body: (String, Any.Type, UnsafeRawPointer) -> Void)
}

extension ElementHolder where Self: Sequence {
  func forEachElement(_ body: (String, Any.Type, UnsafeRawPointer) -> Void) {
    guard !TypeLayout(of: Element.self).isTrivial else {
      return
    }
    for (index, element) in self.enumerated() {
      withUnsafePointer(to: element) { body("[\(index)]", Element.self, UnsafeRawPointer($0)) }
    }
  }
}

extension Array: ElementHolder {}
extension ArraySlice: ElementHolder {}
extension ContiguousArray: ElementHolder {}
extension Set: ElementHolder {}

extension Dictionary: ElementHolder {
  func forEachElement(_ body: (String, Any.Type, UnsafeRawPointer) -> Void) {
    for (index, (key, value)) in self.enumerated() {
      withUnsafePointer(to: key) { body("[\(index)].key", Key.self, UnsafeRawPointer($0)) }
      withUnsafePointer(to: value) { body("[\(index)].value", Value.self, UnsafeRawPointer($0)) }
    }
  }
}
