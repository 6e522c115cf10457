"""Checks small services of known leaks with the default gate, and writes SERVICES.md: which leaks it finds or says it cannot.

    ci/calibrate services [CHECKS [NAME-REQUESTS...]]     CHECKS of each unchanged service: default 14
    ci/calibrate services record [NAME-REQUESTS...]       records them for the replay: ci/calibrate.d/recorded-services/
Each service is approved without a leak and checked unchanged, so that any regression is a false alarm; then once with
each leak. A leak must be red, or the report must say what cannot be seen. HIGHWATER_BINARY is the release binary.
"""
import collections
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import programs

records = sys.argv[1:2] == ["record"]
checks = 0 if records else int(sys.argv[1]) if len(sys.argv) > 1 else 14
wanted = sys.argv[2:]
sources = programs.here / "services"
folder = pathlib.Path(tempfile.mkdtemp(prefix="highwater-services-"))
LEAKS = {"0.5 KiB": 512, "2 KiB": 2048, "10 KiB": 10240}
REQUESTS = [50, 200, 1000, 5000]
COMMANDS = {
    "node": ["node", str(sources / "links.js")],
    "java": ["java", "-cp", str(folder), "Links"],
    "go": [str(folder / "links")],
    "python": ["/usr/bin/gunicorn", "--workers", "2", "--chdir", str(sources), "--bind", "127.0.0.1:{{port}}", "links"],
}


def scenario(service, requests):
    """The scenario as somebody new to the gate would write it."""
    return {
        "name": f"{service}-{requests}",
        "target": {
            "command": COMMANDS[service], "env": {"PORT": "{{port}}", "PYTHONDONTWRITEBYTECODE": "1"},
            "inherit-env": ["LEAK"],
        },
        "ready": {"http": "http://127.0.0.1:{{port}}/", "within": "30s"},
        "steps": [
            {"phase": "load"},
            {"repeat": {"times": requests, "steps": [{"http": "http://127.0.0.1:{{port}}/"}]}},
            {"phase": "idle"},
            {"wait": "500ms"},
        ],
    }


def prepare():
    """Builds the services and writes the project file."""
    subprocess.run(["javac", "-d", folder, sources / "Links.java"], check=True)
    subprocess.run(["go", "build", "-o", folder / "links", sources / "links.go"], check=True)
    scenarios = [scenario(service, requests) for service in COMMANDS for requests in REQUESTS]
    project = {"version": 1, "history": "off", "defaults": {"explain": "off"}, "scenarios": scenarios}
    (folder / "highwater.yml").write_text(json.dumps(project))
    return [each["name"] for each in scenarios if not wanted or each["name"] in wanted]


def gate(*arguments, leak=0):
    run = subprocess.run(
        [os.environ["HIGHWATER_BINARY"], *arguments], cwd=folder, text=True, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, env={**os.environ, "LEAK": str(leak)}, check=False,
    )
    return run.returncode, run.stdout


def checked(name, leak=0, arguments=()):
    """The scenario's result of one check."""
    code, output = gate("check", *arguments, name, leak=leak)
    if code not in (0, 1, 4, 5):
        sys.exit(f"ci/calibrate: error: {name} ended with {code}\n{output}")
    return json.loads((folder / ".highwater/result.json").read_text())["scenarios"][0]


def words_of(result):
    """What the report says of metrics that did not pass, and of what it cannot see."""
    metrics = [
        f"{metric['name']} {metric['verdict']}: {(metric.get('reason') or {}).get('text', '')}"
        for metric in result["metrics"] if metric["verdict"] not in ("pass", "no-baseline")
    ]
    return "; ".join(metrics + [note["text"] for note in result["notes"] if "cannot be seen" in note["text"]])


def outcome(result):
    """One word for a check of a leak: only `missed` is wrong."""
    if result["verdict"] in ("regression", "inconclusive"):
        return result["verdict"]
    return "cannot see" if "cannot be seen" in words_of(result) else "missed"


def study(name):
    """The row of one service, and what its checks said."""
    shutil.rmtree(folder / "baselines", ignore_errors=True)
    checked(name)
    code, output = gate("approve", "--reason", "calibration", name)
    if code:
        sys.exit(f"ci/calibrate: error: {name} cannot be approved\n{output}")
    said = []
    unchanged = collections.Counter()
    for number in range(1, checks + 1):
        result = checked(name)
        unchanged[result["verdict"]] += 1
        if result["verdict"] != "pass":
            said.append(f"{name}, unchanged, check {number}: {words_of(result)}")
    outcomes = []
    for title, leak in LEAKS.items():
        result = checked(name, leak)
        outcomes.append(outcome(result))
        said.append(f"{name}, {title} a request, {outcomes[-1]}: {words_of(result)}")
    return unchanged, outcomes, said


# What judging reads of a repetition; its reader requires the other keys.
READ = ["durationSeconds", "end", "growthFit", "metrics", "nearlySteady", "processes", "steadiness", "treeMethod",
        "widestGapSeconds"]
REPETITIONS = 40


def record(name):
    """Writes the repetitions of an unchanged service, one a line."""
    shutil.rmtree(folder / "baselines", ignore_errors=True)
    result = checked(name, arguments=["--repetitions", str(REPETITIONS)])
    head = {"name": name, **programs.machine(), "startedAt": time.strftime("%Y-%m-%d")}
    rows = [
        json.dumps({key: each[key] for key in READ if key in each} | {"notes": [], "phases": [], "processTable": []})
        for each in result["repetitions"]
    ]
    text = json.dumps(head)[:-1] + ', "repetitions": [\n' + ",\n".join(rows) + "\n]}\n"
    (programs.here / "recorded-services" / f"{name}.json").write_text(text)
    print(f"{name}: {len(rows)} repetitions", flush=True)


KINDS = ["pass", "improved", "regression", "inconclusive"]


def write(rows, said, started):
    machine = programs.machine()
    total = sum((unchanged for _, unchanged, _ in rows), collections.Counter())
    found = collections.Counter(outcome for _, _, outcomes in rows for outcome in outcomes)
    lines = [
        "# Services with and without a leak",
        "",
        f"Written by `ci/calibrate services`: small services with the default gate, one request in each iteration; for each a "
        f"baseline, {checks} unchanged checks, and one check of each leak. Linux {machine['kernel']}, {machine['cpus']} "
        f"CPUs, {time.strftime('%Y-%m')}, {(time.time() - started) / 60:.0f} minutes in all.",
        "",
        f"**{sum(total.values())} unchanged checks: " + ", ".join(f"{total[kind]} {kind}" for kind in KINDS)
        + f". {sum(found.values())} leaks: " + ", ".join(f"{count} {kind}" for kind, count in sorted(found.items())) + ".**",
        "",
        "| service and requests | " + " | ".join(KINDS) + " | " + " | ".join(f"{title} a request" for title in LEAKS) + " |",
        "| --- |" + " ---: |" * len(KINDS) + " --- |" * len(LEAKS),
    ]
    for name, unchanged, outcomes in rows:
        lines.append(f"| {name} | " + " | ".join([*(str(unchanged[kind]) for kind in KINDS), *outcomes]) + " |")
    lines += ["", "## What the reports said", ""] + [f"- {words}" for words in said]
    (programs.here / "SERVICES.md").write_text("\n".join(lines) + "\n")


rows, said, started = [], [], time.time()
for name in prepare():
    if records:
        record(name)
        continue
    unchanged, outcomes, words = study(name)
    rows.append((name, unchanged, outcomes))
    said += words
    print(f"{name}: {dict(unchanged)}, leaks {outcomes}", flush=True)
    write(rows, said, started)
