"""The work of load.c in Python: load.py BASE PEAK LEVEL LEAK ITERATIONS [lines]; with `lines`, one iteration for each
line of standard input, which the scenario's steps send."""
import os
import sys
import time

base, peak, level, leak, iterations = map(int, sys.argv[1:6])
path = os.environ.get("HIGHWATER_MARKS")
marks = open(path, "wb", buffering=0) if path and "lines" not in sys.argv else None
kept = [b"1" * (base << 10)]
spike = b"1" * (peak << 10)
time.sleep(0.001)
del spike
time.sleep(0.06)
kept.append(b"1" * (level << 10))


def iterate():
    kept.append(os.urandom(leak))
    if marks:
        marks.write(b"iteration\n")


if "lines" in sys.argv:
    print("ready", flush=True)
    for line in sys.stdin:
        iterate()
        print("done", flush=True)
else:
    for _ in range(iterations):
        iterate()
        time.sleep(0.002)
time.sleep(0.06)
