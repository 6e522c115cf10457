"""Fills a cache, then works in equal turns; with LEAK set to a number, keeps that many bytes of each turn."""
import os
import time

leak = int(os.environ.get("LEAK", "0"))
path = os.environ.get("HIGHWATER_MARKS")
marks = open(path, "w", buffering=1) if path else None


def tell(message):
    """One line is one write, so that lines of several processes never mix."""
    if marks:
        marks.write(message + "\n")


tell("phase fill")
cache = {number: str(number) * 10 for number in range(100_000)}
tell("phase work")
kept = []
for turn in range(200):
    total = sum(len(value) for value in cache.values())
    if leak:
        kept.append(bytearray(leak))
    tell("iteration")
    time.sleep(0.002)
print(total, len(kept))
