"""What MemoryMarkers costs the program that links it: time a call, and resident memory."""

import os
import statistics
import subprocess

from bench import kibibytes, path, several, table

PROGRAMS = os.environ["MARKERS"]


def program(name):
    return os.path.join(PROGRAMS, f"markers-{name}")


def times(kind, *words, **variables):
    """Nanoseconds by what was measured, each the median of several runs."""
    runs = []
    for _ in range(several(9, 1)):
        output = subprocess.run(
            [program("bench"), kind, *words], env={**os.environ, **variables}, check=True, capture_output=True, text=True
        ).stdout
        runs.append(dict(line.rsplit(" ", 1) for line in output.splitlines()))
    return {name: statistics.median(float(run[name]) for run in runs) for name in runs[0]}


def show(title, figures):
    base, *others = figures
    rows = [[name, f"{figures[name]:.1f}", f"{figures[name] / figures[base]:.1f}"] for name in (base, *others)]
    table(title, ["", "ns", f"times {base}"], rows)


def memory(*command):
    """Of a program that waits: its resident memory, and what of it is anonymous, in bytes."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    process.stdout.readline()
    with open(f"/proc/{process.pid}/status") as status:
        lines = dict(line.split(":", 1) for line in status)
    process.kill()
    process.wait()
    return [int(lines[name].split()[0]) * 1024 for name in ("VmRSS", "RssAnon")]


def typical_memory(*command):
    runs = [memory(*command) for _ in range(several(21, 3))]
    return [statistics.median(column) for column in zip(*runs)]


os.environ.pop("HIGHWATER_MARKS", None)

show("Outside the gate, ns a call", times("calls"))

os.mkfifo(path("marks"))
inside = times("writes", HIGHWATER_MARKS=path("marks"))
assert inside.pop("dropped") == 0, "the FIFO was emptied in time"
show("Inside the gate, ns a call", inside)

show("A hunter for loops, ns a hit", times("loops"))

launches = times("launches", path("state"))
table("Reasons of launches, ns a call", ["", "ns"], [[name, f"{figure:.1f}"] for name, figure in launches.items()])

plain = typical_memory(program("plain"))
rows = [["small program", kibibytes(plain[0]), kibibytes(plain[1]), "", ""]]
for name, command in [
    ("with marks", [program("marked")]),
    ("with a recorded launch", [program("marked"), path("state")]),
]:
    figures = typical_memory(*command)
    rows.append([name, *map(kibibytes, figures), *(kibibytes(now - before) for now, before in zip(figures, plain))])
table("Resident memory, KiB", ["", "resident", "anonymous", "more", "more anonymous"], rows)
