"""Records the series that `ci/calibrate` replays: 60 repetitions of each program of programs.yml, one file each.

    ci/calibrate record [PROGRAM...]     default: all programs
HIGHWATER_BINARY names the release binary.
"""
import json
import sys

import programs

REPETITIONS = 60
METRICS = ["peak_rss", "steady_rss", "growth", "tree_peak"]

for name in sys.argv[1:] or programs.names():
    code, output = programs.gate(
        "check", "--quiet", "--allow-missing-baseline", "--repetitions", str(REPETITIONS), name
    )
    if code != 0:
        sys.exit(f"ci/calibrate: error: {name} ended with {code}\n{output}")
    scenario, document = programs.result()
    repetitions = scenario["repetitions"]
    series = {
        "program": name,
        "version": programs.version(name),
        **programs.machine(),
        "environment": document["environment"]["name"],
        "startedAt": document["run"]["startedAt"][:10],
        # One value for each repetition, in order of measurement; null if it is missing.
        "metrics": {metric: [each["metrics"].get(metric) for each in repetitions] for metric in METRICS},
    }
    lines = [f'  "{key}": {json.dumps(value)}' for key, value in series.items() if key != "metrics"]
    values = [f'    "{key}": {json.dumps(value)}' for key, value in series["metrics"].items()]
    text = "{\n" + ",\n".join(lines) + ',\n  "metrics": {\n' + ",\n".join(values) + "\n  }\n}\n"
    path = programs.here / "recorded" / f"{name}.json"
    path.write_text(text)
    print(f"{name}: {len(repetitions)} repetitions", flush=True)
