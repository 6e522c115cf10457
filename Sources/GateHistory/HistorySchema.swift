import GRDB

/// The tables, and how a file of an earlier version becomes one of this.
///
/// A migration that has been released is never changed: later ones add to it.
enum HistorySchema {
  /// Tells our files from other programs' (`PRAGMA application_id`): the letters `HiWa`.
  static let applicationID: Int32 = 0x4869_5761

  /// The version that this program writes (`PRAGMA user_version`), which is the number of migrations.
  static let version = 2

  static let migrator: DatabaseMigrator = {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("1") { db in
      try db.execute(sql: "PRAGMA application_id = \(applicationID); PRAGMA user_version = 1;")
      try db.execute(sql: firstVersion)
    }
    migrator.registerMigration("2") { db in
      try db.execute(sql: "PRAGMA user_version = 2;")
      try db.execute(sql: secondVersion)
    }
    return migrator
  }()

  /// What the trend page shows besides: the first line of a commit's message, and a scenario's tags, which stand once as
  /// one text with commas.
  private static let secondVersion = """
    ALTER TABLE run ADD COLUMN subject TEXT;
    ALTER TABLE scenario ADD COLUMN tags_id INTEGER REFERENCES name (id);
    """

  /// The tables as they began.
  ///
  /// Texts that come again and again (scenarios, metrics, branches) stand once, in `name`; so do environments and
  /// approvals. Instants are milliseconds since 1970, spans are nanoseconds, amounts are in their metric's unit.
  ///
  /// Metrics lie in the order of their scenarios and without row ids. A phase's
  /// figures are metrics named as in a gate (`phase.load.peak_rss`), and figures of a target's own have their unit
  /// behind the name (`value.cache.entries items`). A limit is bytes, or in the unit of the target's own figure.
  private static let firstVersion = """
    CREATE TABLE name (
      id INTEGER PRIMARY KEY,
      text TEXT NOT NULL UNIQUE
    );
    CREATE TABLE environment (
      id INTEGER PRIMARY KEY,
      name TEXT NOT NULL,
      architecture TEXT NOT NULL, page_size INTEGER NOT NULL, cpus INTEGER NOT NULL, aslr TEXT NOT NULL,
      thp TEXT NOT NULL, measurement TEXT NOT NULL, memory_limit INTEGER,
      kernel TEXT NOT NULL, libc TEXT NOT NULL, allocator TEXT NOT NULL, swap TEXT NOT NULL,
      environment_hash TEXT NOT NULL,
      ignored TEXT NOT NULL, counter_bound INTEGER, counter_difference INTEGER
    );
    CREATE INDEX environment_by_name ON environment (name);
    CREATE TABLE approval (
      id INTEGER PRIMARY KEY,
      approved_at INTEGER NOT NULL,
      approved_by TEXT NOT NULL,
      commit_id TEXT,
      reason TEXT,
      of_run TEXT NOT NULL
    );
    CREATE INDEX approval_by_run ON approval (of_run);
    CREATE TABLE run (
      id INTEGER PRIMARY KEY,
      identifier TEXT NOT NULL UNIQUE,
      started_at INTEGER NOT NULL,
      duration INTEGER NOT NULL,
      commit_id TEXT,
      branch_id INTEGER REFERENCES name (id),
      build_url TEXT,
      environment_id INTEGER NOT NULL REFERENCES environment (id),
      verdict TEXT NOT NULL
    );
    CREATE INDEX run_by_time ON run (started_at, identifier);
    CREATE TABLE scenario (
      id INTEGER PRIMARY KEY,
      run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
      name_id INTEGER NOT NULL REFERENCES name (id),
      environment_id INTEGER NOT NULL REFERENCES environment (id),
      verdict TEXT NOT NULL,
      repetitions INTEGER NOT NULL,
      growth_is_per_iteration INTEGER NOT NULL,
      approval_id INTEGER REFERENCES approval (id),
      anon INTEGER, file INTEGER, shmem INTEGER, stack INTEGER, heap INTEGER, lazy_free INTEGER, huge_pages INTEGER
    );
    CREATE INDEX scenario_by_run ON scenario (run_id);
    CREATE INDEX scenario_by_name ON scenario (name_id, run_id);
    CREATE TABLE metric (
      scenario_id INTEGER NOT NULL REFERENCES scenario (id) ON DELETE CASCADE,
      name_id INTEGER NOT NULL,
      median REAL, low REAL, high REAL, count INTEGER,
      verdict TEXT, baseline REAL, change REAL, allowed REAL, limit_bytes INTEGER,
      PRIMARY KEY (scenario_id, name_id)
    ) WITHOUT ROWID;
    CREATE TABLE trouble (
      scenario_id INTEGER NOT NULL REFERENCES scenario (id) ON DELETE CASCADE,
      repetition INTEGER NOT NULL,
      kind TEXT NOT NULL, code INTEGER, signal INTEGER, proof TEXT, detail TEXT, oom_kills INTEGER NOT NULL,
      PRIMARY KEY (scenario_id, repetition)
    ) WITHOUT ROWID;
    """
}
