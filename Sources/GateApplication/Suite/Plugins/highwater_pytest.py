"""Loaded by `highwater suite`: reports the memory of this process before and after each test.

Each process has a log of its own in the folder of HIGHWATER_TESTS, with a line of JSON for the begin and the end of a test.
Before a test the high-water mark is reset (clear_refs, proc_pid_clear_refs(5)), so that it is the peak of the test alone.
A fault here is never one of a test: after it nothing is recorded, and the file PID.recording stays, by which the runner sees it.
HIGHWATER_ONLY is a file with the tests to run, as a JSON list in order; the files of others are not even imported, unless
HIGHWATER_LOADS is `all`: modules take memory, and leave some to use again.
"""
import ctypes
import gc
import json
import os
import sys
import time

import pytest

# Tests may replace the functions of these modules.
collect, dumps, monotonic = gc.collect, json.dumps, time.monotonic
fstat, getpid, pread, unlink, write = os.fstat, os.getpid, os.pread, os.unlink, os.write

# A test that keeps this much may leave more than it holds: memory that is free, but still resident, and garbage.
TRIMMED = 1 << 20
# What a block of Python's own allocator takes: 48 for a tuple of one, 64 for a short text. Blocks tell what is kept in memory
# that was free before, in which resident memory does not rise.
BLOCK = 48
blocks = getattr(sys, "getallocatedblocks", lambda: 0)


def trim():
    """Returns free memory to the kernel: otherwise the next test would need none for what it allocates.

    It takes tens of milliseconds with a large heap, so that it is not done before each test.
    """
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (AttributeError, OSError):
        pass  # another allocator than that of glibc


class Mallinfo2(ctypes.Structure):
    """Of mallinfo(3)."""

    names = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost"
    _fields_ = [(name, ctypes.c_size_t) for name in names.split()]


try:
    mallinfo2 = ctypes.CDLL(None).mallinfo2
    mallinfo2.restype = Mallinfo2
except (AttributeError, OSError):
    mallinfo2 = None  # before glibc 2.33, or another allocator


def identity(descriptor):
    """Of the open file: a test may close a descriptor, and then open another file with its number."""
    facts = fstat(descriptor)
    return facts.st_dev, facts.st_ino


class Log:
    def __init__(self, folder):
        self.process = getpid()
        name = os.path.join(folder, str(self.process))
        self.recording = f"{name}.recording"
        os.close(os.open(self.recording, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))
        self.file = os.open(f"{name}.jsonl", os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        self.status = os.open("/proc/self/status", os.O_RDONLY | os.O_CLOEXEC)
        self.files = [self.file, self.status]
        try:
            self.mark = os.open("/proc/self/clear_refs", os.O_WRONLY | os.O_CLOEXEC)
            self.files.append(self.mark)
        except OSError:
            self.mark = None
        self.identities = [identity(file) for file in self.files]
        self.must_trim = True
        self.free = self.next_look = 0
        self.is_lost = False

    def attempt(self, record, *arguments):
        # A forked copy of the process, as of a test that calls os.fork(), is another process.
        if self.is_lost or getpid() != self.process:
            return
        try:
            if [identity(file) for file in self.files] != self.identities:
                raise OSError("closed by a test")
            record(*arguments)
        except Exception:
            self.is_lost = True

    def finish(self):
        self.attempt(unlink, self.recording)

    def memory(self):
        """Resident memory and its high-water mark, in bytes."""
        text = pread(self.status, 8192, 0)
        return [int(text.split(key, 1)[1].split(None, 1)[0]) * 1024 for key in (b"VmRSS:", b"VmHWM:")]

    def reset(self):
        try:
            return self.mark is not None and write(self.mark, b"5") > 0
        except OSError:
            return False

    def has_freed(self):
        """Whether more of malloc's memory is free than at the last look, resident or not: a test may free what others left.

        A look takes milliseconds where much is free in small pieces, so that it takes a twentieth of the time at most.
        """
        begin = monotonic()
        if mallinfo2 is None or begin < self.next_look:
            return False
        before, self.free = self.free, mallinfo2().fordblks
        end = monotonic()
        self.next_look = end + 20 * (end - begin)
        return self.free - before > TRIMMED

    def begin(self, test, file, line):
        if self.has_freed() or self.must_trim:
            trim()
        self.must_trim = False
        is_reset = self.reset()
        self.resident, peak = self.memory()
        self.blocks, self.started = blocks(), monotonic()
        self.write(event="begin", test=test, file=file, line=line, resident=self.resident, peak=peak, reset=is_reset)

    def end(self, test, outcome):
        resident, peak = self.memory()
        seconds = round(monotonic() - self.started, 6)
        if max(resident - self.resident, self.objects()) > TRIMMED:
            # What it keeps is what it does not free, and no garbage. Most of a test's is young, and to look through a large heap
            # takes a tenth of a second.
            collect(1)
            trim()
            resident, _ = self.memory()
        figures = {"resident": resident, "peak": peak, "objects": self.objects()}
        self.write(event="end", test=test, outcome=outcome, seconds=seconds, **figures)

    def objects(self):
        """What the blocks take that are new since the begin."""
        return max(0, BLOCK * (blocks() - self.blocks))

    def write(self, **fields):
        line = dumps(fields).encode() + b"\n"
        if write(self.file, line) < len(line):
            raise OSError("no space left")


def text(name):
    """Without what JSON cannot have."""
    return name.encode("utf-8", "backslashreplace").decode()


class Reporter:
    def __init__(self, log):
        self.log, self.outcome = log, "passed"

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item):
        file, line, _ = item.location
        self.outcome = "passed"
        self.log.attempt(self.log.begin, text(item.nodeid), text(str(file)), None if line is None else line + 1)
        yield
        self.log.attempt(self.log.end, text(item.nodeid), self.outcome)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self):
        self.log.finish()

    def pytest_runtest_logreport(self, report):
        if report.failed:
            self.outcome = "failed"
        elif report.skipped and self.outcome == "passed":
            self.outcome = "skipped"
        elif report.when == "call" and report.outcome == "rerun":
            self.outcome = "passed"


class Filter:
    def __init__(self, config, tests, loads_all):
        self.loads_all = loads_all
        self.order = {test: place for place, test in enumerate(tests)}
        root = str(getattr(config, "rootpath", None) or config.rootdir)
        self.files = {os.path.realpath(os.path.join(root, test.split("::")[0])) for test in tests}

    def ignores(self, path):
        is_other = os.path.isfile(path) and os.path.basename(path) != "__init__.py"
        return True if is_other and not self.loads_all and os.path.realpath(path) not in self.files else None

    if int(pytest.__version__.split(".")[0]) >= 7:

        def pytest_ignore_collect(self, collection_path):
            return self.ignores(str(collection_path))

    else:

        def pytest_ignore_collect(self, path):
            return self.ignores(str(path))

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config, items):
        chosen = [item for item in items if text(item.nodeid) in self.order]
        config.hook.pytest_deselected(items=[item for item in items if text(item.nodeid) not in self.order])
        items[:] = sorted(chosen, key=lambda item: self.order[text(item.nodeid)])


def pytest_configure(config):
    folder, only = os.environ.get("HIGHWATER_TESTS"), os.environ.get("HIGHWATER_ONLY")
    if folder:
        config.pluginmanager.register(Reporter(Log(folder)), "highwater-reporter")
    if only:
        with open(only, encoding="utf-8") as file:
            chosen = Filter(config, json.load(file), os.environ.get("HIGHWATER_LOADS") == "all")
        config.pluginmanager.register(chosen, "highwater-filter")
