"""Checks real programs against themselves with the default gate, and writes REAL.md: how often the gate was wrong.

    ci/calibrate real [CHECKS]     CHECKS: checks of each program of programs.yml; default: 14
For each program it runs a first check, `approve`, and then CHECKS checks in a row. Nothing changes between them, so
every `regression` and every `improved` is a false alarm. HIGHWATER_BINARY is the path of the release binary.
"""
import collections
import math
import shutil
import sys
import time

import programs

CODES = {0: "pass", 1: "regression", 3: "failed", 4: "inconclusive", 5: "no-baseline"}
checks = int(sys.argv[1]) if len(sys.argv) > 1 else 14


def summary_of(metric):
    """One judged metric as text."""
    change, before, now = (metric.get(key) or {} for key in ("change", "baseline", "current"))
    return (
        f"{metric['name']} {metric['verdict']}: {before.get('median', 0):,.0f} ({before.get('count', 0)} values) to "
        f"{now.get('median', 0):,.0f} ({now.get('count', 0)} values), {change.get('percent') or 0:+.2f} %; "
        f"{(metric.get('reason') or {}).get('text', '')}"
    )


def prepare(name):
    """Approves a first check of a program: 10 repetitions, or 20 if they are too noisy for its tolerance."""
    for arguments, expected in (
        (("check", "--quiet", "--allow-missing-baseline", name), 0),
        (("approve", "--reason", "calibration", name), 0),
    ):
        code, output = programs.gate(*arguments)
        if code != expected:
            sys.exit(f"ci/calibrate: error: `{' '.join(arguments)}` ended with {code}\n{output}")


def check(name):
    """One check of a program against itself: its verdict, repetitions and scenario result."""
    code, output = programs.gate("check", "--quiet", name)
    if code not in CODES:
        sys.exit(f"ci/calibrate: error: a check of {name} ended with {code}\n{output}")
    scenario, document = programs.result()
    return scenario["verdict"], len(scenario["repetitions"]), scenario, document


def below(count):
    """The upper end of the one-sided 95 % confidence interval of a proportion, in percent, for 0 of `count`."""
    return 100 * (1 - math.pow(0.05, 1 / count))


KINDS = ["pass", "improved", "regression", "inconclusive", "failed"]


def summary(rows):
    """The number of each verdict, in one paragraph."""
    total = sum((verdicts for _, _, _, verdicts, _ in rows), collections.Counter())
    count = sum(total.values())
    text = f"**{count} checks: " + ", ".join(f"{total[kind]} {kind}" for kind in KINDS) + ".**"
    if total["regression"] == 0:
        text += f" With no alarm in {count} the true rate is below {below(count):.1f} % (95 %)."
    return text


def write(rows, cases, environment, started):
    """Writes REAL.md with the results so far, so that an interrupted run is not lost."""
    machine = programs.machine()
    lines = [
        "# Real programs, checked against themselves",
        "",
        f"Written by `ci/calibrate real`: {len(rows)} programs, for each a baseline (10 or 20 repetitions) and {checks} "
        "checks with the default gate, nothing changed in between. All checks of a program share one baseline, so an "
        "unlucky baseline causes several alarms. "
        f"Linux {machine['kernel']}, {machine['cpus']} CPUs, environment `{environment}`, {time.strftime('%Y-%m')}, "
        f"{(time.time() - started) / 60:.0f} minutes in all.",
        "",
        summary(rows),
        "",
        "| program | version | judged | " + " | ".join(KINDS) + " | repetitions (checks) |",
        "| --- | --- | --- |" + " ---: |" * len(KINDS) + " --- |",
    ]
    for name, version, judged, verdicts, lengths in rows:
        each = ", ".join(f"{length} ({times})" for length, times in sorted(lengths.items()))
        cells = " | ".join(str(verdicts[kind]) for kind in KINDS)
        lines.append(f"| {name} | {version} | {', '.join(judged)} | {cells} | {each} |")
    lines += ["", "## Each metric that did not pass", ""]
    lines += [f"- {name}, check {number}, {count} repetitions: {words}" for name, number, count, words in cases] or ["None."]
    (programs.here / "REAL.md").write_text("\n".join(lines) + "\n")


rows, cases = [], []
shutil.rmtree(programs.artifacts, ignore_errors=True)
started = time.time()
for name in programs.names():
    prepare(name)
    verdicts, lengths, judged = collections.Counter(), collections.Counter(), set()
    for number in range(1, checks + 1):
        verdict, length, scenario, document = check(name)
        verdicts[verdict] += 1
        lengths[length] += 1
        judged.update(metric["name"] for metric in scenario["metrics"])
        for metric in scenario["metrics"]:
            if metric["verdict"] != "pass":
                cases.append((name, number, length, summary_of(metric)))
        if verdict == "failed" or not scenario["metrics"]:
            cases.append((name, number, length, f"{verdict}: " + "; ".join(note["text"] for note in scenario["notes"])))
    rows.append((name, programs.version(name), sorted(judged), verdicts, lengths))
    print(f"{name}: {dict(verdicts)}, repetitions {dict(lengths)}", flush=True)
    write(rows, cases, document["environment"]["name"], started)
print(summary(rows))
