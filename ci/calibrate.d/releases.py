"""Searches the source releases of a real C extension, multidict, for the one in which `extend` began to leak (6.3.0, says
its issue 1117), with `highwater bisect`.

Each release that PyPI has as sources becomes a commit, in order of its upload. The peak of each is measured apart as well:
built in a folder of its own, and run without Highwater.
"""
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import tarfile
import tempfile
import time
import urllib.request

binary = os.environ["HIGHWATER_BINARY"]
INDEX = "https://pypi.org/simple/multidict/"
FIRST, LAST, GUILTY = "4.7.2", "6.3.1", "6.3.0"
BUILD = ["python3", "setup.py", "--quiet", "build_ext", "--inplace"]

LOOP = """
import os
from multidict import CIMultiDict, MultiDict
marks = open(os.environ["HIGHWATER_MARKS"], "w", buffering=1) if "HIGHWATER_MARKS" in os.environ else None
kept = MultiDict()
for turn in range(8000):
    kept.extend(CIMultiDict({"a": "1", "b": "2"}))
    kept.clear()
    if marks and turn % 40 == 39:
        marks.write("iteration\\n")
with open("/proc/self/status") as status:
    print(*[line.split()[1] for line in status if line.startswith("VmHWM")])
"""

PROJECT = """version: 1
history: off
scenarios:
  - name: loop
    target: {command: [python3, loop.py]}
"""


def releases():
    """Version and address of each source release, in order of upload."""
    request = urllib.request.Request(INDEX, headers={"Accept": "application/vnd.pypi.simple.v1+json"})
    found = []
    for file in json.load(urllib.request.urlopen(request, timeout=60))["files"]:
        version = re.fullmatch(r"multidict-([0-9.]+)\.tar\.gz", file["filename"])
        if version:
            found.append((file["upload-time"], version[1], file["url"]))
    found = [(version, url) for _, version, url in sorted(found)]
    versions = [version for version, _ in found]
    return found[versions.index(FIRST):versions.index(LAST) + 1]


def unpack(url, folder):
    with urllib.request.urlopen(url, timeout=60) as answer, tarfile.open(fileobj=io.BytesIO(answer.read())) as archive:
        archive.extractall(folder, filter="data")
    (tree,) = pathlib.Path(folder).iterdir()
    (tree / "loop.py").write_text(LOOP)
    (tree / "highwater.yml").write_text(PROJECT)
    (tree / ".gitignore").write_text("build\n*.so\n*.egg-info\n.highwater\n")
    return tree


def peak(folder):
    """In KiB; nothing where the release does not build or run."""
    if subprocess.run(BUILD, cwd=folder, capture_output=True).returncode:
        return None
    run = subprocess.run(["python3", "loop.py"], cwd=folder, capture_output=True, text=True)
    return int(run.stdout) if run.returncode == 0 else None


def main(work):
    checkout, known = work / "checkout", releases()
    subprocess.run(["git", "init", "-q", "-b", "main", checkout], check=True)
    git = ["git", "--git-dir", checkout / ".git", "-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    for version, url in known:
        tree = unpack(url, work / version)
        subprocess.run([*git, "--work-tree", tree, "add", "--all", "--force"], check=True)
        subprocess.run([*git, "commit", "-q", "-m", version], check=True)
        value = peak(tree)
        print(f"  {version}: {f'{value} KiB' if value else 'does not build or run'}", flush=True)
    subprocess.run(["git", "reset", "-q", "--hard"], cwd=checkout, check=True)
    begin = time.monotonic()
    words = [binary, "bisect", "--good", f"HEAD~{len(known) - 1}", "--json", "answer.json", "--build", " ".join(BUILD)]
    run = subprocess.run(words, cwd=checkout, capture_output=True, text=True)
    print(run.stdout)
    if run.returncode:
        raise SystemExit(run.stderr)
    answer = json.loads((checkout / "answer.json").read_text())["scenarios"][0]
    found = [commit["subject"] for step in answer["steps"] for commit in step["commits"]]
    print(
        f"{len(known)} releases, {len(answer['commits']) + 1} built, {time.monotonic() - begin:.0f} s: "
        f"{'right' if found == [GUILTY] else f'wrong: {found}'}")


folder = pathlib.Path(tempfile.mkdtemp(prefix="highwater-releases-"))
try:
    main(folder)
finally:
    shutil.rmtree(folder, ignore_errors=True)
