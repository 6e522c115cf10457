import GRDB
import GateCore

/// Texts that many rows refer to by ID; each is stored once.
///
/// It caches IDs, so it must not be used after a transaction in which rows may be deleted.
struct SQLiteReferences {
  private let db: Database
  private var names: [String: Int64] = [:]
  private var environments: [EnvironmentInfo: Int64] = [:]
  private var approvals: [Approval: Int64] = [:]

  init(_ db: Database) {
    self.db = db
  }

  /// The ID of a name; a new one is stored.
  mutating func id(ofName text: String) throws -> Int64 {
    if let id = names[text] { return id }
    let known = try Int64.fetchOne(try db.cachedStatement(sql: "SELECT id FROM name WHERE text = ?"), arguments: [text])
    if known == nil { try db.cachedStatement(sql: "INSERT INTO name (text) VALUES (?)").execute(arguments: [text]) }
    let id = known ?? db.lastInsertedRowID
    names[text] = id
    return id
  }

  mutating func id(of environment: EnvironmentInfo) throws -> Int64 {
    if let id = environments[environment] { return id }
    let id = try id(of: environment, named: environment.name, in: "environment")
    environments[environment] = id
    return id
  }

  mutating func id(of approval: Approval) throws -> Int64 {
    if let id = approvals[approval] { return id }
    let id = try id(of: approval, named: approval.run, in: "approval")
    approvals[approval] = id
    return id
  }

  /// The ID of a value; a new one is stored.
  ///
  /// The name narrows the search to few values.
  private func id<Value: Codable & Hashable>(of value: Value, named name: String, in table: String) throws -> Int64 {
    let json = try JSONColumn.encode(value)
    let select = try db.cachedStatement(sql: "SELECT id, json FROM \(table) WHERE name = ?")
    let stored = try Row.fetchAll(select, arguments: [name]).first { row in
      // Equal sets may be encoded in different orders.
      try row["json"] == json || JSONColumn.decode(Value.self, from: row["json"]) == value
    }
    if let stored { return stored["id"] }
    let insert = try db.cachedStatement(sql: "INSERT INTO \(table) (name, json) VALUES (?, ?)")
    try insert.execute(arguments: [name, json])
    return db.lastInsertedRowID
  }
}

extension Database {
  /// The text of a row of `name`, or the JSON of a row of `environment` or `approval`.
  fileprivate func text(_ column: String, of table: String, _ id: Int64) throws -> String? {
    try String.fetchOne(
      try cachedStatement(sql: "SELECT \(column) FROM \(table) WHERE id = ?"), arguments: [id])
  }
}

extension StoredNames {
  static func texts(of db: Database) -> Self { Self { try db.text("text", of: "name", $0) } }
}

extension StoredJSON<EnvironmentInfo> {
  static func environments(of db: Database) -> Self { Self { try db.text("json", of: "environment", $0) } }
}

extension StoredJSON<Approval> {
  static func approvals(of db: Database) -> Self { Self { try db.text("json", of: "approval", $0) } }
}
