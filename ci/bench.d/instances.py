"""The cost of counting the living instances of Swift classes: CPU time and the highest memory."""

import os
import resource
import statistics
import subprocess

from bench import kibibytes, path, several, table

PROGRAM, COUNTER = os.environ["INSTANCES"], os.environ["COUNTER"]
COUNTS = path("counts")
os.mkdir(COUNTS)
MODES = {
    "not counted": ("off", {}),
    "preloaded, as in a check": ("off", {"LD_PRELOAD": COUNTER, "HIGHWATER_INSTANCES": COUNTS}),
    "InstanceProfiler, counts": ("counts", {}),
    "InstanceProfiler, exact": ("exact", {}),
}
WORK = {
    "3 million objects, one after the other": "short",
    "1 million living objects": "living",
    "texts and dictionaries": "texts",
}


def run(work, mode, variables):
    """CPU seconds, and VmHWM as the program itself reads it."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    output = subprocess.run(
        [PROGRAM, "cost", mode, work], env={**os.environ, **variables}, check=True, capture_output=True, text=True
    ).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, int(output.split()[-1]) * 1024


for title, work in WORK.items():
    runs = {name: [] for name in MODES}
    for _ in range(several(15, 2)):
        for name, (mode, variables) in MODES.items():
            runs[name].append(run(work, mode, variables))
    typical = {name: [statistics.median(column) for column in zip(*all_runs)] for name, all_runs in runs.items()}
    base = typical["not counted"]
    rows = [
        [name, f"{cpu:.2f}", f"{cpu / base[0]:.2f}", kibibytes(memory), kibibytes(memory - base[1])]
        for name, (cpu, memory) in typical.items()
    ]
    table(title, ["", "CPU s", "times", "VmHWM, KiB", "more"], rows)
