"""History: the time to import, export and render a large history, compared with parsing its lines in Python."""

import random
import subprocess

from bench import *

runs = several(10_000, 500)
# A project as most are, with 20 series of values, and one with 160.
sizes = [(10, 2), (20, 8)]
all_metrics = ["peak_rss", "steady_rss", "growth", "spike", "fault_rate", "tree_peak", "tree_steady", "phase.load.peak_rss"]
fingerprint = {"architecture": "x86_64", "pageSize": 4096, "cpus": 2, "aslr": "off", "thp": "madvise",
               "measurement": "traced+cgroup", "kernel": "6.18.2", "libc": "glibc 2.36"}
approval = {"at": "2026-01-01T00:00:00.000Z", "by": "ann", "commit": "c1", "reason": "agreed", "run": "r1"}
chance = random.Random(1)


def values(level, base, at, metric):
    """The values of a metric, in whole pages; the two gated metrics are judged."""
    share = 0.7 + 0.04 * at
    median = round(level * share / 4096) * 4096
    result = {"name": metric, "unit": "bytes", "verdict": "skipped", "on": "off",
              "current": {"median": median, "low": median - 4096, "high": median + 8192, "count": 5}}
    if at < 2:
        approved = round(base * share)
        change = median - approved
        result |= {"verdict": "pass", "on": "fail", "baseline": {"median": approved, "count": 5},
                   "change": {"absolute": change, "low": change, "high": change, "shift": change},
                   "tolerance": {"percent": 3, "absolute": 524_288, "limit": None, "allowed": 600_000}}
    return result


def scenario(number, base, run, metrics):
    """One scenario of one run: constant with 0.4 % noise, with a step after one third and two thirds of the runs."""
    level = base * (1 + 0.05 * (3 * run > runs) + 0.04 * (3 * run > 2 * runs)) * (1 + chance.gauss(0, 0.004))
    pages = int(level) // 4096 * 4096
    all_values = [values(level, base, at, metric) for at, metric in enumerate(metrics)]
    composition = {"anon": pages // 2, "file": pages // 4, "shmem": 0, "stack": 135_168, "heap": pages // 3}
    return {"name": f"scenario-{number:02}", "tags": ["server"] if number % 3 else ["tool", "slow"], "verdict": "pass",
            "repetitionCount": 5, "metrics": all_values[:2], "ungated": all_values[2:],
            "composition": {"current": composition}, "approved": approval}


def lines(scenarios, metrics):
    bases = [chance.uniform(5e6, 5e8) for _ in range(scenarios)]
    for run in range(runs):
        day = run * 330 // runs
        yield json.dumps({
            "schema": "highwater.run/2",
            "run": {"id": f"019b7c9e-5a2e-7000-8000-{run:012}", "durationSeconds": 12.5,
                    "startedAt": f"2025-{day // 28 + 1:02}-{day % 28 + 1:02}T{run // 60 % 24:02}:{run % 60:02}:00.000Z",
                    "commit": f"{chance.getrandbits(160):040x}", "subject": f"Change number {run} of this and that",
                    "branch": "main" if chance.random() < 0.8 else f"topic-{run // 40}",
                    "buildURL": f"https://ci.example/builds/{run}"},
            "environment": {"name": "linux-x86_64-2cpu", "fingerprint": fingerprint},
            "scenarios": [scenario(number, base, run, metrics) for number, base in enumerate(bases)]}) + "\n"


def measure(scenarios, metrics):
    source, history, page, again = (path(f"{scenarios}-{name}")
                                    for name in ("runs.jsonl", "history.sqlite", "trend.html", "again.jsonl"))
    with open(source, "w") as file:
        file.writelines(lines(scenarios, metrics))
    parse = "import json, sys\nfor line in open(sys.argv[1]): json.loads(line)"
    least = seconds(sys.executable, "-c", parse, source)
    rows = [["Python parses the lines", f"{least:.2f}", "1.00", os.path.getsize(source)]]
    steps = [
        ("highwater history import", ["history", "import", "--history", history, source], history),
        ("the same import again, which changes nothing", ["history", "import", "--history", history, source], history),
        ("highwater trend, the latest 2,000 runs", ["trend", "--history", history, "--output", page], page),
        ("highwater trend, all runs", ["trend", "--history", history, "--output", page, "--limit", str(runs)], page),
    ]
    for name, words, file in steps:
        taken = seconds(HIGHWATER, *words)
        rows.append([name, f"{taken:.2f}", f"{taken / least:.2f}", os.path.getsize(file)])
    with open(again, "w") as file:
        taken = seconds(HIGHWATER, "history", "export", "--history", history, stdout=file)
    rows.append(["highwater history export", f"{taken:.2f}", f"{taken / least:.2f}", os.path.getsize(again)])
    table(f"A history of {runs:,} runs of {scenarios} scenarios with {len(metrics)} metrics each",
          ["step", "seconds", "by the first", "file size in bytes"], rows)


for scenarios, count in sizes:
    measure(scenarios, all_metrics[:count])
