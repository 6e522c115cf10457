"""Explaining: what part of each program's memory gets call stacks, and the time beside other memory profilers."""

import resource
import socket

from bench import *

rounds = several(5, 1)
KEYS = "for i = 1, 100000 do redis.call('set', 'key' .. i, i) end"
PYTHON = "import json\nkept = [json.loads(json.dumps({'number': i, 'text': str(i)})) for i in range(40_000)]"
NODE = "const kept = []; for (let i = 0; i < 200000; i++) kept.push({number: i, text: 'text ' + i});"
JAVA = """public class Strings { public static void main(String[] arguments) {
  var kept = new java.util.ArrayList<String>();
  for (int at = 0; at < 150_000; at++) kept.add("text number " + at);
} }"""
GO = """package main
var kept [][]byte
func main() { for at := 0; at < 30000; at++ { kept = append(kept, make([]byte, 1000)) } }"""
RUST = """fn main() {
    let mut kept = Vec::new();
    for at in 0..200_000 { kept.push(format!("text number {}", at)); }
    std::process::exit(if kept.len() == 200_000 { 0 } else { 1 });
}"""
SWIFT = """var kept: [[Int]] = []
for at in 0..<40_000 { kept.append(Array(repeating: at, count: 60)) }
precondition(kept.count == 40_000)"""
INCLUDES = "".join(f"#include <{name}>\n" for name in ("map", "regex", "string", "vector"))
TABLE = """create table t(a, b); with recursive n(i) as (select 1 union all select i + 1 from n where i < 150000)
insert into t select i, hex(i) from n; create index b on t(b);"""


def made(name, text):
    with open(path(name), "w") as file:
        file.write(text)
    return path(name)


def compiled(name, *compiler):
    subprocess.run([*compiler[:-1], "-o", path(name), compiler[-1]], check=True)
    return [path(name)]


SERVER = "ci/calibrate.d/programs/server.c"
subprocess.run(["javac", "-d", scratch.name, made("Strings.java", JAVA)], check=True)
port = str(21_000 + os.getpid() % 9000)
REDIS = ["redis-server", "--port", port, "--save", "", "--dir", scratch.name]
PROGRAMS = {
    "C, many small blocks": compiled("server", "gcc", "-O2", "-DLEAK=500", SERVER),
    "C, static": compiled("server-static", "gcc", "-O2", "-DLEAK=500", "-static", SERVER),
    "sqlite3": ["sqlite3", ":memory:", TABLE],
    "redis, 100,000 keys": REDIS,
    "Python 3, objects": [f"{os.environ['BENCH_PYTHON']}/python", "-c", PYTHON],
    "Node.js": ["node", "-e", NODE],
    "Java": ["java", "-XX:+UseSerialGC", "-cp", scratch.name, "Strings"],
    "Go, static": compiled("go-program", "go", "build", made("program.go", GO)),
    "Rust": compiled("rust-program", "rustc", "-O", made("program.rs", RUST)),
    "Swift, its runtime linked in": compiled("swift-program", "swiftc", "-O", "-static-stdlib", made("main.swift", SWIFT)),
    "g++ -O0": ["g++", "-O0", "-c", "-o", path("out.o"), made("in.cpp", INCLUDES + "std::regex r(\"a\");\n")],
}
client = ["redis-cli", "-p", port]


def scenario(command):
    """The scenario of a program; redis is a server, to which the steps add keys."""
    described = {"name": "program", "target": {"command": command}}
    if command is REDIS:
        described |= {"ready": {"tcp": f"127.0.0.1:{port}"}, "steps": [{"run": [*client, "eval", KEYS, "0"]}]}
    return described


def run(tool, command):
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen([*tool, *command], cwd=scratch.name, **quiet)
    if command is REDIS:
        while True:
            with socket.socket() as connection:
                if connection.connect_ex(("127.0.0.1", int(port))) == 0:
                    break
            time.sleep(0.005)
        subprocess.run([*client, "eval", KEYS, "0"], check=True, **quiet)
        subprocess.run([*client, "shutdown", "nosave"], check=True)
    if process.wait():
        sys.exit(f"bench: error: {[*tool, *command]}: exit code {process.returncode}")


def cost(body):
    """The medians of the seconds that pass, and of those on CPUs."""
    def processor():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    costs = []
    for _ in range(rounds):
        begin, used = time.monotonic(), processor()
        body()
        costs.append((time.monotonic() - begin, processor() - used))
    return [statistics.median(each[at] for each in costs) for at in range(2)]


def three_repetitions(command, *words):
    """A command of Highwater with one scenario in three repetitions."""
    described = scenario(command) | {"repetitions": 3}
    made("highwater.yml", json.dumps({"version": 1, "history": "off", "scenarios": [described]}))
    subprocess.run([HIGHWATER, *words], cwd=scratch.name, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def parts():
    """The anonymous memory at the peak, what the parts add up to, and what has no call stack, of the main process."""
    with open(path("profile.json")) as file:
        profile = json.load(file)
    process = next(each for each in profile["processes"]
                   if each["process"] == profile["main"] and each["moment"] == "peak")
    sizes = {line.split()[3]: int(line.split()[0]) for line in process["parts"]}
    return process["method"], int(process["anonymous"].split()[0]), sum(sizes.values()), sizes


heaptrack = ["heaptrack", "-o", path("heaptrack")]
perf = ["perf", "record", "-q", "-e", "page-faults", "-c", "1", "--call-graph", "dwarf", "-o", path("perf")]
memray = [f"{os.environ['BENCH_PYTHON']}/python", "-m", "memray", "run", "--native", "-qfo", path("memray.bin")]
closure, costs = [], []
for name, command in PROGRAMS.items():
    plain = cost(lambda: run([], command))
    checked = [each / 3 for each in cost(lambda: three_repetitions(command, "check", "--allow-missing-baseline"))]
    found = [each / 3 for each in cost(lambda: three_repetitions(command, "explain", "--json", "profile.json"))]
    method, anonymous, total, sizes = parts()
    missing = sizes.get("unattributed-no-page-fault", 0)
    closure.append([name, method, kibibytes(anonymous), kibibytes(total - anonymous), kibibytes(missing),
                    f"{100 * (1 - missing / anonymous):.2f}"])
    # heaptrack waits for ever for a static program, which does not load its library.
    ratios = [found]
    ratios.append(None if name.endswith(", static") else cost(lambda: run(heaptrack, command)))
    ratios.append(cost(lambda: run(perf, command)))
    ratios.append(cost(lambda: run(memray, command[1:])) if command[0].endswith("/python") else None)
    ratio = [f"{one / other:.1f}" for one, other in zip(found, checked)]
    costs.append([name, f"{plain[0]:.2f}", " / ".join(ratio)]
                 + [f"{each[0] / plain[0]:.1f} / {each[1] / plain[1]:.1f}" if each else "–" for each in ratios])
table("Anonymous memory at the peak in KiB: what the parts add up to beyond it, and what has no call stack",
      ["program", "method", "RssAnon", "sum – RssAnon", "without a stack", "% with one"], closure)
table("One repetition, seconds / CPU seconds: by one of a check (the first column), and by the program alone; each with a third "
      "of what its command takes besides; heaptrack and perf without their analysis",
      ["program", "seconds", "explain by check", "highwater explain", "heaptrack", "perf record", "memray --native"], costs)
