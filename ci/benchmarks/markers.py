"""What MemoryMarkers costs the program that links it: time a call, and resident memory."""

import contextlib
import os
import statistics
import subprocess
import tempfile
import time

from bench import kibibytes, path, several, table

PROGRAMS = os.environ["MARKERS"]


def program(name):
    return os.path.join(PROGRAMS, f"markers-{name}")


def times(kind, *words, **variables):
    """Nanoseconds by what was measured, each the median of several runs."""
    runs = []
    for _ in range(several(9, 1)):
        output = subprocess.run(
            [program("bench"), kind, *words], env={**os.environ, **variables}, check=True, capture_output=True, text=True
        ).stdout
        runs.append(dict(line.rsplit(" ", 1) for line in output.splitlines()))
    return {name: statistics.median(float(run[name]) for run in runs) for name in runs[0]}


def show(title, figures):
    base, *others = figures
    rows = [[name, f"{figures[name]:.1f}", f"{figures[name] / figures[base]:.1f}"] for name in (base, *others)]
    table(title, ["", "ns", f"times {base}"], rows)


def linked(name, padding):
    """The program linked anew behind so many bytes, on a file system whose page cache is the same for every file.

    The kernel maps code in 64 KiB around what a program touches (fault_around_bytes, mm/memory.c), so where functions
    happen to lie makes 150 KiB of difference; and on a disk the page cache's larger folios, which depend on how a file was
    written, make 600 KiB (Linux 6.18, ext4).
    """
    space = path("space.s")
    with open(space, "w") as file:
        file.write(f".text\n.globl space\nspace: .fill {padding}, 1, 0x90\n.section .note.GNU-stack,\"\",@progbits\n")
    subprocess.run(["cc", "-c", "-o", path("space.o"), space], check=True)
    objects = os.path.join(PROGRAMS, f"markers-{name}.product", "Objects.LinkFileList")
    with open(objects) as file:
        files = file.read().split()
    output = os.path.join(MEMORY.name, name)
    flags = ["--gc-sections", "-s", "--defsym", f"main=markers_{name}_main"]
    subprocess.run(
        ["swiftc", "-static-stdlib", path("space.o"), *files, "-o", output]
        + [word for flag in flags for word in ("-Xlinker", flag)],
        check=True,
    )
    return output


def memory(program):
    """Of a program that waits: its resident memory, and what of it is anonymous, in bytes."""
    process = subprocess.Popen([program], stdout=subprocess.PIPE)
    process.stdout.readline()
    # Past the first heartbeat of a recorded launch.
    time.sleep(1.5)
    with open(f"/proc/{process.pid}/status") as status:
        lines = dict(line.split(":", 1) for line in status)
    process.kill()
    process.wait()
    with contextlib.suppress(BlockingIOError):
        os.read(READER, 1 << 16)
    return [int(lines[name].split()[0]) * 1024 for name in ("VmRSS", "RssAnon")]


def typical_memory(name, **variables):
    os.environ.update(variables)
    runs = [memory(linked(name, 64 + 8192 * layout)) for layout in range(several(8, 2))]
    for variable in variables:
        del os.environ[variable]
    return [statistics.mean(column) for column in zip(*runs)]


os.environ.pop("HIGHWATER_MARKS", None)

show("Outside the gate, ns a call", times("calls"))

os.mkfifo(path("marks"))
inside = times("writes", HIGHWATER_MARKS=path("marks"))
assert inside.pop("dropped") == 0, "the FIFO was emptied in time"
show("Inside the gate, ns a call", inside)

show("A hunter for loops, ns a hit", times("loops"))

launches = times("launches", path("state"))
table("Reasons of launches, ns a call", ["", "ns"], [[name, f"{figure:.1f}"] for name, figure in launches.items()])

READER = os.open(path("marks"), os.O_RDWR | os.O_NONBLOCK)
MEMORY = tempfile.TemporaryDirectory(dir="/dev/shm")
plain = typical_memory("plain")
rows = [["small program", kibibytes(plain[0]), kibibytes(plain[1]), "", ""]]
marks = {"HIGHWATER_MARKS": path("marks")}
for title, name, variables in [
    ("with MemoryMarks", "marks", {}),
    ("the same inside the gate", "marks", marks),
    ("with MemoryMarkers", "marked", {}),
    ("the same with a recorded launch", "marked", {"STATE_DIRECTORY": path("state")}),
]:
    figures = typical_memory(name, **variables)
    rows.append([title, *map(kibibytes, figures), *(kibibytes(now - before) for now, before in zip(figures, plain))])
table("Resident memory, KiB, the mean of several layouts", ["", "resident", "anonymous", "more", "more anonymous"], rows)
