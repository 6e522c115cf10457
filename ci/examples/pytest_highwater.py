"""A pytest plugin that makes each test a phase: `gate: {phase.*.peak_rss: auto}` judges each test by its own peak.

    python3 -m pytest -p pytest_highwater        # with the folder of this file in PYTHONPATH

The name of the phase is the ID of the test with a dot for what a name cannot have: `tests/test_a.py::test_b[1]` becomes
`tests.test_a.py.test_b.1`. Of several processes, as those of pytest-xdist, memory cannot be told apart: run without them.
"""
import fcntl
import hashlib
import os
import re
import struct
import termios
import time

import pytest

LONGEST_NAME = 100
LONGEST_WAIT = 1  # seconds until the memory before a test was read


class Marks:
    """The FIFO of Highwater; nothing is written without one."""

    def __init__(self):
        path = os.environ.get("HIGHWATER_MARKS")
        # For reading as well, so that it opens and is written without a reader.
        self.fifo = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC) if path else None

    def phase(self, name):
        if self.fifo is None:
            return
        self.write(f"phase {name} wait")
        end = time.monotonic() + LONGEST_WAIT
        while self.unread():
            if time.monotonic() > end:
                return self.write("late")
            time.sleep(0.0001)

    def write(self, line):
        try:
            os.write(self.fifo, f"{line}\n".encode())
        except BlockingIOError:
            pass  # full: nobody reads

    def unread(self):
        return struct.unpack("i", fcntl.ioctl(self.fifo, termios.FIONREAD, struct.pack("i", 0)))[0]


def phase_name(test):
    """IDs that are too long keep their end and get a hash."""
    name = re.sub(r"[^A-Za-z0-9._-]+", ".", test).strip("._-") or "test"
    if len(name) <= LONGEST_NAME:
        return name
    digest = hashlib.sha256(test.encode()).hexdigest()[:8]
    return f"{digest}.{name[9 - LONGEST_NAME:]}"


marks = Marks()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logstart(nodeid, location):
    marks.phase(phase_name(nodeid))


def pytest_sessionfinish(session, exitstatus):
    marks.phase("after.the.tests")
