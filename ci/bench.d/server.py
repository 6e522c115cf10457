"""History in PostgreSQL: many writers that are killed, the time of an append, and queries in a large database.

BENCH_RUNS=N measures one database of N runs, with 10,000 of each project.
"""

import calendar
import random
import re
import signal
import threading

from bench import *

# runs, projects: those of the large database
sizes = several([(100_000, 10), (1_000_000, 100)], [(1000, 10)])
if "BENCH_RUNS" in os.environ:
    sizes = [(int(os.environ["BENCH_RUNS"]), max(1, int(os.environ["BENCH_RUNS"]) // 10_000))]
scenarios, metrics = 20, ["peak_rss", "steady_rss", "growth", "spike", "fault_rate", "tree_peak", "tree_steady", "io"]
environment = {"name": "linux", "fingerprint": {"architecture": "x86_64", "pageSize": 4096, "cpus": 2, "aslr": "off",
                                                "thp": "madvise", "measurement": "traced"}}


class Server:
    """A server with the settings of PostgreSQL's package, but for its memory; commits wait for the disk."""

    def __init__(self):
        self.folder = path("server")
        os.mkdir(self.folder)
        certificate, key = path("server.pem"), path("server.key")
        subprocess.run(["openssl", "req", "-x509", "-nodes", "-newkey", "rsa:2048", "-subj", "/CN=server", "-days", "2",
                        "-out", certificate, "-keyout", key], check=True, stderr=subprocess.DEVNULL)
        os.chmod(scratch.name, 0o755)
        options = "-c shared_buffers=1GB -c max_wal_size=4GB -c checkpoint_timeout=30min -c fsync=on"
        self.process = subprocess.Popen(
            ["sh", "Tests/LoopbackServers/postgresql.sh", self.folder, "5432", certificate, key],
            env={**os.environ, "SERVER_OPTIONS": options}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.process.stdout.readline()

    def url(self, database="postgres"):
        return f"postgresql://gate@/{database}?host={self.folder}&port=5432"

    def restart(self):
        self.process.stdin.write("restart\n")
        self.process.stdin.flush()
        self.process.stdout.readline()

    def run(self, statements, database="postgres"):
        return subprocess.run(["psql", "-qAtX", "-v", "ON_ERROR_STOP=1", self.url(database)], input=statements,
                              check=True, capture_output=True, text=True).stdout


def run_line(number, day="2026-01-02"):
    """One run with all scenarios and metrics."""
    def values(at):
        median = 20_000_000 + number % 1000 * 4096 + at * 1000
        result = {"name": metrics[at], "unit": "bytes", "verdict": "skipped", "on": "off",
                  "current": {"median": median, "low": median - 4096, "high": median + 8192, "count": 5}}
        if at < 2:
            result |= {"verdict": "pass", "on": "fail", "baseline": {"median": 20_000_000, "count": 5},
                       "change": {"absolute": 4096, "low": 4096, "high": 4096}, "tolerance": {"allowed": 600_000}}
        return result

    all_values = [values(at) for at in range(len(metrics))]
    return json.dumps({
        "schema": "highwater.run/2", "environment": environment,
        "run": {"id": f"run-{number:08}", "durationSeconds": 12.5, "commit": f"{number:040x}", "branch": "main",
                "startedAt": f"{day}T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}.000Z"},
        "scenarios": [{"name": f"scenario-{at:02}", "tags": ["server"], "verdict": "pass", "repetitionCount": 5,
                       "metrics": all_values[:2], "ungated": all_values[2:]} for at in range(scenarios)]}) + "\n"


def highwater(*words, **options):
    return subprocess.run([HIGHWATER, *words], check=True, stderr=subprocess.DEVNULL, **options)


def files(name, numbers):
    """One file for each run, so that an import adds each in a transaction of its own."""
    names = []
    for number in numbers:
        names.append(path(f"{name}-{number}.jsonl"))
        with open(names[-1], "w") as file:
            file.write(run_line(number))
    return names


def writers(server, count, runs, kills):
    """Writers that add runs one by one while some are killed and the server is restarted; what is lost or doubled."""
    server.run("CREATE DATABASE writers")
    words = ["history", "import", "--history", server.url("writers")]
    shares = [files("w", range(at * runs, (at + 1) * runs)) for at in range(count)]
    chance, left, lock = random.Random(3), [kills], threading.Lock()

    def write(share):
        while True:
            process = subprocess.Popen([HIGHWATER, *words, *share], stderr=subprocess.DEVNULL)
            with lock:
                is_killed = left[0] > 0
                left[0] -= is_killed
            if is_killed:
                time.sleep(chance.uniform(0, 3))
                process.send_signal(signal.SIGKILL)
            if process.wait() == 0:
                return

    begin = time.monotonic()
    threads = [threading.Thread(target=write, args=[share]) for share in shares]
    for thread in threads:
        thread.start()
    time.sleep(4)
    server.restart()
    for thread in threads:
        thread.join()
    taken = time.monotonic() - begin
    # The same runs in a file.
    single = path("single.jsonl")
    with open(single, "w") as file:
        file.writelines(run_line(number) for number in range(count * runs))
    highwater("history", "import", "--history", path("same.sqlite"), single)
    exports = [highwater("history", "export", "--history", place, stdout=subprocess.PIPE).stdout
               for place in [server.url("writers"), path("same.sqlite")]]
    rows = int(server.run("SELECT count(*) FROM highwater.scenario", "writers"))
    table(f"{count} writers of {runs} runs each, {kills} of them killed, one restart of the server",
          ["", "expected", "stored"],
          [["runs", count * runs, exports[0].count(b"\n")], ["scenario runs", count * runs * scenarios, rows],
           ["export equals that of a SQLite file", "yes", "yes" if exports[0] == exports[1] else "NO"],
           ["seconds", "", f"{taken:.0f}"]])


def appends(server):
    """The time of one append, by imports of many files, each of which is one append."""
    server.run("CREATE DATABASE appends")
    words = ["history", "import", "--history", server.url("appends")]
    highwater(*words, *files("first", [0]))
    each = []
    for group in range(several(30, 3)):
        some = files("a", range(1 + group * 21, 22 + group * 21))
        one = seconds(HIGHWATER, *words, some[0])
        each.append((seconds(HIGHWATER, *words, *some[1:]) - one) / 19 * 1000)
    table(f"Adding one run of {scenarios} scenarios with {len(metrics)} metrics each, in milliseconds",
          ["groups of 20", "median", "lowest", "highest"],
          [[len(each), f"{statistics.median(each):.1f}", f"{min(each):.1f}", f"{max(each):.1f}"]])


FILL = """
SET search_path = highwater; SET synchronous_commit = off;
CREATE TEMPORARY TABLE template AS SELECT * FROM scenario ORDER BY id;
CREATE TEMPORARY TABLE template_run AS SELECT * FROM run;
CREATE TEMPORARY TABLE many AS SELECT * FROM generate_series(0, {projects} - 1) AS number;
ALTER TABLE many ADD project bigint;
UPDATE many SET project = CASE WHEN number = 0 THEN (SELECT id FROM project) ELSE number END;
INSERT INTO project SELECT project, 'project-' || number FROM many WHERE number > 0;
INSERT INTO value SELECT many.project, id, kind, name_id, text FROM value, many WHERE many.number > 0;
{partitions}
INSERT INTO run (project_id, identifier, started_at, duration, commit_id, dirty, branch_id, environment_id)
  SELECT many.project, 'run-' || r, 1672531200000 + r * (3 * 365 * 86400000::bigint / {runs}) + many.number, duration,
    md5(r::text), 0, branch_id, environment_id
  FROM generate_series(1, {runs}) AS r, many, template_run;
ANALYZE run;
INSERT INTO scenario SELECT run.project_id, run.started_at, run.id, t.id, t.name_id, t.environment_id, t.tags_id,
    t.approval_id, t.verdict, t.repetitions, t.growth_is_per_iteration, t.failed_repetitions, t.explanation, t.anon,
    t.file, t.shmem, t.stack, t.heap, t.lazy_free, t.huge_pages,
    replace(t.metrics::text, '20000000', (20000000 + run.id % 1000 * 4096)::text)::json
  FROM run, template AS t WHERE run.identifier <> 'run-00000000' ORDER BY run.started_at, run.id, t.id;
ANALYZE scenario;
"""

QUERIES = {
    "the trend: all scenario runs of a project": """
        SELECT * FROM scenario WHERE project_id = {project}""",
    "the runs of a project": """
        SELECT * FROM run WHERE project_id = {project} ORDER BY started_at, identifier""",
    "the latest 200 runs of a scenario on its branch": """
        SELECT run.*, scenario.verdict, scenario.metrics -> 'peak_rss' FROM run
        JOIN scenario ON scenario.project_id = {project} AND scenario.started_at = run.started_at
          AND scenario.run_id = run.id
        WHERE run.project_id = {project}
          AND run.branch_id = (SELECT max(branch_id) FROM run WHERE project_id = {project})
          AND scenario.name_id = (SELECT min(id) FROM value WHERE project_id = {project} AND kind = 'scenario')
        ORDER BY run.started_at DESC, run.identifier DESC LIMIT 200""",
}


def large(server, runs, projects):
    """Queries of one project among many; the rows are made by the server."""
    database = f"large{runs}"
    server.run(f"CREATE DATABASE {database}")
    url = server.url(database)
    highwater("history", "import", "--history", url, *files("t", [0]))
    years = [(year, calendar.timegm((year, 1, 1, 0, 0, 0)) * 1000) for year in range(2023, 2027)]
    partitions = "\n".join(f"CREATE TABLE scenario_{year} PARTITION OF scenario FOR VALUES FROM ({start}) TO ({end});"
                           for (year, start), (_, end) in zip(years, years[1:]))
    begin = time.monotonic()
    server.run(FILL.format(runs=runs // projects, projects=projects, partitions=partitions), database)
    filled = time.monotonic() - begin
    server.run("VACUUM", database)
    size = int(server.run(f"SELECT pg_database_size('{database}')"))
    project = server.run("SELECT id FROM highwater.project WHERE name NOT LIKE 'project-%'", database).strip()
    rows = [["made by the server, size", f"{filled:.0f}", mebibytes(size)]]
    # As the program reads (PostgreSQLHistory.swift).
    prefix = ("SET search_path = highwater; SET jit = off; SET enable_sort = off; "
              "SET max_parallel_workers_per_gather = 0;")
    for name, query in QUERIES.items():
        query = query.format(project=project)
        print(f"\n{name}:\n" + server.run(f"{prefix} EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) {query};", database))
        # What the server needs to send the rows, without the network.
        times = server.run(f"{prefix}\n\\timing on\n" + f"COPY ({query}) TO '/dev/null';\n" * 3, database)
        rows.append([name, f"{min(map(float, re.findall(r'Time: ([0-9.]+) ms', times))) / 1000:.3f}", ""])
    page = path("trend.html")
    for limit in (2000, 10_000):
        words = ["trend", "--history", url, "--output", page, "--limit", str(limit)]
        taken = statistics.median(seconds(HIGHWATER, *words) for _ in range(several(5, 1)))
        rows.append([f"highwater trend, the latest {limit:,} runs", f"{taken:.2f}", mebibytes(os.path.getsize(page))])
    one = files("l", range(1, 3))
    seconds(HIGHWATER, "history", "import", "--history", url, one[0])
    taken = seconds(HIGHWATER, "history", "import", "--history", url, one[1])
    rows.append(["highwater history import of one run", f"{taken:.2f}", ""])
    table(f"{runs:,} runs of {projects} projects, {scenarios} scenarios with {len(metrics)} metrics each",
          ["", "seconds", "MiB"], rows)


os.environ["PATH"] += ":" + sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1]
os.environ["HIGHWATER_PROJECT"] = "shop"
server = Server()
appends(server)
writers(server, *several((50, 200, 100), (5, 10, 5)))
for runs, projects in sizes:
    large(server, runs, projects)
server.process.stdin.close()
server.process.wait()
