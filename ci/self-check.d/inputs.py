"""Writes the input files of the scenarios in ci/highwater.yml into the given folder, with the same bytes each time."""
import json
import pathlib
import sys

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)

lines = ["version: 1", "history: off", "scenarios:"]
for number in range(1000):
    lines += [
        f"  - name: scenario-{number}",
        f"    tags: [tag-{number % 10}]",
        f"    target: {{command: [server, --port, '{number}'], env: {{LEVEL: '{number}'}}}}",
        "    ready: {log: 'listening on [0-9]+', within: 5s}",
        "    steps: [{phase: load}, {run: 'client --turns 10'}, {phase: idle}, {wait: 200ms}]",
        "    gate: {peak_rss: 3%, steady_rss: [2%, 256KiB], growth: {limit: 1KiB}}",
    ]
(folder / "many.yml").write_text("\n".join(lines) + "\n")

fingerprint = {
    "architecture": "x86_64", "kernel": "6.1", "pageSize": 4096, "libc": "glibc 2.36", "cpus": 2,
    "thp": "madvise", "aslr": "off", "measurement": "sampled",
}


def result(identifier, shift):
    """A result of 300 scenarios, with each value raised by `shift` bytes."""
    scenarios = []
    for number in range(300):
        repetitions = [
            {
                "end": {"kind": "exited", "code": 0}, "durationSeconds": 1.5, "processes": 1, "notes": [],
                "metrics": {
                    "peak_rss": 20_000_000 + number * 4096 + turn % 5 * 4096 + shift,
                    "steady_rss": 18_000_000 + number * 4096 + turn % 3 * 4096 + shift,
                    "growth": 0.0, "tree_peak": 21_000_000 + shift,
                },
                "phases": [{"name": "load", "peak_rss": 19_000_000 + shift, "steady_rss": 18_000_000 + shift}],
            }
            for turn in range(20)
        ]
        scenarios.append({"name": f"scenario-{number}", "verdict": "pass", "repetitions": repetitions})
    return {
        "schema": "highwater.result/1",
        "tool": {"name": "highwater", "version": "0.1.0"},
        "run": {"id": identifier, "startedAt": "2026-01-02T03:04:05.678Z", "durationSeconds": 12.3},
        "environment": {"name": "linux-x86_64-2cpu-sampled", "fingerprint": fingerprint},
        "verdict": "pass", "exitCode": 0, "scenarios": scenarios,
    }


for name, shift in (("base", 0), ("current", 8192)):
    text = json.dumps(result(f"0190a5b0-0000-7000-8000-00000000000{shift % 7}", shift))
    (folder / f"{name}.json").write_text(text)

(folder / "small.yml").write_text(
    """version: 1
history: off
artifacts: .highwater/self-inputs/artifacts
scenarios:
  - name: small
    target: {shell: 'i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done; sleep 0.3'}
    repetitions: 3
    warmup: 0
"""
)
