import Glibc
import LinuxSystem

/// C strings and null-terminated lists of them, valid for the lifetime of this object.
final class CStrings {
  typealias List = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>

  private var texts: [UnsafeMutablePointer<CChar>] = []
  private var lists: [List] = []

  deinit {
    for text in texts { free(text) }
    for list in lists { list.deallocate() }
  }

  func text(_ text: String) -> UnsafeMutablePointer<CChar> {
    guard let copy = strdup(text.systemText) else { preconditionFailure("memory for a few hundred bytes is there") }
    texts.append(copy)
    return copy
  }

  func list(_ members: [String]) -> List {
    let list = List.allocate(capacity: members.count + 1)
    for (at, member) in members.enumerated() { list[at] = text(member) }
    list[members.count] = nil
    lists.append(list)
    return list
  }
}
