"""Scale: the time and memory of commands in a repository of 2,000 scenarios with baselines of 4 environments."""

import copy
import subprocess

from bench import *

count, teams, others = several(2_000, 200), 20, ["linux-aarch64-4cpu", "linux-x86_64-8cpu", "linux-x86_64-96cpu"]
folder = path("project")
# One program that ends at once and one that lives for a while: results of both kinds have real curves.
programs = {"short": ["/bin/true"], "long": [sys.executable, "-c", "import time; x = [0] * 3_000_000; time.sleep(0.3)"]}


def name(number):
    """Every other scenario is of a matrix of ten."""
    plain = f"team-{number % teams:02}.scenario-{number:04}"
    return plain if number % 2 else f"team-{number % teams:02}.matrix-{number // 20 % (count // 200):03}" \
        f"[size={number // 20 // (count // 200)}]"


def project():
    """The project file: each target touches a file of its own."""
    lines = ["version: 1", "defaults: {warmup: 0, explain: off}", "scenarios:"]
    seen = set()
    for number in range(count):
        base, _, cell = name(number).partition("[")
        if base in seen:
            continue
        seen.add(base)
        matrix = f", matrix: {{size: {list(range(10))}}}" if cell else ""
        command = json.dumps(["/usr/bin/touch", f"started-{base}{'-{{size}}' if cell else ''}"])
        lines.append(f"  - {{name: {base}, tags: [{base.partition('.')[0]}], target: {{command: {command}}}{matrix}}}")
    return "\n".join(lines) + "\n"


def measured():
    """The results of real checks of the programs, as they are in a result file."""
    real = path("real")
    os.mkdir(real)
    with open(f"{real}/highwater.yml", "w") as file:
        file.write("version: 1\nhistory: off\ndefaults: {warmup: 0, explain: off}\nscenarios:\n")
        file.writelines(f"  - {{name: {name}, target: {{command: {json.dumps(command)}}}}}\n"
                        for name, command in programs.items())
    seconds(HIGHWATER, "check", "--quiet", "--allow-missing-baseline", cwd=real)
    return last_result(real)


def result(real, raised=()):
    """A result of all scenarios; the peaks of those that are `raised` are a megabyte higher."""
    kinds = {scenario["name"]: scenario for scenario in real["scenarios"]}
    scenarios = []
    for number in range(count):
        scenario = copy.copy(kinds["short" if number % 4 else "long"])
        scenario |= {"name": name(number), "tags": [name(number).partition(".")[0]]}
        scenario.pop("definition")
        if number in raised:
            scenario = copy.deepcopy(scenario)
            for repetition in scenario["repetitions"]:
                repetition["metrics"]["peak_rss"] += MEBIBYTE
        scenarios.append(scenario)
    return json.dumps({**real, "scenarios": scenarios}, indent=2)


def copies_of(environment):
    """Gives each baseline to the other environments as well, without the digest, which would not fit."""
    for scenario in os.listdir(f"{folder}/baselines"):
        lines = read(f"{folder}/baselines/{scenario}/{environment}.json").splitlines(keepends=True)
        text = "".join(line for line in lines if not line.startswith('  "digest"'))
        for other in others:
            with open(f"{folder}/baselines/{scenario}/{other}.json", "w") as file:
                file.write(text.replace(f'"{environment}"', f'"{other}"'))


rows = []


def run(title, *words, file=None, codes=(0,), options=()):
    """Runs a command and adds its seconds and its peak memory (`VmHWM`, read while it runs) to the table."""
    begin, peak = time.time(), 0
    with open(path("output"), "w") as output:
        process = subprocess.Popen([HIGHWATER, *words], cwd=folder, stdout=output, stderr=output)
        while os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            for line in read(f"/proc/{process.pid}/status").splitlines():
                if line.startswith("VmHWM"):
                    peak = max(peak, int(line.split()[1]) * 1024)
            time.sleep(0.002)
    taken = time.time() - begin
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in codes:
        sys.exit(f"bench: error: {words}: exit code {process.returncode}\n{read(path('output'))[-2000:]}")
    size = os.path.getsize(file) if file else os.path.getsize(path("output"))
    rows.append([title, f"{taken:.2f}", f"{usage.ru_utime + usage.ru_stime:.2f}", mebibytes(peak), kibibytes(size)])
    return begin


def check(title, *words, started):
    """Adds a check, and how long it took until its first target ran."""
    for file in glob.glob(f"{folder}/started*"):
        os.remove(file)
    begin = run(title, "check", "--repetitions", "1", "--history", "off", *words, codes=(0, 1, 4))
    first = min(os.path.getmtime(file) for file in glob.glob(f"{folder}/{started}"))
    rows.append([f"  of that, until its first target runs", f"{first - begin:.2f}", "–", "–", "–"])


def prepare():
    os.mkdir(folder)
    subprocess.run(["git", "init", "--quiet", folder], check=True)
    with open(f"{folder}/highwater.yml", "w") as file:
        file.write(project())
    real = measured()
    real["run"].pop("commit", None)
    for file, raised in [("same.json", ()), ("raised.json", range(0, count, 100))]:
        with open(f"{folder}/{file}", "w") as text:
            text.write(result(real, raised))
    return real["environment"]["name"]


environment = prepare()
run("validate", "validate")
run("approve, first time", "approve", "--from", "same.json")
copies_of(environment)
run("approve, nothing changed", "approve", "--from", "same.json")
check("check of one scenario", name(1), started=f"started-{name(1)}")
check(f"check of one tag ({count // teams} scenarios)", "tag:team-01", started="started-team-01*")
run("compare, all pass", "compare", "same.json", "same.json")
run("compare, 1 % regressed", "compare", "same.json", "raised.json", codes=(1,))
for kind in ["html", "junit", "markdown", "tap", "codequality", "openmetrics"]:
    report = path(f"report.{kind}")
    run(f"  with the report {kind}", "compare", "same.json", "raised.json", "--report", f"{kind}={report}",
        file=report, codes=(1,))
run("history import of the result", "history", "import", "raised.json")
run("trend", "trend", "--output", path("trend.html"), file=path("trend.html"))
run("approve, 1 % changed", "approve", "--from", "raised.json")
table(f"A repository of {count:,} scenarios with baselines of {len(others) + 1} environments",
      ["command", "seconds", "CPU seconds", "peak memory in MiB", "output in KiB"], rows)
