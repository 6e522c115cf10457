"""A red check beside the same check without an explanation: the seconds of both, and what was named."""

import re
import shutil

from bench import *

lengths = several([0.3, 3], [0.3])
rounds = several(3, 1)
C = """#include <stdlib.h>
#include <string.h>
static void *volatile kept[32768];
static long size, every;
__attribute__((noinline)) static void remember(long at) { kept[at] = memset(malloc(size), 1, size); }
__attribute__((noinline)) static void handle(long at) {
  char *fields[34];
  for (int field = 0; field < 34; field++) fields[field] = memset(malloc(16 + field * 5), 1, 16);
  if (at % every == 0) remember(at / every);
  for (int field = 0; field < 34; field++) free(fields[field]);
}
int main(void) {
  long requests = atol(getenv("REQUESTS"));
  size = atol(getenv("SIZE")), every = atol(getenv("EVERY"));
  for (long at = 0; at < requests; at++) handle(at);
}"""
CPP = """#include <cstdlib>
#include <string>
#include <vector>
static std::vector<std::string> kept;
static long size, every;
__attribute__((noinline)) static void remember() { kept.emplace_back(size, 'x'); }
__attribute__((noinline)) static void handle(long at) {
  std::vector<std::string> fields;
  for (int field = 0; field < 34; field++) fields.emplace_back(16 + field * 5, 'y');
  if (at % every == 0) remember();
}
int main() {
  long requests = atol(getenv("REQUESTS"));
  size = atol(getenv("SIZE")), every = atol(getenv("EVERY"));
  for (long at = 0; at < requests; at++) handle(at);
}"""
RUST = """use std::env::var;
#[inline(never)]
fn remember(kept: &mut Vec<Vec<u8>>, size: usize) { kept.push(vec![1; size]); }
#[inline(never)]
fn handle(kept: &mut Vec<Vec<u8>>, size: usize, is_kept: bool) {
    let fields: Vec<String> = (0..34).map(|field| "y".repeat(16 + field * 5)).collect();
    if is_kept { remember(kept, size + fields.len() % 2); }
}
fn main() {
    let number = |name: &str| var(name).unwrap().parse::<usize>().unwrap();
    let (size, every, mut kept) = (number("SIZE"), number("EVERY"), Vec::new());
    for at in 0..number("REQUESTS") { handle(&mut kept, size, at % every == 0); }
    std::process::exit((kept.len() == 0) as i32);
}"""
PYTHON = """import os
SIZE, EVERY, REQUESTS = (int(os.environ[name]) for name in ("SIZE", "EVERY", "REQUESTS"))
kept, number = [], 0
def remember():
    kept.append(bytes(SIZE))
def handle():
    global number
    fields = [bytes(16 + field * 5) for field in range(34)]
    if number % EVERY == 0: remember()
    number += 1
    return fields
def application(environment, start):
    handle()
    start("200 OK", [])
    return []
if __name__ == "__main__":
    for _ in range(REQUESTS): handle()
"""
KEYS = """for at = 1, tonumber(ARGV[1]) do
redis.call('set', 'key' .. (at - at % ARGV[2]), string.rep('x', ARGV[3])) end"""
HELD, RISE = 16 << 20, 8 << 20
# So many of the requests keep a block, or up to twice as many.
KEPT = 16_384


def built(name, text, *compiler):
    with open(path(name), "w") as file:
        file.write(text)
    if compiler:
        subprocess.run([*compiler, "-o", path(name.split(".")[0]), path(name)], check=True)
    return [path(name.split(".")[0])]


port = str(21_000 + os.getpid() % 9000)
PYTHON_FILE = built("service.py", PYTHON)[0] + ".py"
PROGRAMS = {
    "C": built("in-c.c", C, "gcc", "-O2"),
    "C++": built("in-cpp.cpp", CPP, "g++", "-O2"),
    "Rust": built("in-rust.rs", RUST, "rustc", "-O"),
    "Python": [sys.executable, PYTHON_FILE],
    "redis": ["redis-server", "--port", port, "--save", "", "--dir", scratch.name],
    "gunicorn, 2 workers": ["gunicorn", "--workers", "2", "--chdir", scratch.name, "--bind", f"127.0.0.1:{port}",
                            "service"],
}


def scenario(name, requests, every, size):
    described = {"name": "program", "target": {
        "command": PROGRAMS[name],
        "env": {"REQUESTS": str(requests), "EVERY": str(every), "PYTHONDONTWRITEBYTECODE": "1"},
        "inherit-env": ["SIZE"]}}
    if name == "redis":
        sent = ["redis-cli", "-p", port, "eval", KEYS, "0", str(requests), str(every), str(size)]
        described |= {"ready": {"tcp": f"127.0.0.1:{port}"}, "steps": [{"run": sent}]}
    if name.startswith("gunicorn"):
        url = f"http://127.0.0.1:{port}/"
        described |= {"ready": {"http": url}, "steps": [{"repeat": {"times": requests, "steps": [{"http": url}]}}]}
    return described


def gate(*words, name, requests, held=HELD, explain="auto"):
    """The seconds of a command, and what it printed."""
    every = max(1, requests // KEPT)
    size = held * every // requests
    project = {"version": 1, "history": "off", "defaults": {"explain": explain},
               "scenarios": [scenario(name, requests, every, size)]}
    with open(path("highwater.yml"), "w") as file:
        json.dump(project, file)
    begin = time.monotonic()
    run = subprocess.run([HIGHWATER, *words], cwd=scratch.name, text=True, capture_output=True, check=False,
                         env={**os.environ, "SIZE": str(size)})
    return time.monotonic() - begin, run.stdout


def requests_for(name, seconds):
    """How many requests take so long, by the median repetition of two checks of few."""
    def length(requests):
        gate("check", "--allow-missing-baseline", name=name, requests=requests, explain="off")
        with open(path(".highwater/result.json")) as file:
            result = json.load(file)["scenarios"][0]
        return statistics.median(each["durationSeconds"] for each in result["repetitions"])

    few = 200
    many = few * 10
    rate = (many - few) / max(0.001, length(many) - length(few))
    return max(few, int(rate * seconds))


def named(text):
    """The function that the report names."""
    found = re.search(r"(?:held|first touched) by (\S+)", " ".join(text.split()))
    return found[1] if found else "–"


rows = []
for name in PROGRAMS:
    for seconds in lengths:
        shutil.rmtree(path("baselines"), ignore_errors=True)
        shutil.rmtree(path(".highwater"), ignore_errors=True)
        case = {"name": name, "requests": requests_for(name, seconds)}
        gate("check", **case)
        gate("approve", "--reason", "benchmark", **case)
        gate("check", **case)
        plain, explained = [], []
        for _ in range(rounds):
            plain.append(gate("check", held=HELD + RISE, explain="off", **case)[0])
            took, text = gate("check", held=HELD + RISE, **case)
            explained.append(took)
        off, on = statistics.median(plain), statistics.median(explained)
        rows.append([name, seconds, f"{off:.1f}", f"{on:.1f}", f"{on / off:.2f}", named(text)])
        print(rows[-1], file=sys.stderr, flush=True)
table("Seconds of a check with a rise of 8 MiB: without an explanation, with one, and their ratio",
      ["program", "seconds a repetition", "off", "auto", "ratio", "named"], rows)
