"""Share: how long a check takes beside its target's own time."""

from bench import *

rounds = several(5, 2)
targets = [("0.05", several(20, 5)), ("0.5", several(10, 2)), ("5", several(3, 1))]


def project(name, duration, repetitions):
    """A project with an approved baseline, whose scenario sleeps."""
    folder = path(name)
    os.mkdir(folder)
    with open(os.path.join(folder, "highwater.yml"), "w") as file:
        file.write(f"version: 1\nscenarios:\n  - name: sleep\n    target: {{command: [sleep, '{duration}']}}\n"
                   f"    warmup: 0\n    repetitions: {repetitions}\n    gate: {{peak_rss: {{tolerance: 10%}}}}\n")
    seconds(HIGHWATER, "check", "--quiet", "--allow-missing-baseline", cwd=folder)
    seconds(HIGHWATER, "approve", "--force", cwd=folder)
    return folder


rows = []
for duration, repetitions in targets:
    folder = project(f"sleep-{duration}", duration, repetitions)
    alone, checked = [], []
    for _ in range(rounds):
        alone.append(sum(seconds("sleep", duration) for _ in range(repetitions)))
        checked.append(seconds(HIGHWATER, "check", "--quiet", cwd=folder))
    times = last_result(folder)["scenarios"][0]["times"]
    ratio = statistics.median(check / own for check, own in zip(checked, alone))
    rows.append([f"{repetitions} × sleep {duration}", f"{statistics.median(alone):.2f}", f"{statistics.median(checked):.2f}",
                 f"{ratio:.3f}", f"{times['overheadSeconds'] / repetitions * 1000:.1f}",
                 f"{(statistics.median(checked) - sum(times.values())) * 1000:.0f}"])
table(f"Share: medians of {rounds} interleaved rounds; the ratio is that of one round",
      ["", "alone s", "check s", "ratio", "overhead per repetition ms", "start and reports ms"], rows)
