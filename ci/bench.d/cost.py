"""Cost: CPU time of one sample of one process, compared with the same reads in C and by psutil."""

import subprocess

from bench import *

seconds = several(10, 2)
python = os.environ["BENCH_PYTHON"]
psutil_loop = """
import psutil, sys, time
process, interval, end = psutil.Process(int(sys.argv[1])), float(sys.argv[2]) / 1000, time.monotonic() + 60
while time.monotonic() < end:
    process.memory_info(); process.cpu_times()
    time.sleep(interval)
"""


def kept_files(runner):
    """The files under /proc and /sys/fs/cgroup that the sampler keeps open for its target."""
    links = [os.readlink(link) for link in glob.glob(f"/proc/{runner}/fd/*") if os.path.islink(link)]
    return sorted({link for link in links if link.endswith(("/status", "/stat", "/statm", "memory.stat"))})


def cost_of(words):
    """The cost of another sampler over the same time, after one second of start-up."""
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    time.sleep(1)
    cost = spent([process.pid], seconds)
    process.kill()
    process.wait()
    return cost


rows = []
for milliseconds in (10, 1):
    recording = Recording(ballast("hold", "mib=16", "ms=3600000"), options=["--interval", f"{milliseconds}ms"])
    recording.await_report()
    # The interval starts shorter and reaches the requested one within 100 intervals.
    time.sleep(2)
    target = target_processes(recording.process.pid)[0]
    runner = [recording.process.pid] + [pid for pid in descendants(recording.process.pid) if pid != target]
    files = kept_files(recording.process.pid)
    costs = {
        "highwater (runner and supervisor)": spent(runner, seconds),
        f"C: {', '.join(file.rpartition('/')[2] for file in files)}":
            cost_of([os.environ["SAMPLING"], str(milliseconds), *files]),
        "psutil: memory_info, cpu_times":
            cost_of([f"{python}/python", "-c", psutil_loop, str(target), str(milliseconds)]),
    }
    os.kill(target, 9)
    recording.finish()
    first = costs["highwater (runner and supervisor)"][0]
    for name, (cpu, reads) in costs.items():
        rows.append([f"{milliseconds} ms: {name}", f"{100 * cpu:.3f}", f"{cpu * milliseconds * 1000:.1f}",
                     f"{reads * milliseconds / 1000:.1f}", f"{cpu / reads * 1e6:.1f}", f"{first / cpu:.2f}"])
table("Cost of sampling one process of 16 MiB (Highwater reads less often than asked where that would cost too much)",
      ["interval", "% of a core", "µs per interval", "reads per interval", "µs per read", "highwater by this"], rows)
