import Glibc

/// What a symbolic link says (`readlink(2)`), up to PATH_MAX bytes; nil for anything else.
package func textOfLink(_ path: String) -> String? {
  var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
  let count = readlink(path.systemText, &bytes, bytes.count)
  return count > 0 ? String(systemBytes: bytes.prefix(count).map { UInt8(bitPattern: $0) }) : nil
}
