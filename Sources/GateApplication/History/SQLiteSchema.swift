import GRDB

/// The tables of a history in a SQLite file.
enum SQLiteSchema {
  /// Identifies our files among other SQLite files (`PRAGMA application_id`): the letters `HiWa`.
  static let applicationID: Int32 = 0x4869_5761

  /// The version of the tables (`PRAGMA user_version`); files of other versions are rejected.
  static let version = 5

  /// Creates the tables in an empty file.
  static func create(in queue: DatabaseQueue) throws {
    try queue.writeWithoutTransaction { db in
      try db.inTransaction(.immediate) {
        if try Int32.fetchOne(db, sql: "PRAGMA application_id") != applicationID { try db.execute(sql: tables) }
        return .commit
      }
    }
  }

  /// The statements that create the tables.
  ///
  /// Texts that many rows refer to (scenarios, metrics, branches, tags) are stored once, in `name`; so are environments
  /// and approvals, as JSON. Times are milliseconds since 1970, durations are nanoseconds, and values are in their
  /// metric's unit.
  ///
  /// Rows of metrics are ordered by scenario and have no row IDs. A reported value has its unit after its name
  /// (`value.cache.entries items`). `verdict` is null for an ungated metric.
  private static let tables = """
    PRAGMA application_id = \(applicationID);
    PRAGMA user_version = \(version);
    CREATE TABLE name (
      id INTEGER PRIMARY KEY,
      text TEXT NOT NULL UNIQUE
    );
    CREATE TABLE environment (
      id INTEGER PRIMARY KEY,
      name TEXT NOT NULL,
      json TEXT NOT NULL
    );
    CREATE INDEX environment_by_name ON environment (name);
    CREATE TABLE approval (
      id INTEGER PRIMARY KEY,
      name TEXT NOT NULL,
      json TEXT NOT NULL
    );
    CREATE INDEX approval_by_name ON approval (name);
    CREATE TABLE run (
      id INTEGER PRIMARY KEY,
      identifier TEXT NOT NULL UNIQUE,
      started_at INTEGER NOT NULL,
      duration INTEGER NOT NULL,
      commit_id TEXT,
      dirty INTEGER NOT NULL,
      subject TEXT,
      branch_id INTEGER REFERENCES name (id),
      build_url TEXT,
      environment_id INTEGER NOT NULL REFERENCES environment (id)
    );
    CREATE INDEX run_by_time ON run (started_at, identifier);
    CREATE TABLE scenario (
      id INTEGER PRIMARY KEY,
      run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
      name_id INTEGER NOT NULL REFERENCES name (id),
      environment_id INTEGER NOT NULL REFERENCES environment (id),
      tags_id INTEGER REFERENCES name (id),
      verdict TEXT NOT NULL,
      repetitions INTEGER NOT NULL,
      growth_is_per_iteration INTEGER NOT NULL,
      approval_id INTEGER REFERENCES approval (id),
      failed_repetitions TEXT,
      explanation TEXT,
      anon INTEGER, file INTEGER, shmem INTEGER, stack INTEGER, heap INTEGER, lazy_free INTEGER, huge_pages INTEGER
    );
    CREATE INDEX scenario_by_run ON scenario (run_id);
    CREATE INDEX scenario_by_name ON scenario (name_id, run_id);
    CREATE TABLE metric (
      scenario_id INTEGER NOT NULL REFERENCES scenario (id) ON DELETE CASCADE,
      name_id INTEGER NOT NULL,
      median REAL, low REAL, high REAL, count INTEGER,
      verdict TEXT, baseline REAL, baseline_count INTEGER, change REAL, allowed REAL, limit_value REAL,
      PRIMARY KEY (scenario_id, name_id)
    ) WITHOUT ROWID;
    """
}
