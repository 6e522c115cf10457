"""Checks programs of known memory in many situations, without `gate:` and `main:`, and prints what the gate said.

    situations.py [CHECKS [NAME…]]

In each situation a program is approved, then checked unchanged, with a peak or a level that is a fifth higher, and with
a leak in each iteration. Each cell counts the exit codes of the checks: `5×0` is five passes, `5×1` five regressions.
"""
import collections
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

here = pathlib.Path(__file__).resolve().parent
binary = os.environ["HIGHWATER_BINARY"]
checks = int(sys.argv[1]) if len(sys.argv) > 1 else 2
wanted = sys.argv[2:]
folder = pathlib.Path(tempfile.mkdtemp(prefix="highwater-situations-"))
load = str(folder / "load")
subprocess.run(["gcc", "-O1", "-o", load, here / "programs/load.c", "-lpthread"], check=True)

# KiB, bytes and a number: what the program holds, its peak above that, its level, its leak, and its iterations.
USUAL = (8192, 8192, 4096, 0, 200)
VARIANTS = {
    "unchanged": USUAL,
    "peak +20 %": (8192, 11600, 4096, 0, 200),
    "level +20 %": (8192, 8192, 6760, 0, 200),
    "leak of 512 B": (8192, 8192, 4096, 512, 200),
    "leak of 4 KiB": (8192, 8192, 4096, 4096, 200),
}


def words(kind, values):
    return [load, kind, *map(str, values)]


def job(values):
    return ["python3", str(here / "programs/load.py"), *map(str, values)]


def quoted(*command):
    return " ".join(map(shlex.quote, command))


def script(values):
    path = folder / "run.sh"
    path.write_text(f'#!/bin/sh\nset -e\necho begin\n{quoted(*words("one", values))}\necho end\n')
    path.chmod(0o755)
    return [str(path)]


def makefile(command):
    (folder / "Makefile").write_text(f"run:\n\t@{command}\n")
    return ["make", "-s", "-C", str(folder), "run"]


LAUNCHER = "import subprocess, sys; sys.exit(subprocess.run(sys.argv[1:]).returncode)"


def chain(command):
    for _ in range(3):
        command = f"sh -c {shlex.quote(command + '; exit $?')}"
    return command


def shell(text):
    return {"shell": text}


# Each makes a target, or a list of words.
SITUATIONS = {
    "a process": lambda v: words("one", v),
    "a shell with a redirection": lambda v: shell(quoted(*words("one", v)) + " > out.txt"),
    "a shell with two commands": lambda v: shell(quoted(*words("one", v)) + "; exit $?"),
    "bash": lambda v: ["bash", "-c", quoted(*words("one", v)) + "; exit $?"],
    "a pipeline": lambda v: shell(quoted(*words("one", v)) + " | cat"),
    "a script": script,
    "env": lambda v: ["env", "A=b", *words("one", v)],
    "timeout": lambda v: ["timeout", "60", *words("one", v)],
    "nice": lambda v: ["nice", *words("one", v)],
    "setsid": lambda v: ["setsid", "--wait", *words("one", v)],
    "time": lambda v: ["/usr/bin/time", *words("one", v)],
    "make": lambda v: makefile(quoted(*words("one", v))),
    "make and a shell": lambda v: makefile(quoted(*words("one", v)) + " > out.txt; exit $$?"),
    "xargs": lambda v: shell(f"echo {quoted(*words('one', v)[1:])} | xargs {load}"),
    "a chain of four shells": lambda v: shell(chain(quoted(*words("one", v)))),
    "a launcher in Python": lambda v: ["python3", "-c", LAUNCHER, *words("one", v)],
    "a first thread that ends": lambda v: words("ended", v),
    "four forked workers": lambda v: words("forked", v),
    "four executed workers": lambda v: words("executed", v),
    "workers that share 24 MiB": lambda v: words("shared", v),
    "workers behind a shell": lambda v: shell(quoted(*words("forked", v)) + "; exit $?"),
    "workers behind a launcher": lambda v: ["python3", "-c", LAUNCHER, *words("executed", v)],
    "eight children in turn": lambda v: words("turns", v),
    "eight children in pairs": lambda v: words("pairs", v),
    "children of a shell in turn": lambda v: shell("; ".join([quoted(*words("one", (*v[:4], 100)))] * 3)),
    "Python": job,
    "Python behind a shell": lambda v: shell(quoted(*job(v)) + " > out.txt"),
    "Python behind make": lambda v: makefile(quoted(*job(v)) + " > out.txt; exit $$?"),
    "Python and Python": lambda v: ["python3", "-c", LAUNCHER, *job(v)],
    "Python beside C": lambda v: shell(f"{quoted(*words('one', USUAL))} & {quoted(*job(v))}; wait"),
}

ROUND = [{"send": "x\n"}, {"expect": {"output": "done", "within": "5s"}}]
LOOP = {"ready": {"log": "ready"}, "steps": [{"repeat": {"times": 200, "steps": ROUND}}, {"wait": "300ms"}]}


def looping(command):
    return {"target": {**command, "stdin": "pipe"}, **LOOP}


LOOPS = {
    "steps that repeat": lambda v: looping({"command": [*job(v), "lines"]}),
    "steps that repeat, behind a shell": lambda v: looping({"shell": quoted(*job(v), "lines") + "; exit $?"}),
    "a daemon": lambda v: {"target": {"command": words("daemon", v)}, "steps": [{"wait": "700ms"}]},
    "steps that repeat, then settle": lambda v: {
        **looping({"command": [*job(v), "lines"]}), "steps": LOOP["steps"] + [{"settle": {"within": "10s"}}]},
}


def scenario(name, values):
    if name in LOOPS:
        return LOOPS[name](values)
    target = SITUATIONS[name](values)
    return {"target": target if isinstance(target, dict) else {"command": target}}


def highwater(*arguments):
    run = subprocess.run([binary, *arguments], cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return run.returncode, run.stdout


def write(name, values):
    project = {"version": 1, "history": "off", "scenarios": [{"name": "x", **scenario(name, values)}]}
    (folder / "highwater.yml").write_text(json.dumps(project))


def checked(name, values):
    write(name, values)
    code, text = highwater("check")
    if os.environ.get("SITUATIONS_VERBOSE"):
        print(text)
    return code


names = [*SITUATIONS, *LOOPS]
print(f"| {'situation':35} | {' | '.join(f'{title:13}' for title in VARIANTS)} |")
print(f"| {'-' * 35} | {' | '.join('-' * 13 for _ in VARIANTS)} |")
totals = collections.Counter()
for name in names:
    if wanted and not any(word in name for word in wanted):
        continue
    subprocess.run(["rm", "-rf", folder / "baselines", folder / ".highwater"], check=True)
    if checked(name, USUAL) != 5 or highwater("approve")[0] != 0:
        print(f"| {name:35} | could not be approved |", flush=True)
        continue
    cells = []
    for title, values in VARIANTS.items():
        codes = collections.Counter(checked(name, values) for _ in range(checks))
        for code, count in codes.items():
            totals["alarms" if title == "unchanged" and code == 1 else "missed" if title != "unchanged" and code == 0
                   else "inconclusive" if code == 4 else "failed" if code in (2, 3) else "right"] += count
        cells.append(", ".join(f"{count}×{code}" for code, count in sorted(codes.items())))
    print(f"| {name:35} | {' | '.join(f'{cell:13}' for cell in cells)} |", flush=True)
print(f"\n{dict(totals)}")
