"""Explains rises whose cause is known, and unchanged programs, with `highwater explain`, and prints what was named.

    explain.py [RUNS [VARIANT…]]

Each variant of a server is explained RUNS times beside the original, and the original five times as often beside a copy
of itself. Of variants whose names begin with `growth`, what one build adds during its run is explained.
"""
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

here = pathlib.Path(__file__).resolve().parent
binary = os.environ["HIGHWATER_BINARY"]
temporary = tempfile.TemporaryDirectory(prefix="highwater-explain-")
folder = pathlib.Path(temporary.name)
UNCHANGED = "unchanged"
GROWTH = "growth: "
# The macros of the server, and the function that holds what they add.
VARIANTS = {
    "leak of 32 B": ("-DLEAK=32", "remember"),
    "leak of 100 B": ("-DLEAK=100", "remember"),
    "leak of 500 B": ("-DLEAK=500", "remember"),
    "cache twice as large": ("-DKEYS=2000", "cache_put"),
    "block of 1 MiB": ("-DBLOCK=1048576", "load_table"),
    "spike of 30 MiB": ("-DSPIKE=280000", "small_spike"),
    UNCHANGED: ("", None),
    GROWTH + "leak of 100 B": ("-DLEAK=100", "remember"),
    GROWTH + "cache twice as large": ("-DKEYS=2000", None),
}
SENTENCE = re.compile(
    r"server: \+[0-9.]+ [KM]iB (?:held|first touched) by (\w+)\(\).*?, (?:(\d+) %|all) of the (?:rise|growth)")


def compile(name, *flags):
    program = folder / name / "server"
    program.parent.mkdir(exist_ok=True)
    subprocess.run(["gcc", "-O2", *flags, "-o", program, here / "programs/server.c"], check=True)
    return program


def explain(options, now, holder):
    """The function that the report names and its share in percent, or nothing; prints a report that is not right."""
    scenario = {"name": "server", "target": {"command": [str(now)]}}
    (folder / "highwater.yml").write_text(json.dumps({"version": 1, "history": "off", "scenarios": [scenario]}))
    run = subprocess.run([binary, "explain", *options], cwd=folder, capture_output=True, text=True)
    if run.returncode:
        raise SystemExit(run.stdout + run.stderr)
    found = SENTENCE.search(" ".join(run.stdout.split()))
    function, share = (found[1], int(found[2] or 100)) if found else (None, 0)
    if function != holder:
        print(run.stdout, file=sys.stderr)
    return function, share


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    original = compile("original")
    print("| variant | holder | right | wrong | nothing named | share of the rise |")
    print("| --- | --- | --- | --- | --- | --- |", flush=True)
    for name in sys.argv[2:] or VARIANTS:
        flags, holder = VARIANTS[name]
        changed = compile(name.replace(" ", "-"), *flags.split())
        options = ["--metric", "growth"] if name.startswith(GROWTH) else ["--against", str(original)]
        answers = [explain(options, changed, holder) for _ in range(runs * 5 if name == UNCHANGED else runs)]
        named = collections.Counter(function for function, _ in answers)
        silent = named.pop(None, 0)
        right = named.pop(holder, 0)
        shares = [share for function, share in answers if function and function == holder]
        share = f"{min(shares)} to {max(shares)} %" if shares else "–"
        print(f"| {name} | {holder or '–'} | {right} | {sum(named.values())} | {silent} | {share} |", flush=True)


main()
