"""Shared by record.py and real.py: lists the programs with their versions, and runs the gate on one of them."""
import json
import os
import pathlib
import platform
import re
import subprocess

here = pathlib.Path(__file__).resolve().parent
root = here.parent.parent
config = here / "programs.yml"
artifacts = root / ".highwater/calibration"

# How to print the version of programs without `--version`.
VERSIONS = {
    "git-log": ["git", "--version"],
    "git-pack": ["git", "--version"],
    "imagemagick": ["/usr/bin/convert", "-version"],
    "java-threads": ["java", "--version"],
    "lua": ["lua5.4", "-v"],
    "nginx": ["nginx", "-v"],
    "node-workers": ["node", "--version"],
    "openssl": ["openssl", "version"],
    "perl": ["perl", "-e", "print 'Perl ', $^V"],
    "postgresql": ["sh", "-c", "$(ls -d /usr/lib/postgresql/*/bin | tail -1)/postgres --version"],
    "python": ["/usr/bin/python3", "--version"],
    "python-threads": ["/usr/bin/python3", "--version"],
    "redis": ["redis-server", "--version"],
    "sqlite": ["sqlite3", "--version"],
}


def names():
    """The scenarios of programs.yml, in file order."""
    return re.findall(r"^  - name: (\S+)$", config.read_text(), re.MULTILINE)


def version(name):
    """The version number that a program prints."""
    command = VERSIONS.get(name, [name, "--version"])
    output = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True).stdout
    return re.search(r"\d+(\.\d+)+[a-z0-9+-]*", output).group()


def machine():
    """The machine on which a run was measured."""
    return {"kernel": platform.release(), "cpus": len(os.sched_getaffinity(0))}


def gate(*arguments):
    """Runs the gate on programs.yml; returns its exit code and its output."""
    binary = os.environ["HIGHWATER_BINARY"]
    run = subprocess.run(
        [binary, *arguments, "--config", str(config)], cwd=root, text=True, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, check=False,
    )
    return run.returncode, run.stdout


def result():
    """The one scenario of the last check, and the whole result."""
    document = json.loads((artifacts / "result.json").read_text())
    return document["scenarios"][0], document
