"""Shared by the benchmarks: runs the gate and its targets, inspects processes, and prints tables."""

import glob
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

HIGHWATER = os.environ["HIGHWATER_BINARY"]
BALLAST = os.environ["BALLAST"]
QUICK = os.environ.get("BENCH_QUICK") == "1"
MEBIBYTE = 1 << 20
scratch = tempfile.TemporaryDirectory(prefix="highwater-bench-")


def path(name):
    return os.path.join(scratch.name, name)


def several(full, quick):
    """A number of runs: `quick` under `ci/bench --quick`, which only shows that everything works, else `full`."""
    return quick if QUICK else full


# Tables


def mebibytes(count):
    return "–" if count is None else f"{count / MEBIBYTE:.1f}"


def kibibytes(count):
    return "–" if count is None else f"{count / 1024:.0f}"


def table(title, head, rows):
    rows = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[at]) for row in [head] + rows) for at in range(len(head))]
    print(f"\n{title}\n")
    for row in [head, ["-" * width for width in widths]] + rows:
        print("  " + "  ".join(cell.ljust(width) if at == 0 else cell.rjust(width)
                               for at, (cell, width) in enumerate(zip(row, widths))))
    sys.stdout.flush()


# Targets


def lines_of(file):
    """The reports that ballast has written so far."""
    if not os.path.exists(file):
        return []
    with open(file) as text:
        return [json.loads(line) for line in text if line.endswith("\n")]


def ballast(*words):
    return [BALLAST] + [str(word) for word in words]


def run_alone(command):
    """Runs ballast without the gate and returns its report."""
    report = path("alone.jsonl")
    subprocess.run(command, check=True, env=dict(os.environ, BALLAST_REPORT=report))
    reports = lines_of(report)
    os.remove(report)
    return reports[-1]


def seconds(*command, codes=(0,), **options):
    """How long a command takes that prints nothing here and ends with one of these exit codes."""
    begin = time.monotonic()
    run = subprocess.run(command, **{"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, **options})
    taken = time.monotonic() - begin
    if run.returncode not in codes:
        sys.exit(f"bench: error: {command}: exit code {run.returncode}")
    return taken


def last_result(folder):
    """The result of the last check in a project's folder."""
    with open(os.path.join(folder, ".highwater", "result.json")) as file:
        return json.load(file)


class Recording:
    """One `highwater record`, running or finished."""

    def __init__(self, command, options=(), launcher=(), variables={}):
        self.result_file, self.report_file = (path(f"{time.monotonic_ns()}.{kind}") for kind in ("json", "jsonl"))
        self.process = subprocess.Popen(
            [*launcher, HIGHWATER, "record", "--quiet", "--json", self.result_file, *options, "--", *command],
            env={**os.environ, "BALLAST_REPORT": self.report_file, **variables},
            stdout=subprocess.DEVNULL,
        )

    def is_running(self):
        """Leaves the process waitable, so that `finish` can read its resource usage."""
        return os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None

    def finish(self):
        """Waits for the end and returns the repetitions of the result file."""
        _, status, self.usage = os.wait4(self.process.pid, 0)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        with open(self.result_file) as file:
            result = json.load(file)
        os.remove(self.result_file)
        self.method = result["environment"]["fingerprint"]["measurement"]
        self.reports = lines_of(self.report_file)
        return result["scenarios"][0]["repetitions"]

    def await_report(self):
        """Waits until the target holds all of its memory, and returns its report."""
        while not lines_of(self.report_file):
            if not self.is_running():
                sys.exit("bench: error: highwater ended early")
            time.sleep(0.005)
        return lines_of(self.report_file)[-1]


def record(command, **how):
    """Records a command once and returns the repetition and the recording."""
    recording = Recording(command, **how)
    repetition = recording.finish()[-1]
    return repetition, recording


# Processes


def read(file):
    try:
        with open(file) as text:
            return text.read()
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return ""


def descendants(ancestor):
    """The IDs of all living descendants of a process, from one walk over /proc."""
    below = {}
    for stat in glob.glob("/proc/[0-9]*/stat"):
        fields = read(stat).rpartition(")")[2].split()
        if fields and fields[0] != "Z":
            below.setdefault(int(fields[1]), []).append(int(stat.split("/")[2]))
    found, waiting = [], [ancestor]
    while waiting:
        children = below.get(waiting.pop(), [])
        found += children
        waiting += children
    return found


def target_processes(runner):
    """The processes of the target's tree: all descendants of the supervisor, which is the runner's child."""
    supervisors = set(map(int, read(f"/proc/{runner}/task/{runner}/children").split()))
    supervisors |= {child for task in glob.glob(f"/proc/{runner}/task/*/children") for child in map(int, read(task).split())}
    return [pid for pid in descendants(runner) if pid not in supervisors]


def sums(pids):
    """Σ RSS, Σ PSS, and Σ PSS without file pages (which a cgroup does not count), in bytes."""
    totals = {"Rss": 0, "Pss": 0, "Pss_Anon": 0, "Pss_Shmem": 0}
    for pid in pids:
        for line in read(f"/proc/{pid}/smaps_rollup").splitlines():
            name = line.partition(":")[0]
            if name in totals:
                totals[name] += int(line.split()[1]) * 1024
    return totals["Rss"], totals["Pss"], totals["Pss_Anon"] + totals["Pss_Shmem"]


def cpu_and_reads(pids):
    """CPU time in seconds and number of read calls of processes so far, all threads included."""
    cpu = sum(int(read(file).split()[0]) for pid in pids for file in glob.glob(f"/proc/{pid}/task/*/schedstat"))
    reads = sum(int(line.split()[1]) for pid in pids for line in read(f"/proc/{pid}/io").splitlines()
                if line.startswith("syscr"))
    return cpu / 1e9, reads


def spent(pids, seconds):
    """CPU seconds and read calls of processes per second, measured over `seconds`."""
    before, begin = cpu_and_reads(pids), time.monotonic()
    time.sleep(seconds)
    after, length = cpu_and_reads(pids), time.monotonic() - begin
    return [(later - earlier) / length for earlier, later in zip(before, after)]


median = statistics.median
