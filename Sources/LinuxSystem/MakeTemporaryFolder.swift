import Glibc

/// Makes a folder that no other user can read in an existing one, as in `TMPDIR` (mkdtemp(3)); its path.
package func makeTemporaryFolder(in parent: String) throws(ErrorNumber) -> String {
  var template = Array("\(parent)/highwater-XXXXXX".utf8CString)
  guard mkdtemp(&template) != nil else { throw .last }
  return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
