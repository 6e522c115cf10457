"""A project whose target has risen, and one run of a command in a copy of it with a fault."""
import json, os, pathlib, shutil, signal, sqlite3, subprocess, tempfile, time

PROJECT = """\
version: 1
environment: {{name: faults, ignore: [measurement, aslr]}}
{extra}
scenarios:
  - name: load
    target: {{command: [perl, hold.pl]}}
    setup: [[sh, -c, "sleep {setup}"]]
    repetitions: 2
    warmup: 0
    explain: off
    isolation: {{tracer: {tracer}}}
    timeout: 15s
    gate: {{peak_rss: [3%, 512KiB]}}
    {keys}
"""
# Writes nothing, and fails if it does not get its memory, so that a fault in a call of the target makes it no smaller.
TARGET = """\
open(my $file, "<", "size") or die; my $size = <$file>; $size > 0 or die;
my $held = "x" x $size; length($held) == $size or die; select(undef, undef, undef, 0.15);
"""
# The codes of the command line; all others, and signals, are crashes.
CODES = {0, 1, 2, 3, 4, 5, 6, 130, 143}


class Template:
    """A repository with a baseline of a small target, and a history of two runs; then the target grows."""

    def __init__(self, binary):
        self.binary = binary

    def __enter__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="faults-"))
        self.project = self.folder / "template"
        (self.project / "tmp").mkdir(parents=True)
        self.write(self.project)
        (self.project / "size").write_text("8000000")
        (self.project / "hold.pl").write_text(TARGET)
        (self.project / ".gitignore").write_text("/.highwater/\n/tmp/\n/built\n")
        for words in (["init", "-qb", "main"], ["add", "."], ["commit", "-qm", "one"]):
            self.git(self.project, *words)
        environment = {**os.environ, "TMPDIR": str(self.project / "tmp")}
        for words in (["check"], ["approve"], ["check"]):
            code = subprocess.run(
                [self.binary, *words], cwd=self.project, env=environment, capture_output=True).returncode
            assert code in (0, 5), f"{words}: code {code}"
        (self.project / "size").write_text("24000000")
        self.git(self.project, "add", ".")
        self.git(self.project, "commit", "-qm", "two")
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder, ignore_errors=True)

    def write(self, folder, extra="", keys="", tracer="auto", setup="0"):
        (folder / "highwater.yml").write_text(PROJECT.format(extra=extra, keys=keys, tracer=tracer, setup=setup))

    def git(self, folder, *words):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=folder, check=True)

    def copy(self, **project):
        target = pathlib.Path(tempfile.mkdtemp(dir=self.folder)) / "p"
        shutil.copytree(self.project, target, symlinks=True)
        if project:
            self.write(target, **project)
        return target


class Attempt:
    """One run; `faults()` makes it and says what did not hold."""

    def __init__(
        self, title, template, words=("check",), wrapper=(), prepare=None, during=None, after=None, allowed=(1, 2, 3, 4),
        seconds=60, kills_runner=False, shell=None, environment=None, history=2, **project
    ):
        self.title, self.template, self.words, self.wrapper = title, template, list(words), list(wrapper)
        self.prepare, self.during, self.after, self.allowed = prepare, during, after, allowed
        self.limit, self.kills_runner, self.shell, self.environment = seconds, kills_runner, shell, environment or {}
        self.history, self.project = history, project
        self.code, self.seconds, self.output = None, 0.0, ""

    def faults(self):
        folder = self.template.copy(**self.project)
        self.folder = folder
        try:
            if self.prepare:
                self.prepare(folder)
            before = (folder / ".highwater/result.json").read_bytes()
            baselines = digest(folder / "baselines")
            cgroups = own_cgroups()
            found = self.run(folder)
            found += self.files(folder, before, baselines)
            found += self.leftovers(folder, cgroups)
            if self.after:
                found += self.after(self, folder) or []
            return found
        finally:
            shutil.rmtree(folder.parent, ignore_errors=True)

    def run(self, folder):
        environment = {**os.environ, "TMPDIR": str(folder / "tmp"), "FAULTS_ATTEMPT": str(folder), **self.environment}
        command = self.wrapper + [self.template.binary] + self.words
        if self.shell:
            command = ["bash", "-c", self.shell + '; exec "$@"', "bash"] + command
        begin = time.monotonic()
        with open(folder.parent / "output", "w+b") as output:
            process = subprocess.Popen(command, cwd=folder, env=environment, stdout=output, stderr=output)
            self.pids = {process.pid, *self.traced(process)}
            if self.during:
                self.during(process, folder)
            try:
                self.code = process.wait(self.limit)
            except subprocess.TimeoutExpired:
                found = [f"did not end within {self.limit} s"]
                process.send_signal(signal.SIGTERM)
                try:
                    self.code = process.wait(15)
                except subprocess.TimeoutExpired:
                    found.append("did not end on SIGTERM")
                    for pid in processes(folder):
                        kill(pid)
                    process.kill()
                    self.code = process.wait()
                return found
            finally:
                self.seconds = time.monotonic() - begin
                output.seek(0)
                self.output = output.read().decode(errors="replace")
        if self.kills_runner:
            return []
        if self.code == 127 and "error while loading shared libraries" in self.output:
            return []
        if self.code not in {*CODES, *self.allowed}:
            return [f"crashed with code {self.code}"]
        return [] if self.code in self.allowed else [f"code {self.code}"]

    def traced(self, process):
        """The runner, if it is a child of strace."""
        for _ in range(50 if self.wrapper[:1] == ["strace"] else 0):
            if found := children(process.pid):
                return found
            time.sleep(0.01)
        return []

    def files(self, folder, before, baselines):
        found = []
        result = folder / ".highwater/result.json"
        try:
            content = result.read_bytes()
            if content != before:
                json.loads(content)
        except FileNotFoundError:
            found.append("the result is lost")
        except ValueError:
            found.append("the result is half written")
        if digest(folder / "baselines") != baselines:
            found.append("a baseline was changed")
        if self.history is not None:
            found += self.history_faults(folder)
        if not self.kills_runner:
            found += [f"left {path.name}" for path in folder.rglob(".highwater-*.tmp")]
        return found

    def history_faults(self, folder):
        found = [f"set the history aside: {path.name}" for path in (folder / ".highwater").glob("*.unusable-*")]
        try:
            with sqlite3.connect(folder / ".highwater/history.sqlite") as database:
                if database.execute("PRAGMA quick_check").fetchone()[0] != "ok":
                    found.append("the history is damaged")
                count = database.execute("SELECT count(*) FROM run").fetchone()[0]
                if count < self.history:
                    found.append(f"the history has {count} runs instead of {self.history}")
        except sqlite3.Error as error:
            found.append(f"the history: {error}")
        return found

    def leftovers(self, folder, cgroups):
        deadline = time.monotonic() + (12 if self.kills_runner else 2)
        while True:
            left = [f"process {name} is left" for name in map(command, processes(folder)) if name]
            left += [f"{path.name} is left in TMPDIR" for path in (folder / "tmp").iterdir()] if (folder / "tmp").is_dir() else []
            left += [f"cgroup {path} is left" for path in own_cgroups() - cgroups
                     if os.path.basename(path).split("-")[1] in map(str, self.pids)]
            if not left or time.monotonic() > deadline:
                break
            time.sleep(0.1)
        for pid in processes(folder):
            kill(pid)
        return left[:3]


def digest(folder):
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def processes(folder):
    """The processes with the attempt's variable, or in its folder."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            marked = f"FAULTS_ATTEMPT={folder}".encode() in (entry / "environ").read_bytes().split(b"\0")
            if marked or os.readlink(entry / "cwd").startswith(str(folder)):
                if (entry / "stat").read_text().rpartition(")")[2].split()[0] != "Z":
                    found.append(int(entry.name))
        except OSError:
            continue
    return found


def command(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def children(pid):
    try:
        return [int(child) for task in pathlib.Path(f"/proc/{pid}/task").iterdir()
                for child in (task / "children").read_text().split()]
    except OSError:
        return []


def descendants(pid):
    """The names of the processes below one."""
    return [name for child in children(pid) for name in [command(child), *descendants(child)]]


def kill(pid, number=signal.SIGKILL):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def own_cgroups():
    """Those of runs that have ended: their names begin with `highwater-` and the runner's pid."""
    # `os.walk` passes over what other checks remove meanwhile.
    return {
        os.path.join(folder, name) for folder, names, _ in os.walk("/sys/fs/cgroup") for name in names
        if name.startswith("highwater-") and not os.path.exists(f"/proc/{name.split('-')[1]}")
    }
