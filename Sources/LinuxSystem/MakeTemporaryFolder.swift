import Glibc

/// Makes a folder that no other user can read in an existing one, as in `TMPDIR` (mkdtemp(3)); its path.
package func makeTemporaryFolder(in parent: String) throws(ErrorNumber) -> String {
  var template = "\(parent)/highwater-XXXXXX".systemText
  guard mkdtemp(&template) != nil else { throw .last }
  return String(systemText: template)
}
