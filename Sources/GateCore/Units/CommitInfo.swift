package import FoundationEssentials

/// A commit as people name it.
package struct CommitInfo: Sendable, Hashable, Codable {
  package var commit: String
  package var subject: String?
  package var author: String?
  package var date: Date?
  /// More than one for a merge.
  package var parents: [String]

  package init(
    commit: String,
    subject: String? = nil,
    author: String? = nil,
    date: Date? = nil,
    parents: [String] = []
  ) {
    (self.commit, self.subject, self.author, self.date, self.parents) = (commit, subject, author, date, parents)
  }
}
