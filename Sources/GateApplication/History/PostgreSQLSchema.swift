import Digests
import FoundationEssentials
import GateCore

/// The tables of a database, in the schema `highwater`.
///
/// Rows and their columns mean the same as in a SQLite file (``SQLiteSchema``), with these differences. A database has
/// several projects. The ID of a scenario run counts within its run. The values that many rows refer to are in one table,
/// `value`. The metrics of a scenario run are in one column (``MetricsColumn``). The table `scenario`, which has most of
/// the data, is partitioned by year; a row whose year has no partition is in `scenario_other`.
///
/// IDs of projects and values are hashes of their content (``StoredHash``): they are known without a query, and equal
/// for all writers. Values are never deleted, so nothing can refer to a missing one.
enum PostgreSQLSchema {
  /// The version of the tables, in the table `version`.
  static let version = 1

  /// The kinds of rows in the table `value`.
  enum Kind: String {
    case scenario, branch, tags, environment, approval
  }

  /// The number of the advisory lock that is held while tables are created: the letters `HiWa`.
  static let lock = 0x4869_5761

  static let creation = """
    CREATE TABLE version (version integer NOT NULL);
    CREATE TABLE project (
      id bigint PRIMARY KEY,
      name text NOT NULL
    );
    CREATE TABLE value (
      project_id bigint NOT NULL,
      id bigint NOT NULL,
      kind text NOT NULL,
      name_id bigint,
      text text NOT NULL,
      PRIMARY KEY (project_id, kind, id)
    );
    CREATE TABLE run (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      project_id bigint NOT NULL REFERENCES project (id),
      identifier text NOT NULL,
      started_at bigint NOT NULL,
      duration bigint NOT NULL,
      commit_id text,
      dirty integer NOT NULL,
      subject text,
      branch_id bigint,
      build_url text,
      environment_id bigint NOT NULL,
      UNIQUE (project_id, identifier)
    );
    CREATE INDEX run_by_time ON run (project_id, started_at, identifier);
    CREATE INDEX run_by_branch ON run (project_id, branch_id, started_at, identifier);
    CREATE TABLE scenario (
      project_id bigint NOT NULL,
      started_at bigint NOT NULL,
      run_id bigint NOT NULL,
      id integer NOT NULL,
      name_id bigint NOT NULL,
      environment_id bigint NOT NULL,
      tags_id bigint,
      approval_id bigint,
      verdict text NOT NULL,
      repetitions integer NOT NULL,
      growth_is_per_iteration integer NOT NULL,
      failed_repetitions text,
      explanation text,
      anon bigint, file bigint, shmem bigint, stack bigint, heap bigint, lazy_free bigint, huge_pages bigint,
      metrics json NOT NULL,
      PRIMARY KEY (project_id, started_at, run_id, id)
    ) PARTITION BY RANGE (started_at);
    CREATE TABLE scenario_other PARTITION OF scenario DEFAULT;
    CREATE VIEW measurement AS
      SELECT project.name AS project, run.identifier AS run, to_timestamp(run.started_at / 1000.0) AS started_at,
        run.commit_id AS commit, branch.text AS branch, name.text AS scenario, scenario.verdict, metric.key AS metric,
        (metric.value ->> 0)::double precision AS median, (metric.value ->> 1)::double precision AS low,
        (metric.value ->> 2)::double precision AS high, (metric.value ->> 5)::double precision AS baseline,
        metric.value ->> 4 AS metric_verdict
      FROM project
      JOIN run ON run.project_id = project.id
      JOIN scenario ON scenario.project_id = run.project_id AND scenario.started_at = run.started_at
        AND scenario.run_id = run.id
      JOIN value AS name ON name.project_id = run.project_id AND name.kind = 'scenario' AND name.id = scenario.name_id
      LEFT JOIN value AS branch
        ON branch.project_id = run.project_id AND branch.kind = 'branch' AND branch.id = run.branch_id
      CROSS JOIN LATERAL json_each(scenario.metrics) AS metric;
    INSERT INTO version VALUES (\(version));
    """

  /// The partition of a year, and the statement that creates it.
  static func partition(of year: Int) -> (name: String, creation: String) {
    func start(_ year: Int) -> Int64 {
      Calendar.gmt.date(from: DateComponents(year: year))?.inMilliseconds ?? 0
    }
    let name = "scenario_\(year)"
    return (
      name,
      "CREATE TABLE \(name) PARTITION OF scenario FOR VALUES FROM (\(start(year))) TO (\(start(year + 1)))"
    )
  }
}

/// An ID that follows from a content: the first 63 bits of its SHA-256.
enum StoredHash {
  static func id(of text: String) -> Int64 {
    let bytes = SHA256.digest(of: Array(text.utf8)).prefix(8)
    return Int64(bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } >> 1)
  }
}
