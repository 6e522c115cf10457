/// Where the runs of a project are stored.
package enum HistoryLocation: Sendable, Equatable {
  /// The absolute path of a SQLite file.
  case file(String)
  case database(DatabaseAddress)

  /// The name of the project in a database, if it is given.
  package var project: String? {
    if case .database(let address) = self { address.project } else { nil }
  }

  /// The file or the address, for messages.
  package var shown: String {
    switch self {
    case .file(let path): path
    case .database(let address): address.shown
    }
  }
}

/// A PostgreSQL database and the project in it.
package struct DatabaseAddress: Sendable, Equatable {
  /// A URL as libpq takes it, which may contain a password.
  package var url: Secret
  /// The URL for messages, without its password and parameters.
  package var shown: String
  /// The parts of the URL that must not appear in messages.
  package var secrets: [Secret]
  /// The name of the project; nil for the name of the repository.
  package var project: String?
  /// The unset variables in its URL; it can be used only if there are none.
  package var unsetVariables: [String]

  package init(
    url: Secret, shown: String, secrets: [Secret] = [], project: String? = nil, unsetVariables: [String] = []
  ) {
    (self.url, self.shown, self.secrets, self.project) = (url, shown, secrets, project)
    self.unsetVariables = unsetVariables
  }
}
