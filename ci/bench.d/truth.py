"""Ground truth: does peak_rss equal the known size of a program, also under a large launcher and in any order?"""

import random
import resource
import subprocess

from bench import *

sizes = several([1, 16, 256, 1024, 4096], [1, 16, 256])
rounds = 3
large = ballast("launch", "mib=400", "--")


def gate(mib, launcher):
    repetition, recording = record(ballast("hold", f"mib={mib}", "ms=50"), launcher=launcher)
    methods.add(recording.method)
    return repetition["metrics"].get("peak_rss"), next(line for line in recording.reports if line["command"] == "hold")


def gnu_time(mib, launcher):
    figure, report = path("time"), path("time.jsonl")
    command = ["time", "-f", "%M", "-o", figure, *ballast("hold", f"mib={mib}")]
    subprocess.run([*launcher, *command], check=True, env=dict(os.environ, BALLAST_REPORT=report))
    reports = lines_of(report)
    os.remove(report)
    return int(read(figure)) * 1024, next(line for line in reports if line["command"] == "hold")


def wait4(mib, launcher):
    """The peak that wait4(2) reports to the parent as `ru_maxrss`."""
    report = path("wait4.jsonl")
    runner = launcher or ballast("launch", "mib=0", "--")
    subprocess.run([*runner, *ballast("hold", f"mib={mib}")], check=True, env=dict(os.environ, BALLAST_REPORT=report))
    held, launched = lines_of(report)
    os.remove(report)
    return launched["peak"], held


tools = {"highwater peak_rss": gate, "GNU time %M": gnu_time, "wait4 ru_maxrss": wait4}
methods = set()
turns = [(tool, mib, large if is_large else []) for tool in tools for mib in sizes for is_large in (False, True)] * rounds
random.seed(3)
random.shuffle(turns)
errors, missing = {}, {}
for tool, mib, launcher in turns:
    figure, report = tools[tool](mib, launcher)
    key = (tool, mib, bool(launcher))
    if figure is None:
        missing[key] = missing.get(key, 0) + 1
    else:
        errors.setdefault(key, []).append(figure - report["base"] - report["touched"])


def largest(tool, mib, is_large):
    key = (tool, mib, is_large)
    worst = max(errors.get(key, []), key=abs, default=None)
    return kibibytes(worst) + (f" ({missing[key]} without a value)" if key in missing else "")


rows = [[f"{mib} MiB{', launcher of 400 MiB' * is_large}", f"{max(64, mib * 1.024):.0f}",
         *(largest(tool, mib, is_large) for tool in tools)] for is_large in (False, True) for mib in sizes]
table(f"Ground truth: largest error in KiB of {rounds} runs in shuffled order, above the program's own base "
      f"(method: {', '.join(sorted(methods))})", ["held", "allowed", *tools], rows)
