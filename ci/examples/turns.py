"""Fills a cache, then runs 200 equal turns; with LEAK=N, leaks N bytes per turn."""
import os
import time

leak = int(os.environ.get("LEAK", "0"))
path = os.environ.get("HIGHWATER_MARKS")
marks = open(path, "w", buffering=1) if path else None


def report(message):
    """Sends one message. Each line is one write, so that lines of several processes never mix."""
    if marks:
        marks.write(message + "\n")


report("phase fill")
cache = {number: str(number) * 10 for number in range(100_000)}
report("phase work")
kept = []
for turn in range(200):
    total = sum(len(value) for value in cache.values())
    if leak:
        kept.append(bytearray(leak))
    report("iteration")
    time.sleep(0.002)
print(total, len(kept))
