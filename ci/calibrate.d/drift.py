"""Measures unchanged programs again under other circumstances, and writes DRIFT.md: how far their figures drift.

    ci/calibrate drift [PROGRAM...]     default: all of programs.yml, and programs of 1 MiB to 1 GiB
The noise of a single run does not show such drift, so the default tolerance has to cover it. Rows for candidates of that
tolerance say how many of the drifts exceed each. HIGHWATER_BINARY is the path of the release binary.
"""
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import programs

METRICS = ["peak_rss", "steady_rss", "tree_peak", "tree_steady"]
SIZES = {"1 MiB": 1, "16 MiB": 16, "256 MiB": 256, "1 GiB": 1024}
KIB = 1024
work = pathlib.Path(tempfile.mkdtemp(prefix="highwater-drift-"))
nobody = 65534

# Each candidate gives the largest rise that it allows above a level, at a given noise, in bytes.
CANDIDATES = {
    "3 %, 512 KiB": lambda level, noise: max(0.03 * level, 512 * KIB),
    "0.5 %, 128 KiB, 2.5 σ": lambda level, noise: max(0.005 * level, 128 * KIB, 2.5 * noise),
    "1 %, 128 KiB, 2.5 σ": lambda level, noise: max(0.01 * level, 128 * KIB, 2.5 * noise),
    "1 %, 256 KiB, 2.5 σ": lambda level, noise: max(0.01 * level, 256 * KIB, 2.5 * noise),
    "2 %, 256 KiB, 2.5 σ": lambda level, noise: max(0.02 * level, 256 * KIB, 2.5 * noise),
    "3 %, 512 KiB, 2.5 σ": lambda level, noise: max(0.03 * level, 512 * KIB, 2.5 * noise),
}


def build(folder):
    """The programs of known size, with their project file's scenarios appended to a copy of programs.yml."""
    load = folder / "load"
    subprocess.run(
        ["gcc", "-g", "-O1", "-o", load, shutil.copy(programs.here / "programs/load.c", folder), "-lpthread"], check=True
    )
    config = folder / "ci/calibrate.d/programs.yml"
    with config.open("a") as file:
        for name, size in SIZES.items():
            words = json.dumps([str(load), "one", str(size * 768), str(size * 256), str(size * 128), "0", "100"])
            file.write(f"  - name: {name.replace(' ', '-')}\n    target: {{command: {words}}}\n")
    return config


def project(name):
    """A copy of the project's calibration in a folder of its own."""
    folder = work / name
    for part in ("ci/calibrate.d", "ci/examples"):
        shutil.copytree(programs.root / part, folder / part)
    # Makes the folder the root that paths refer to.
    (folder / ".git").mkdir()
    return build(folder)


def elsewhere():
    """A project at a long path, whose programs are copies with other inodes and paths."""
    config = project("-".join(["elsewhere"] * 20))
    copies = config.parents[2] / "bin"
    copies.mkdir()
    commands = "bash curl gawk gzip jq lua5.4 nginx openssl perl redis-server sort sqlite3 xz zstd python3 convert".split()
    for command in commands:
        path = shutil.which(command, path="/usr/bin:/bin:/usr/sbin:/usr/local/bin")
        if path:
            shutil.copy(path, copies / command)
            config.write_text(config.read_text().replace(f"/usr/bin/{command}", str(copies / command)))
    more = {f"DRIFT_{number}": "x" * 100 for number in range(40)}
    return config, {"PATH": f"{copies}:{os.environ['PATH']}", **more}


def of_nobody():
    """A project that belongs to a user without rights, who cannot make memory cgroups."""
    config = project("nobody")
    shutil.copy(os.environ["HIGHWATER_BINARY"], work / "highwater")
    work.chmod(0o755)
    subprocess.run(["chown", "-R", f"{nobody}:{nobody}", config.parents[2]], check=True)
    return config


def values(config, name, repetitions, prefix=(), variables=None, binary=os.environ["HIGHWATER_BINARY"]):
    """The values of each metric of one check; empty if the program did not end well."""
    root = config.parents[2]
    environment = {**os.environ, "PATH": f"/usr/bin:/bin:/usr/sbin:{os.environ['PATH']}", **(variables or {})}
    run = subprocess.run(
        [*prefix, binary, "check", "--quiet", "--allow-missing-baseline", "--repetitions", str(repetitions),
         "--config", str(config), name],
        cwd=root, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
    )
    if run.returncode != 0:
        print(f"{name}: ended with {run.returncode}\n{run.stdout[-600:]}", file=sys.stderr)
        return {}
    scenario = json.loads((root / ".highwater/calibration/result.json").read_text())["scenarios"][0]
    measured = {}
    for metric in METRICS:
        found = [each["metrics"].get(metric) for each in scenario["repetitions"]]
        if metric in ("tree_peak", "tree_steady") and all(each["processes"] == 1 for each in scenario["repetitions"]):
            continue
        if all(value is not None for value in found):
            measured[metric] = found
    return measured


def with_load(run):
    """Runs something beside four busy loops."""
    loops = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(4)]
    try:
        return run()
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def drop_caches():
    subprocess.run(["sync"], check=True)
    pathlib.Path("/proc/sys/vm/drop_caches").write_text("3")


def recorded(name):
    """What another machine measured on another day, if the program has the same version."""
    path = programs.here / "recorded" / f"{name}.json"
    series = json.loads(path.read_text()) if path.exists() else {}
    if series.get("version") != (programs.version(name) if series else None):
        return {}
    return {
        metric: found for metric, found in series.get("metrics", {}).items()
        if metric in ("peak_rss", "steady_rss") and all(value is not None for value in found)
    }


def noise(found):
    """The robust standard deviation that the gate uses."""
    center = statistics.median(found)
    low, _, high = statistics.quantiles(found, n=4, method="inclusive")
    return max(1.4826 * statistics.median(abs(value - center) for value in found), (high - low) / 1.349)


def study(name, here, there, other):
    """The drift of each metric of a program under each circumstance: (metric, circumstance, before, noise, after)."""
    base = values(here, name, 10)

    def cold():
        drop_caches()
        return values(here, name, 5)

    far, variables = there
    again = {
        "again": lambda: values(here, name, 5),
        "page cache dropped": cold,
        "beside four busy loops": lambda: with_load(lambda: values(here, name, 5)),
        "rebuilt or copied, other path": lambda: values(far, name, 5, variables=variables),
        "another user": lambda: values(
            other, name, 5, binary=str(work / "highwater"), variables={"HOME": "/tmp"},
            prefix=("setpriv", f"--reuid={nobody}", f"--regid={nobody}", "--clear-groups"),
        ),
        "another machine and day": lambda: recorded(name),
    }
    for circumstance, measure in again.items():
        for metric, after in measure().items():
            # Without a memory cgroup, a tree's memory is another figure.
            if metric in base and not (circumstance == "another user" and metric.startswith("tree")):
                before = base[metric]
                yield metric, circumstance, statistics.median(before), noise(before), statistics.median(after)


def largest(rows):
    """The largest drift among rows, as text."""
    if not rows:
        return "–"
    _, _, before, _, after = max(rows, key=lambda row: abs(row[4] - row[2]) / row[2])
    return f"{100 * (after - before) / before:+.2f} %, {(after - before) / KIB:+,.0f} KiB"


def write(studied):
    """Writes DRIFT.md with the programs so far."""
    rows = [row for found in studied.values() for row in found]
    circumstances = list(dict.fromkeys(row[1] for row in rows))
    machine = programs.machine()
    lines = [
        "# Drift of unchanged programs",
        "",
        f"Written by `ci/calibrate drift`: {len(studied)} programs, 10 repetitions, then 5 under each circumstance "
        f"(another machine and day: the recorded series). Linux {machine['kernel']}, {machine['cpus']} CPUs, "
        f"{time.strftime('%Y-%m')}. Each cell is the largest change of a median among "
        f"{', '.join(f'`{metric}`' for metric in METRICS)}.",
        "",
        "| program | level | " + " | ".join(circumstances) + " |",
        "| --- | ---: |" + " ---: |" * len(circumstances),
    ]
    for name, found in studied.items():
        level = max((row[2] for row in found), default=0) / KIB / KIB
        cells = " | ".join(largest([row for row in found if row[1] == each]) for each in circumstances)
        lines.append(f"| {name} | {level:,.1f} MiB | {cells} |")
    lines += [
        "",
        "## Candidates for the default tolerance",
        "",
        f"How many of {len(rows)} drifts exceed each, up or down; σ is the noise of the 10 repetitions.",
        "",
        "| tolerance | exceeded by | allows, of the level (median, lowest to highest) |",
        "| --- | --- | --- |",
    ]
    for words, allowed in CANDIDATES.items():
        over = [
            f"{name} {row[0]} ({row[1]})" for name, found in studied.items() for row in found
            if abs(row[4] - row[2]) > allowed(row[2], row[3])
        ]
        shares = [100 * allowed(row[2], row[3]) / row[2] for row in rows]
        lines.append(
            f"| {words} | {len(over)}{': ' + ', '.join(over) if over else ''} | {statistics.median(shares):.1f} %, "
            f"{min(shares):.1f} to {max(shares):.1f} % |"
        )
    (programs.here / "DRIFT.md").write_text("\n".join(lines) + "\n")


here, there, other = project("here"), elsewhere(), of_nobody()
studied = {}
for name in sys.argv[1:] or programs.names() + [size.replace(" ", "-") for size in SIZES]:
    studied[name] = list(study(name, here, there, other))
    (work / "drift.json").write_text(json.dumps(studied))
    print(name, *(f"\n  {row[0]} {row[1]}: {row[2]:,.0f} ± {row[3]:,.0f}, {row[4] - row[2]:+,.0f}" for row in studied[name]), flush=True)
    write(studied)
shutil.rmtree(work)
