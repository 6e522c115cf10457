"""Slowdown: how much slower a target that keeps the kernel busy runs when it is measured, traced and sampled."""

import random

from bench import *

rounds = several(15, 3)
targets = {
    "nothing": ballast("hold", "mib=0"),
    "page-faulting: 200 × 16 MiB": ballast("faults", "kib=16384", "turns=200"),
    "mmap-heavy: 100 000 × 16 KiB": ballast("faults", "kib=16", "turns=100000"),
    "fork-heavy: 500 short children": ballast("forks", "count=500"),
    "fork-heavy: 500 × /bin/true": ballast("forks", "count=500", "exec=1"),
    "thread-heavy: 2000 in turn": ballast("threads", "count=2000"),
    "thread-heavy: 2000, 50 at once": ballast("threads", "count=2000", "alive=50"),
}


def alone(command):
    return run_alone(command)


def under(tracer):
    def run(command):
        recording = Recording(command, options=["--tracer", tracer])
        recording.finish()
        used = recording.usage.ru_utime + recording.usage.ru_stime
        return dict(recording.reports[-1], runner=used * 1e9 - recording.reports[-1]["cpu"])
    return run


ways = {"alone": alone, "sampled": under("off"), "traced": under("on")}
rows = []
for name, command in targets.items():
    seen = {way: [] for way in ways}
    for _ in range(rounds):
        # Interleaved, each round in another order, so that other load on the machine affects all alike.
        for way in random.sample(list(ways), len(ways)):
            seen[way].append(ways[way](command))
    for way, runs in seen.items():
        ratios = {figure: [run[figure] / base[figure] for run, base in zip(runs, seen["alone"])] for figure in ("wall", "cpu")}
        runner = f"{median(run['runner'] for run in runs) / 1e6:.1f}" if way != "alone" else "–"
        rows.append([f"{name}, {way}", f"{median(run['wall'] for run in runs) / 1e6:.2f}", f"{median(ratios['wall']):.3f}",
                     f"{median(run['cpu'] for run in runs) / 1e6:.2f}", f"{median(ratios['cpu']):.3f}", runner])
table(f"Slowdown: medians of {rounds} interleaved rounds, ratios to the unmeasured run of the same round; the runner's CPU "
      "time includes its start, sampling and tracing", ["", "wall ms", "ratio", "CPU ms", "ratio", "runner's CPU ms"],
      rows)
