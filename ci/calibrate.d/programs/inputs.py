"""Writes the input files of the programs in programs.yml into the given folder, once, with the same bytes each time."""
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys

folder = pathlib.Path(sys.argv[1])
here = pathlib.Path(__file__).parent
stamp = folder / "complete"
# Inputs from an older version of this file or of the Java programs are created again.
version = "|".join((here / name).read_text() for name in ("inputs.py", "Words.java", "Threads.java"))
if stamp.exists() and stamp.read_text() == version:
    sys.exit(0)
shutil.rmtree(folder, ignore_errors=True)
folder.mkdir(parents=True)

chance = random.Random(20261101)
words = ["".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(2, 9))) for _ in range(20_000)]


def lines(count):
    return "".join(" ".join(chance.choices(words, k=8)) + "\n" for _ in range(count))


(folder / "text.txt").write_text(lines(300_000))
(folder / "short.txt").write_text(lines(60_000))
rows = [{"id": number, "group": chance.randint(0, 99), "name": chance.choice(words)} for number in range(80_000)]
(folder / "rows.json").write_text(json.dumps(rows))
(folder / "functions.c").write_text(
    "".join(
        f"int f{number}(int x) {{ int s = {chance.randint(0, 999)}; for (int i = 0; i < x; i++) "
        f"{{ s = s * {chance.randint(3, 99)} + i % {chance.randint(2, 9)}; if (s & {1 << chance.randint(0, 9)}) s ^= x; }} "
        f"return s; }}\n"
        for number in range(80)
    )
)
for number in range(9000):
    path = folder / "files" / f"{number % 90:02}" / f"{number:04}.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(lines(chance.randint(1, 60)))

# A repository of 500 commits, in git's import format (git-fast-import(1)).
stream = []
texts = {f"file-{number}.txt": lines(150) for number in range(20)}
for commit in range(500):
    name = chance.choice(sorted(texts))
    kept = texts[name].splitlines(keepends=True)
    kept[chance.randrange(len(kept))] = lines(3)
    texts[name] = "".join(kept)
    changed = texts if commit == 0 else {name: texts[name]}
    stream.append(f"commit refs/heads/main\ncommitter A <a@example.com> {1_700_000_000 + commit} +0000\ndata 4\nwork\n")
    for path, text in sorted(changed.items()):
        stream.append(f"M 100644 inline {path}\ndata {len(text)}\n{text}\n")
repository = folder / "repository"
subprocess.run(["git", "init", "--quiet", "--initial-branch=main", repository], check=True)
importing = ["git", "-C", repository, "fast-import", "--quiet"]
subprocess.run(importing, input="".join(stream).encode(), check=True)

classes = folder / "classes"
classes.mkdir()
if shutil.which("javac"):
    subprocess.run(["javac", "-d", classes, here / "Words.java", here / "Threads.java"], check=True)
os.sync()
stamp.write_text(version)
