"""Trees: the memory of process trees as measured by Highwater, as sums over processes, and as known; and the cost."""

import shutil
import tempfile

from bench import *


def tree_method(repetition):
    return repetition.get("treeMethod", "–")


def known_trees():
    """Trees of known size, compared with the sums of smaps_rollup while they are idle."""
    count, mib, rows = several(300, 30), several(100, 20), []
    trees = {
        f"8 children × {mib} MiB at once": ballast("children", "count=8", f"mib={mib}", "ms=3000"),
        f"{mib} MiB (memfd) shared by 4": ballast("shared", "count=4", f"mib={mib}", "ms=3000"),
        f"{mib} MiB (System V) shared by 4": ballast("shared", "count=4", f"mib={mib}", "kind=sysv", "ms=3000"),
        f"{count} copies of 50 MiB": ballast("forked", f"count={count}", "mib=50", "ms=6000"),
        f"{count} copies of 50 MiB, 2 % rewritten": ballast("forked", f"count={count}", "mib=50", "share=2", "ms=6000"),
    }
    for name, command in trees.items():
        recording = Recording(command)
        report = recording.await_report()
        rss, pss, parts = sums(target_processes(recording.process.pid))
        repetition = recording.finish()[-1]
        peak = repetition["metrics"].get("tree_peak")
        rows.append([name, mebibytes(report["touched"]), mebibytes(peak), tree_method(repetition), mebibytes(rss), mebibytes(pss),
                     mebibytes(parts), *(f"{peak / other:.3f}" if peak else "–" for other in (report["touched"], pss, parts))])
    table(f"Trees of known size, MiB (method: {recording.method}); `known` leaves out the programs themselves",
          ["", "known", "tree_peak", "tree method", "Σ RSS", "Σ PSS", "Σ PSS anon+shmem", "to known", "to Σ PSS", "to anon+shmem"],
          rows)


def costs():
    rows = []
    for count in (10, 100, 300, 1000):
        seconds = several(5, 2)
        recording = Recording(ballast("children", f"count={count}", "mib=1", f"ms={1000 * seconds + 4000}"))
        recording.await_report()
        time.sleep(2)
        everything = [recording.process.pid] + descendants(recording.process.pid)
        target = set(target_processes(recording.process.pid))
        cpu, reads = spent([pid for pid in everything if pid not in target], seconds)
        repetition = recording.finish()[-1]
        rows.append([count, f"{100 * cpu:.2f}", f"{reads:.0f}", f"{cpu / reads * 1e6:.1f}" if reads else "–",
                     tree_method(repetition), f"{1000 * repetition['widestGapSeconds']:.1f}"])
    table("Cost of sampling a tree each 10 ms (runner and supervisor), of children of 1 MiB that sleep",
          ["processes", "% of a core", "reads/s", "µs per read", "tree method", "widest gap ms"], rows)


def real_programs():
    rows = []
    for name in ("postgres", "nginx", "redis", "gcc", "python", "chromium"):
        folder = tempfile.mkdtemp(prefix="highwater-bench-")
        recording = Recording([os.path.join(os.path.dirname(__file__), "process-trees"), name, folder])
        highest, readings, most = (0, 0, 0), 0, 0
        while recording.is_running():
            pids = target_processes(recording.process.pid)
            highest = tuple(map(max, highest, sums(pids)))
            readings, most = readings + 1, max(most, len(pids))
            time.sleep(0.1)
        repetition = recording.finish()[-1]
        shutil.rmtree(folder, ignore_errors=True)
        end, peak = repetition["end"], repetition["metrics"].get("tree_peak")
        rows.append([name, f"{end['kind']} {end.get('code', end.get('signal', ''))}", repetition["processes"], most,
                     mebibytes(peak), tree_method(repetition), *map(mebibytes, highest), readings])
    table("Real programs, MiB: highest value of each measure over the run; this script reads the sums at other moments "
          "of the same run, so they may miss the peak",
          ["", "end", "processes", "at once", "tree_peak", "tree method", "Σ RSS", "Σ PSS", "Σ PSS anon+shmem", "readings"], rows)


known_trees()
costs()
real_programs()
