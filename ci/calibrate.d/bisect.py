"""Searches repositories whose guilty commits are known, and prints how often `highwater bisect` finds them.

    bisect.py [SEARCHES [KIND…]]

Each search has a repository of its own: 200 commits of a C program whose memory a header in the commit sets. A search is
right if it names the guilty commit, or a range with it of commits that do not build between; with `interrupted`, the
program is stopped once and killed once on its way.
"""
import json
import os
import pathlib
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

binary = os.environ["HIGHWATER_BINARY"]
searches = int(sys.argv[1]) if len(sys.argv) > 1 else 20
COMMITS = 200

PROGRAM = r"""
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <fcntl.h>
#include "memory.h"

static char *hold(double kib) { char *p = malloc((size_t)(kib * 1024)); if (p) memset(p, 1, (size_t)(kib * 1024)); return p; }

int main(void) {
  unsigned int bits[2] = {1, 1};
  int random = open("/dev/urandom", O_RDONLY);
  if (read(random, bits, sizeof bits) != sizeof bits) return 1;
  double share = ((bits[0] % 20001) - 10000.0 + (bits[1] % 20001) - 10000.0) / 10000.0 / 0.8165; /* deviation 1 */
  hold(KIB * (1 + NOISE / 100.0 * share));
  const char *path = getenv("HIGHWATER_MARKS");
  int marks = path ? open(path, O_WRONLY) : -1;
  for (int turn = 0; turn < TURNS; turn++) {
    if (LEAK) hold(LEAK / 1024.0);
    if (marks >= 0 && write(marks, "iteration\n", 10) != 10) return 1;
    nanosleep(&(struct timespec){0, 1000000}, 0);
  }
  return 0;
}
"""

PROJECT = """version: 1
history: off
scenarios:
  - name: load
    target: {command: [build/program]}
"""


class Kind:
    """KiB that each commit adds, bytes that it leaks in each of 200 iterations, and the deviation in percent."""

    def __init__(self, rises=None, leak=0, noise=0, broken=0, creep=0, interrupted=False, options=()):
        self.rises, self.leak, self.noise, self.broken = rises or {}, leak, noise, broken
        self.creep, self.interrupted, self.options = creep, interrupted, list(options)


BASE = 12288
KINDS = {
    "+3 %": lambda at: Kind({at: 0.03}),
    "+10 %": lambda at: Kind({at: 0.10}),
    "leak": lambda at: Kind({at: 0}, leak=2048),
    "two steps": lambda at: Kind({at: 0.06, (at + 99) % COMMITS + 1: 0.03}, options=["--all-steps"]),
    "creep": lambda at: Kind(creep=0.001),
    "15 % broken": lambda at: Kind({at: 0.10}, broken=15),
    "noise of 3 %": lambda at: Kind({at: 0.10}, noise=3),
    "interrupted": lambda at: Kind({at: 0.10}, interrupted=True),
}


def repository(folder, kind, seed):
    """Writes the commits with `git fast-import`; returns those that do not build."""
    numbers, broken, lines, kib, leak = random.Random(seed), set(), [], float(BASE), 0

    def file(name, text):
        lines.append(f"M 100644 inline {name}\ndata {len(text.encode())}\n{text}\n")

    for index in range(COMMITS + 1):
        message = f"Commit {index}"
        kib += BASE * (kind.rises.get(index, 0) + (kind.creep if index else 0))
        leak = kind.leak if index in kind.rises else leak
        lines.append(f"commit refs/heads/main\ncommitter Ada <ada@example.org> {1767225600 + index * 3600} +0000\n")
        lines.append(f"data {len(message)}\n{message}\n")
        if 0 < index < COMMITS and numbers.random() * 100 < kind.broken:
            broken.add(index)
        fault = "#error broken\n" if index in broken else ""
        turns = 200 if kind.leak else 1
        file("memory.h", f"{fault}#define KIB {kib:.0f}\n#define LEAK {leak}\n#define NOISE {kind.noise}\n#define TURNS {turns}\n")
        if index == 0:
            file("program.c", PROGRAM)
            file("highwater.yml", PROJECT)
            file(".gitignore", "build\n.highwater\n")
    git = ["git", "-C", folder]
    subprocess.run(["git", "init", "-q", "-b", "main", folder], check=True)
    subprocess.run(git + ["fast-import", "--quiet"], input="".join(lines).encode(), check=True)
    subprocess.run(git + ["checkout", "-q", "-f", "main"], check=True)
    return broken


def interrupt(words, folder):
    """Stops the program after some seconds, kills it in a second run, and lets the third one finish."""
    for sent in [signal.SIGINT, signal.SIGKILL]:
        run = subprocess.Popen(words, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(random.uniform(3, 8))
        run.send_signal(sent)
        run.wait()


def search(kind, seed):
    folder = tempfile.mkdtemp(prefix="highwater-bisect-")
    try:
        broken = repository(folder, kind, seed)
        words = [binary, "bisect", "--good", f"HEAD~{COMMITS}", "--json", "answer.json"]
        words += ["--build", "mkdir -p build && cc -O1 -o build/program program.c", *kind.options]
        begin = time.monotonic()
        if kind.interrupted:
            interrupt(words, folder)
        run = subprocess.run(words, cwd=folder, capture_output=True, text=True)
        path = pathlib.Path(folder, "answer.json")
        if not path.exists():
            return "error", 0, time.monotonic() - begin, run.stderr[-400:]
        answer = json.loads(path.read_text())
        scenario = answer["scenarios"][0]
        right = verdict(kind, scenario, broken)
        tried = len(scenario["commits"]) + 1
        return right, tried, time.monotonic() - begin, f"{run.stdout}" if right == "wrong" else ""
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def verdict(kind, scenario, broken):
    if kind.creep:
        return "right" if scenario["outcome"] == "creep" else "wrong"
    guilty = sorted(kind.rises, key=lambda index: -kind.rises[index])
    found = [[int(commit["subject"].split()[1]) for commit in step["commits"]] for step in scenario["steps"]]
    fits = len(found) == len(guilty) and all(
        index in commits and set(commits[:-1]) <= broken for index, commits in zip(guilty, found))
    return "right" if fits else "wrong"


def main():
    print(f"{'repository':14}  right  commits tried  seconds   (medians; most)", flush=True)
    for name in sys.argv[2:] or KINDS:
        results = []
        for number in range(searches):
            place = random.Random(f"{name} {number}").randint(1, COMMITS)
            results.append(search(KINDS[name](place), number))
            if results[-1][0] != "right":
                print(f"  {name} {number}: guilty {place}: {results[-1][0]}\n{results[-1][3]}", flush=True)
        tried, times = [result[1] for result in results], [result[2] for result in results]
        right = sum(result[0] == "right" for result in results)
        print(
            f"{name:14}  {right}/{searches}   {statistics.median(tried):g}; {max(tried)}          "
            f"{statistics.median(times):.0f}; {max(times):.0f}", flush=True)


if __name__ == "__main__":
    main()
