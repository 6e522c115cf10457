import Glibc

/// Makes a folder that no other user can read in an existing one, as in `TMPDIR` (mkdtemp(3)); its path.
///
/// Its name is the prefix with six random characters.
package func makeTemporaryFolder(in parent: String, named prefix: String = "highwater-") throws(ErrorNumber) -> String {
  var template = "\(parent)/\(prefix)XXXXXX".systemText
  guard mkdtemp(&template) != nil else { throw .last }
  return String(systemText: template)
}

/// Removes a folder with all that it contains, as far as this user may; links are removed, not followed.
package func removeFolder(_ path: String) {
  if let folder = try? Descriptor.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW) { folder.removeContents() }
  rmdir(path)
}

extension Descriptor {
  fileprivate func removeContents() {
    for (name, _) in (try? entries()) ?? [] where (try? remove(name)) == nil {
      if let folder = try? open(name, O_RDONLY | O_DIRECTORY) { folder.removeContents() }
      unlinkat(number, name, AT_REMOVEDIR)
    }
  }
}
