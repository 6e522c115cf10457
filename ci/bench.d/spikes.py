"""Spikes: one spike of 30 MiB for 1, 5 or 20 ms at a random time in each run; how many does each tool detect?"""

import shlex
import subprocess

from bench import *

count = several(200, 10)
# For the other tools a third of the runs is enough.
peer_count = several(67, 10)
python = os.environ["BENCH_PYTHON"]


def command(milliseconds):
    """The level before the spike lasts longer than the rest, since the first half of a run may count as warm-up."""
    return ballast("spikes", "mib=30", f"ms={milliseconds}", "level=5", "lead=500", "window=300", "tail=50")


def highwater(milliseconds):
    recording = Recording(command(milliseconds), options=["--repetitions", str(count)])
    metrics = [repetition["metrics"] for repetition in recording.finish()]
    methods.add(recording.method)
    # The first report is from the warm-up.
    return [(figures.get("peak_rss"), figures.get("spike"), report)
            for figures, report in zip(metrics, recording.reports[-count:])]


def peer(words, reading):
    """Runs a tool `peer_count` times, each time with one spike; `reading` reads the peak from the file that the tool wrote."""
    def run(milliseconds):
        seen = []
        for _ in range(peer_count):
            figure, report = path("peer"), path("peer.jsonl")
            subprocess.run(words(figure, command(milliseconds)), check=True, env=dict(os.environ, BALLAST_REPORT=report),
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            seen.append((reading(read(figure)), None, lines_of(report)[-1]))
            os.remove(figure)
            os.remove(report)
        return seen
    return run


def highest_column(column, comment, unit):
    def reading(text):
        rows = [line.split() for line in text.splitlines()]
        return max((float(row[column]) * unit for row in rows if row and row[0][0] not in comment), default=0)
    return reading


methods = set()
tools = {
    "highwater": highwater,
    "mprof, each 10 ms": peer(lambda file, words: [f"{python}/mprof", "run", "-T", "0.01", "-o", file, *words],
                              highest_column(1, "CF", MEBIBYTE)),
    "mprof, each 100 ms (default)": peer(lambda file, words: [f"{python}/mprof", "run", "-o", file, *words],
                                         highest_column(1, "CF", MEBIBYTE)),
    "psrecord, each 10 ms": peer(
        # psrecord watches the shell that it starts, so `exec` replaces the shell by the program.
        lambda file, words: [f"{python}/psrecord", f"exec {shlex.join(words)}", "--interval", "0.01", "--log", file],
        highest_column(2, "#", MEBIBYTE)),
    "GNU time": peer(lambda file, words: ["time", "-f", "%M", "-o", file, *words], lambda text: float(text) * 1024),
}


def hits(seen, figure, expected):
    return sum(1 for run in seen if figure(run) is not None and abs(figure(run) - expected(run[2])) <= MEBIBYTE)


peaks, spikes = [], []
for name, tool in tools.items():
    seen = [tool(milliseconds) for milliseconds in (1, 5, 20)]
    by_peak = [hits(runs, lambda run: run[0], lambda report: report["base"] + report["touched"]) for runs in seen]
    by_spike = [hits(runs, lambda run: run[1], lambda report: report["touched"]) for runs in seen]
    peaks.append([name, *by_peak, f"{sum(by_peak)} of {sum(map(len, seen))}"])
    if name == "highwater":
        spikes.append([name, *by_spike, f"{sum(by_spike)} of {sum(map(len, seen))}"])
head = ["", "held 1 ms", "5 ms", "20 ms", "all"]
table(f"Spikes of 30 MiB, one a run: the peak is 30 ± 1 MiB above the level (method: {', '.join(sorted(methods))})",
      head, peaks)
table("The same by the metric `spike`", head, spikes)
