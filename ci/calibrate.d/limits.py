"""Searches for the smallest memory limit of real programs with `highwater limit`, and compares it with the edge between
death and survival, found level by level.

    limits.py [RUNS [PROGRAM…]]

The edge: each level around the answer, in steps of 0.5 %, is run RUNS times with `limit: {survives: LEVEL}` of the
project file. It begins at the highest level with which no run passes, and ends at the lowest one from which on all do.
HIGHWATER_LIMIT_INPUTS has the built programs for a machine without compilers, such as a small virtual machine.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

here = pathlib.Path(__file__).resolve().parent
binary = os.environ["HIGHWATER_BINARY"]
inputs = pathlib.Path(os.environ.get("HIGHWATER_LIMIT_INPUTS", ".build/limits")).absolute()
STEP = 0.005
# So many levels in a row on which all runs end in the same way are beyond the edge.
BEYOND = 3

JAVA = """
public class Strings {
  public static void main(String[] arguments) {
    var kept = new java.util.ArrayList<String>();
    for (int at = 0; at < 150_000; at++) kept.add("text number " + at);
    System.out.println(kept.size());
  }
}
"""
TABLE = """create table t(a, b); with recursive n(i) as (select 1 union all select i + 1 from n where i < 150000)
insert into t select i, hex(i) from n; create index b on t(b); select count(*) from t;"""
KEYS = "for i = 1, 100000 do redis.call('set', 'key' .. i, i) end"
SCENARIOS = {
    "c": {"target": {"command": [str(inputs / "ballast"), "hold", "mib=40", "ms=20"]}},
    "sqlite3": {"target": {"command": ["sqlite3", ":memory:", TABLE]}},
    "python": {"target": {"command": ["/usr/bin/python3", "-c", "print(len({n: str(n) for n in range(150_000)}))"]}},
    "redis": {
        "target": {"command": ["redis-server", "--port", "{{port}}", "--save", ""]},
        "ready": {"tcp": "127.0.0.1:{{port}}", "within": "60s"},
        "steps": [{"run": ["redis-cli", "-p", "{{port}}", "eval", KEYS, "0"]}],
    },
    "java": {"target": {"command": ["java", "-XX:+UseSerialGC", "-cp", str(inputs), "Strings"]}},
}


def build():
    inputs.mkdir(parents=True, exist_ok=True)
    if not (inputs / "ballast").exists():
        source = here.parent / "bench.d" / "ballast.c"
        subprocess.run(["cc", "-O1", "-static", "-o", inputs / "ballast", source], check=True)
    if not (inputs / "Strings.class").exists():
        (inputs / "Strings.java").write_text(JAVA)
        subprocess.run(["javac", "--release", "17", "-d", inputs, inputs / "Strings.java"], check=True)


def project(folder, scenario):
    text = {"version": 1, "history": "off", "scenarios": [{"name": "program", "warmup": 0, "repetitions": 1} | scenario]}
    (folder / "highwater.yml").write_text(json.dumps(text))


def search(folder, name):
    """The limit that `highwater limit` finds in bytes, its number of runs, and its time in seconds."""
    project(folder, SCENARIOS[name])
    began = time.monotonic()
    run = subprocess.run([binary, "limit", "--json", "limit.json"], cwd=folder, capture_output=True, text=True)
    if run.returncode:
        raise SystemExit(f"{name}: {run.stdout}{run.stderr}")
    answer = json.loads((folder / "limit.json").read_text())["scenarios"][0]
    return answer["needs"], answer["runs"], time.monotonic() - began


def survives(folder, name, level):
    """Whether one run passes at this limit in bytes."""
    project(folder, SCENARIOS[name] | {"limit": {"survives": f"{level // 1024}KiB"}})
    subprocess.run([binary, "check", "--allow-missing-baseline", "--json", "result.json"], cwd=folder, capture_output=True)
    result = json.loads((folder / "result.json").read_text())["scenarios"][0]
    if "limitedRun" not in result:
        raise SystemExit(f"{name} fails without a limit: {result.get('failure')}")
    return "survived" in result["limitedRun"]["outcome"]


def edge(folder, name, found, runs):
    """The highest level at which no run passes and the lowest from which on all do, in bytes; and each level's passes."""
    step = max(4096, int(found * STEP) // 4096 * 4096)
    passes = {}

    def walk(direction, beyond):
        level, same = found if direction > 0 else found - step, 0
        while same < BEYOND:
            passes[level] = sum(survives(folder, name, level) for _ in range(runs))
            same = same + 1 if passes[level] == beyond else 0
            level += direction * step

    walk(1, runs)
    walk(-1, 0)
    below = max(level for level, count in passes.items() if count == 0 and all(
        passes[lower] == 0 for lower in passes if lower < level))
    above = min(level for level in passes if all(passes[higher] == runs for higher in passes if higher >= level))
    return below, above, passes


def difference(found, below, above):
    """From the edge, in percent; 0 within it."""
    return 100 * (min(0, found - below) / below + max(0, found - above) / above)


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    build()
    print(f"| program | found | no run passes up to | all of {runs} pass from | outside of the edge | runs | seconds |")
    print("| --- | --- | --- | --- | --- | --- | --- |", flush=True)
    for name in sys.argv[2:] or SCENARIOS:
        with tempfile.TemporaryDirectory(prefix="highwater-limits-") as scratch:
            folder = pathlib.Path(scratch)
            found, count, seconds = search(folder, name)
            below, above, passes = edge(folder, name, found, runs)
        cells = [f"{value // 1024:,} KiB" for value in (found, below, above)]
        print(f"| {name} | {' | '.join(cells)} | {difference(found, below, above):+.1f} % | {count} | {seconds:.0f} |")
        levels = ", ".join(f"{level // 1024}: {passes[level]}" for level in sorted(passes))
        print(f"{name}: passes of {runs} by level in KiB: {levels}", file=sys.stderr, flush=True)


main()
