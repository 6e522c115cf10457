import FoundationEssentials
import GRDB
import GateCore

/// Values that many rows refer to by ID; each is stored once, as JSON.
///
/// It caches IDs, so it must not be used after a transaction in which rows may be deleted.
struct SharedValues<Value: Codable & Hashable> {
  private let db: Database
  private let table: String
  /// A text that narrows the search to few values.
  private let name: (Value) -> String
  private var ids: [Value: Int64] = [:]
  private var values: [Int64: Value] = [:]

  fileprivate init(_ db: Database, table: String, name: @escaping (Value) -> String) {
    (self.db, self.table, self.name) = (db, table, name)
  }

  /// The value's ID; a new value is stored.
  mutating func id(of value: Value) throws -> Int64 {
    if let id = ids[value] { return id }
    let json = try JSONColumn.encode(value)
    let id = try storedID(of: value, json) ?? insert(value, json)
    ids[value] = id
    return id
  }

  private func storedID(of value: Value, _ json: String) throws -> Int64? {
    let statement = try db.cachedStatement(sql: "SELECT id, json FROM \(table) WHERE name = ?")
    return try Row.fetchAll(statement, arguments: [name(value)]).first { row in
      // Equal sets may be encoded in different orders.
      try row["json"] == json || JSONColumn.decode(Value.self, from: row["json"]) == value
    }?["id"]
  }

  private func insert(_ value: Value, _ json: String) throws -> Int64 {
    let statement = try db.cachedStatement(sql: "INSERT INTO \(table) (name, json) VALUES (?, ?)")
    try statement.execute(arguments: [name(value), json])
    return db.lastInsertedRowID
  }

  mutating func value(_ id: Int64) throws -> Value {
    if let value = values[id] { return value }
    let statement = try db.cachedStatement(sql: "SELECT json FROM \(table) WHERE id = ?")
    guard let json = try String.fetchOne(statement, arguments: [id]) else {
      throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the table `\(table)` has no row \(id)")
    }
    let value = try JSONColumn.decode(Value.self, from: json)
    values[id] = value
    return value
  }
}

extension SharedValues<EnvironmentInfo> {
  static func environments(_ db: Database) -> Self { Self(db, table: "environment", name: \.name) }
}

extension SharedValues<Approval> {
  static func approvals(_ db: Database) -> Self { Self(db, table: "approval", name: \.run) }
}

/// Values as JSON texts; equal values have equal texts, except for the order of sets.
enum JSONColumn {
  static func encode(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.dateEncodingStrategy = .millisecondsSince1970
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }

  static func decode<Value: Decodable>(_ type: Value.Type, from json: String) throws -> Value {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .millisecondsSince1970
    do {
      return try decoder.decode(type, from: Data(json.utf8))
    } catch {
      throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "a stored \(type) cannot be decoded")
    }
  }
}
