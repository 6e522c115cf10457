"""The cost of MemoryMarkers to the program that links it: time per call, and resident memory."""

import contextlib
import os
import statistics
import subprocess
import tempfile
import time

from bench import kibibytes, path, several, table

BUILDS = os.environ["MARKERS"]
ALL = "LaunchReason,LoopHunter"


def built(traits, name):
    """A file in the build with these traits."""
    return os.path.join(BUILDS, f"traits-{traits}", "release", name)


def times(kind, *words, **variables):
    """Nanoseconds per call by name, each the median of several runs."""
    runs = []
    for _ in range(several(9, 1)):
        output = subprocess.run(
            [built(ALL, "costs"), kind, *words], env={**os.environ, **variables}, check=True, capture_output=True, text=True
        ).stdout
        runs.append(dict(line.rsplit(" ", 1) for line in output.splitlines()))
    return {name: statistics.median(float(run[name]) for run in runs) for name in runs[0]}


def show(title, figures):
    base, *others = figures
    rows = [[name, f"{figures[name]:.1f}", f"{figures[name] / figures[base]:.1f}"] for name in (base, *others)]
    table(title, ["", "ns", f"times {base}"], rows)


def linked(traits, name, library, padding):
    """The program linked again after `padding` bytes, on tmpfs, where the page cache is the same for every file.

    The kernel maps 64 KiB of code around each touched page (fault_around_bytes, mm/memory.c), so the layout of the
    functions changes resident memory by up to 150 KiB. On a disk, the page cache's large folios, which depend on how the
    file was written, change it by up to 600 KiB (Linux 6.18, ext4).
    """
    space = path("space.s")
    with open(space, "w") as file:
        file.write(f".text\n.globl space\nspace: .fill {padding}, 1, 0x90\n.section .note.GNU-stack,\"\",@progbits\n")
    subprocess.run(["cc", "-c", "-o", path("space.o"), space], check=True)
    with open(built(traits, f"{name}.product/Objects.LinkFileList")) as file:
        files = file.read().split()
    output = os.path.join(MEMORY.name, name)
    flags = ["--gc-sections", "-s", "--defsym", f"main={name.replace('-', '_')}_main"]
    subprocess.run(
        ["swiftc", *library, path("space.o"), *files, "-o", output]
        + [word for flag in flags for word in ("-Xlinker", flag)],
        check=True,
    )
    return output


def memory(program, seconds):
    """The resident memory of a waiting program after `seconds`, and its anonymous part, in bytes."""
    process = subprocess.Popen([program], stdout=subprocess.PIPE)
    process.stdout.readline()
    time.sleep(seconds)
    with open(f"/proc/{process.pid}/status") as status:
        lines = dict(line.split(":", 1) for line in status)
    process.kill()
    process.wait()
    with contextlib.suppress(BlockingIOError):
        os.read(READER, 1 << 16)
    return [int(lines[name].split()[0]) * 1024 for name in ("VmRSS", "RssAnon")]


def typical_memory(traits, name, library, seconds=0.1, **variables):
    """The means over code layouts and load addresses, with the standard error of the first."""
    os.environ.update(variables)
    runs = []
    for layout in range(several(8, 2)):
        binary = linked(traits, name, library, 64 + 8192 * layout)
        runs += [memory(binary, seconds) for _ in range(several(8, 1))]
    for variable in variables:
        del os.environ[variable]
    resident, anonymous = zip(*runs)
    return statistics.mean(resident), statistics.mean(anonymous), statistics.stdev(resident) / len(runs) ** 0.5


os.environ.pop("HIGHWATER_MARKS", None)

show("Outside the gate, ns per call", times("calls"))

os.mkfifo(path("marks"))
inside = times("writes", HIGHWATER_MARKS=path("marks"))
assert inside.pop("dropped") == 0, "the FIFO was emptied in time"
show("Inside the gate, ns per call", inside)

show("LoopHunter, ns per hit", times("loops"))

launches = times("launches", path("state"))
table("LaunchReason, ns per call", ["", "ns"], [[name, f"{figure:.1f}"] for name, figure in launches.items()])

READER = os.open(path("marks"), os.O_RDWR | os.O_NONBLOCK)
MEMORY = tempfile.TemporaryDirectory(dir="/dev/shm")
marks = {"HIGHWATER_MARKS": path("marks")}
# The first heartbeat of a recorded launch is after one second.
launch = {"seconds": 1.5, "STATE_DIRECTORY": path("state")}
PROGRAMS = [
    ("with marks, no further traits", "", "marks", {}),
    ("… inside the gate", "", "marks", marks),
    ("with LoopHunter", "LoopHunter", "marks", {}),
    ("with LaunchReason", "LaunchReason", "marks", {}),
    ("with both", ALL, "marks", {}),
    ("… and a recorded launch", ALL, "launch", launch),
]


def show_least(kind, library):
    """What a recorded launch takes in a program that uses no strings."""
    least = typical_memory("", "least", library)
    launched = typical_memory("LaunchReason", "least-launch", library, **launch)
    rows = [[title, *map(kibibytes, figures[:2])] for title, figures in (("least program", least), ("… with a recorded launch", launched))]
    table(f"The least program, KiB; {kind} standard library", ["", "resident", "anonymous"], rows)


def show_memory(kind, library):
    plain = typical_memory("", "plain", library)
    rows = [["small program", kibibytes(plain[0]), kibibytes(plain[1]), "", "", ""]]
    for title, traits, name, circumstances in PROGRAMS:
        figures = typical_memory(traits, name, library, **circumstances)
        error = (figures[2] ** 2 + plain[2] ** 2) ** 0.5
        more = [kibibytes(now - before) for now, before in zip(figures[:2], plain)]
        rows.append([title, *map(kibibytes, figures[:2]), more[0], f"± {kibibytes(error)}", more[1]])
    table(
        f"Resident memory with MemoryMarkers, KiB, mean of several layouts, ± standard error; {kind} standard library",
        ["", "resident", "anonymous", "more", "", "more anonymous"],
        rows,
    )


show_memory("static", ["-static-stdlib"])
show_memory("dynamic", [])
show_least("static", ["-static-stdlib"])
show_least("dynamic", [])
