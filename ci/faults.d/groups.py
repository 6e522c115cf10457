"""The attempts of each group: generators of `Attempt`."""
import base64, itertools, json, os, pathlib, re, shlex, shutil, signal, socket, struct, subprocess, threading, time

import attempt
from attempt import Attempt

# Errors that a disk, a limit or a filter of system calls may give.
ERRORS = ["EIO", "ENOSPC", "EPERM", "EMFILE", "ENOMEM"]
# SQLite takes a lock that fails for one that another process has, for which a check waits a minute.
LOCKED = 100
# Calls that cannot fail in this way, or with which the C library itself stops.
NOT_INJECTED = {
    "futex", "exit", "exit_group", "rt_sigreturn", "rt_sigprocmask", "rt_sigtimedwait", "clock_nanosleep", "munmap", "brk",
    "restart_syscall", "execve", "rt_sigaction", "getpid", "gettid", "set_robust_list", "rseq", "set_tid_address",
    "sched_yield", "arch_prctl", "rt_sigsuspend", "madvise", "wait4", "waitid", "mprotect", "clock_gettime", "geteuid",
    "getuid", "getppid", "umask", "mmap", "kcmp",
}


# SQLite (os_unix.c), also when it seeds its random numbers from /dev/urandom, and the Swift runtime, which seeds its hashes,
# repeat these without end if they are interrupted.
ENDLESS = {"read", "pread64", "pwrite64", "ftruncate", "getrandom"}


def traced_calls(template, follow):
    """How often the runner makes each system call in a plain check."""
    folder = template.copy(tracer="off" if follow else "auto")
    report = folder.parent / "calls"
    subprocess.run(
        ["strace", *(["-f"] if follow else []), "-c", "-o", report, template.binary, "check"], cwd=folder,
        env={**os.environ, "TMPDIR": str(folder / "tmp")}, capture_output=True)
    calls = re.findall(r"^ *[\d.]+ +[\d.]+ +\d+ +(\d+) +(?:\d+ +)?(\w+)$", report.read_text(), re.M)
    shutil.rmtree(folder.parent, ignore_errors=True)
    return {name: int(count) for count, name in calls if name not in NOT_INJECTED and name != "total"}


def syscalls(template, quick):
    """Each system call of the runner fails once, early, in the middle or late, and from some time on."""
    for follow in (False, True):
        try:
            calls = traced_calls(template, follow)
        except OSError:
            # Without strace(1) nothing was written.
            calls = {"read": 1}
        for number, (name, count) in enumerate(sorted(calls.items())):
            places = [str(max(1, count // 2)), str(count), f"{max(1, count * 2 // 3)}+"]
            for place in [places[number % 3]] if quick else places:
                if quick and (number + 4 * follow) % 8:
                    continue
                error = ERRORS[(number + len(place)) % len(ERRORS)]
                # A loop that repeats interrupted calls must have an end.
                for error in [error] + ["EINTR"] * (place.endswith("+") and not quick and name not in ENDLESS):
                    yield Attempt(
                        f"{name} {error} when={place}{' in all threads and processes' if follow else ''}", template,
                        wrapper=["strace", *(["-f"] if follow else []), "-o", "/dev/null", "-e", f"trace={name}", "-e",
                                 f"inject={name}:error={error}:when={place}"],
                        tracer="off" if follow else "auto", allowed=(1, 2, 3, 4, 5),
                        seconds=LOCKED if name == "fcntl" else 60)


def history(template, quick):
    """A reading or writing of the history fails: it is never set aside, and no run is lost."""
    for call, error in [("pread64", "EIO"), ("pwrite64", "EIO"), ("pwrite64", "ENOSPC"), ("fsync", "EIO"), ("fcntl", "ENOLCK"),
                        ("fdatasync", "EIO"), ("read", "EIO")]:
        for place in (["2", "1+"] if quick else ["1", "2", "3", "4", "6", "8", "12", "1+", "5+"]):
            if quick and call not in ("pread64", "fcntl"):
                continue
            yield Attempt(
                f"{call} {error} when={place} of the history", template, seconds=LOCKED if call == "fcntl" else 25,
                wrapper=["strace", "-f", "-o", "/dev/null", "-P", ".highwater/history.sqlite", "-e", f"trace={call}", "-e",
                         f"inject={call}:error={error}:when={place}"], tracer="off")
    yield Attempt("no locks at all", template, seconds=30, tracer="off", wrapper=[
        "strace", "-f", "-o", "/dev/null", "-e", "trace=flock,fcntl", "-e", "inject=flock:error=ENOLCK"])


def kills(template, quick):
    """SIGKILL of each helper process, of the target, and of the runner at different times."""
    def supervisor_of(name):
        def during(process, folder):
            for _ in range(400):
                for child in attempt.children(process.pid):
                    if name in attempt.descendants(child):
                        return attempt.kill(child)
                time.sleep(0.01)
        return during

    def helper(index):
        def during(process, folder):
            time.sleep(0.15)
            for _ in range(300):
                if (found := attempt.children(process.pid)) and len(found) > index:
                    return attempt.kill(found[index])
                time.sleep(0.01)
        return during

    def runner(seconds, number):
        def during(process, folder):
            time.sleep(seconds)
            attempt.kill(process.pid, number)
        return during

    for name, keys in [("setup command", {"setup": "30"}), ("step", {"keys": "steps: [{run: [sleep, '31']}]\n    until: exit"})]:
        yield Attempt(f"supervisor of a {name}", template, during=supervisor_of("sleep"), seconds=10, **keys)
    yield Attempt("supervisor of the readiness command", template, during=supervisor_of("sleep"), seconds=20,
                  keys="ready: {command: [sleep, '30'], within: 9s}")
    for index in range(1 if quick else 3):
        yield Attempt(f"child {index} of the runner", template, during=helper(index), setup="0.2")
    for seconds in ([0.3] if quick else [0.02, 0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 1.0]):
        yield Attempt(f"the runner after {seconds} s", template, during=runner(seconds, signal.SIGKILL), kills_runner=True)
        yield Attempt(f"SIGTERM after {seconds} s", template, during=runner(seconds, signal.SIGTERM), allowed=(1, 3, 143, -15))


def unshared(title, template, script, **keys):
    """An attempt in a mount namespace of its own."""
    return Attempt(title, template, wrapper=["unshare", "-m", "bash", "-c", script + '; exec "$@"', "bash"], **keys)


def folders(template, quick):
    """Full, read-only and missing folders."""
    full = 'dd if=/dev/zero of={0}/.fill bs=4k 2>/dev/null || true'
    def small(folder, size):
        return (f'cp -a {folder} ../copy; mount -t tmpfs -o size={size} none {folder}; cp -a ../copy/. {folder}; '
                + full.format(folder))
    yield unshared("the artifacts are full", template, small(".highwater", "1m"), history=None)
    yield unshared("the artifacts are read-only", template, "mount --bind .highwater .highwater; mount -o remount,ro,bind .highwater")
    yield unshared("TMPDIR is full", template, "mount -t tmpfs -o size=64k none tmp; " + full.format("tmp"))
    yield unshared("TMPDIR is read-only", template, "mount --bind tmp tmp; mount -o remount,ro,bind tmp")
    yield unshared("the project is read-only", template, "mount --bind . .; mount -o remount,ro,bind . ; cd \"$PWD\"")
    if quick:
        return
    for size in ("320k", "400k", "500k", "700k"):
        yield unshared(f"the artifacts have {size}", template, small(".highwater", size).split("; dd")[0], history=None)
    yield Attempt("TMPDIR is missing", template, environment={"TMPDIR": "/nowhere/at/all"})
    yield Attempt("TMPDIR is a file", template, environment={"TMPDIR": "/etc/passwd"})
    yield unshared("/proc is missing", template, "mount -t tmpfs none /proc")
    yield unshared("no cgroups", template, "umount -l /sys/fs/cgroup 2>/dev/null; mount -t tmpfs none /sys/fs/cgroup")
    def without(name):
        def prepare(folder):
            target = folder / ".highwater" / name
            shutil.rmtree(target) if target.is_dir() else target.unlink(missing_ok=True)
            target.mkdir() if name.endswith(("sqlite", "lock", "json", "html")) else target.write_text("x")
        return prepare
    for name in ("recordings", "output", "outbox", "pending-runs", "explain", "lock", "trend.html"):
        yield Attempt(f"{name} is of the other kind", template, prepare=without(name))


def links(template, quick):
    """Symbolic links at the names of the artifacts: nothing outside is written, renamed or removed."""
    def linked(name, is_folder):
        def prepare(folder):
            outside = folder.parent / "outside"
            outside.mkdir()
            (outside / "1.jsonl").write_text("precious")
            (outside / "file").write_text("precious")
            place = folder / ".highwater" / name
            if place.is_dir() and not place.is_symlink():
                shutil.rmtree(place)
            place.unlink(missing_ok=True)
            place.parent.mkdir(exist_ok=True)
            place.symlink_to(outside if is_folder else outside / "file")
        return prepare
    def unchanged(attempt, folder):
        content = {path.name: path.read_text() for path in (folder.parent / "outside").iterdir()}
        return [] if content == {"1.jsonl": "precious", "file": "precious"} else [f"outside was changed: {sorted(content)}"]
    names = [("pending-runs", True), ("explain", True), ("outbox", True), ("profiles", True), ("history.sqlite", False)]
    more = [("recordings", True), ("output", True), ("against", True), ("build.log", False), ("lock", False),
            ("history.sqlite-wal", False), ("history.sqlite-shm", False), ("result.json", False), ("trend.html", False),
            ("explain.html", False), ("explain/recordings", True), ("recordings/load", True), ("output/load", True)]
    for name, is_folder in names if quick else names + more:
        yield Attempt(f"a link at {name}", template, prepare=linked(name, is_folder), after=unchanged,
                      history=None if "history" in name else 2) if name != "result.json" else Attempt(
            f"a link at {name}", template, prepare=lambda folder: None)
    def whole(folder):
        shutil.copytree(folder / ".highwater", folder.parent / "outside")
        shutil.rmtree(folder / ".highwater")
        (folder / ".highwater").symlink_to(folder.parent / "outside")
    def same(attempt, folder):
        return [] if not list((folder.parent / "outside").glob("*.tmp")) else ["outside was changed"]
    yield Attempt("the artifacts are a link out of the repository", template, prepare=whole, after=same)


class Server:
    """A server on the loopback interface that calls `answer(connection)` for each connection."""

    def __init__(self, answer):
        self.socket = socket.socket()
        self.socket.bind(("127.0.0.1", 0))
        self.socket.listen(50)
        self.port = self.socket.getsockname()[1]
        self.requests = 0
        threading.Thread(target=self.serve, args=(answer,), daemon=True).start()

    def serve(self, answer):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            self.requests += 1
            threading.Thread(target=self.handle, args=(answer, connection), daemon=True).start()

    def handle(self, answer, connection):
        try:
            answer(connection)
        except OSError:
            pass
        finally:
            connection.close()


def message(kind, body=b""):
    return kind + struct.pack("!I", len(body) + 4) + body


def database(answers):
    """Answers as PostgreSQL up to the first query, to which it sends these bytes."""
    def answer(connection):
        while True:
            length = struct.unpack("!I", connection.recv(4))[0]
            code = connection.recv(length - 4)
            if code[:4] in (struct.pack("!I", 80877103), struct.pack("!I", 80877104)):
                connection.sendall(b"N")
                continue
            break
        connection.sendall(message(b"R", struct.pack("!I", 0)) + message(b"Z", b"I"))
        while connection.recv(65536):
            for part in answers() if callable(answers) else [answers]:
                connection.sendall(part)
    return answer


def endless():
    while True:
        yield b"x" * 65536


def servers(template, quick):
    """Databases and webhooks that answer what they should not."""
    copy = b"\0" + struct.pack("!H", 0)
    answers = {"CopyInResponse": message(b"G", copy), "CopyOutResponse": message(b"H", copy),
               "CopyBothResponse": message(b"W", copy)}
    more = {
        "an unknown message": message(b"?", b"x" * 100), "a message of 2 GB": b"D\x7f\xff\xff\xff" + b"x" * 1000,
        "nothing": b"", "an error without a code": message(b"E", b"Mx\0\0") + message(b"Z", b"I"),
        "ready, without an answer": message(b"Z", b"I"), "an empty answer": message(b"I") + message(b"Z", b"I"),
        "half a row": message(b"T", struct.pack("!H", 1) + b"a\0" + b"\0" * 18) + b"D\0\0\0\x20\0\1",
        "notices without an end": lambda: iter(lambda: message(b"N", b"Mx\0\0") * 1000, None),
        "rows without an end": lambda: itertools.chain(
            [message(b"T", struct.pack("!H", 1) + b"a\0" + b"\0" * 18)],
            iter(lambda: message(b"D", struct.pack("!Hi", 1, 8) + b"x" * 8) * 1000, None)),
        "rows of no kind": message(b"D", struct.pack("!H", 5000)),
    }
    for name, answer in (answers if quick else {**answers, **more}).items():
        server = Server(database(answer))
        yield Attempt(f"the database answers {name}", template, seconds=25, allowed=(1,), history=None,
                      extra=f"history: postgresql://gate@127.0.0.1:{server.port}/gate")
    if not quick:
        for name, answer in {"closes": lambda connection: None, "is silent": lambda connection: time.sleep(60),
                             "sends letters": lambda connection: connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n" * 100)}.items():
            server = Server(answer)
            yield Attempt(f"the database {name}", template, seconds=25, allowed=(1,), history=None,
                          extra=f"history: postgresql://gate@127.0.0.1:{server.port}/gate")
    def http(*parts):
        def answer(connection):
            connection.recv(65536)
            for part in parts:
                for piece in part() if callable(part) else [part]:
                    connection.sendall(piece)
        return answer
    hooks = {"an endless body": http(b"HTTP/1.1 200 OK\r\n\r\n", endless), "endless headers": http(b"HTTP/1.1 200 OK\r\nA: ", endless),
             "no HTTP": http(b"\0" * 1000), "a redirect to a file": http(b"HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\n\r\n"),
             "Retry-After: 1e9": http(b"HTTP/1.1 503 No\r\nRetry-After: 1000000000\r\nContent-Length: 0\r\n\r\n"),
             "a closed connection": http()}
    for name, answer in list(hooks.items())[:1 if quick else None]:
        server = Server(answer)
        yield Attempt(f"the webhook answers {name}", template, seconds=50, allowed=(1,),
                      extra=f"webhooks: [{{url: 'http://127.0.0.1:{server.port}/', secret: s}}]")


def limits(template, quick):
    """Limits of the shell, and refused system calls for threads."""
    shells = ["ulimit -s 200", "ulimit -n 12"]
    if not quick:
        shells += [f"ulimit -n {count}" for count in (5, 8, 10, 16, 20, 24, 32, 48)]
        shells += [f"ulimit -f {blocks}" for blocks in (0, 1, 8, 64)] + [f"ulimit -s {size}" for size in (100, 500, 1000)]
        shells += [f"ulimit -v {size}" for size in (200000, 300000, 500000)] + ["ulimit -t 1", "ulimit -i 0", "ulimit -l 0"]
    for shell in shells:
        yield Attempt(shell, template, shell=shell, history=None if " -f" in shell else 2)
    for place in ["15+", "18+", "20+", "25+"][: 1 if quick else None]:
        yield Attempt(f"no thread or process: clone3 EAGAIN when={place}", template, seconds=40, wrapper=[
            "strace", "-f", "-o", "/dev/null", "-e", "trace=clone3", "-e", f"inject=clone3:error=EAGAIN:when={place}"],
            tracer="off")
    refused = {"epoll_create1": "1+", "eventfd2": "1+", "ppoll": "1+", "write": "20+"}
    more = {"epoll_ctl": "1+", "timerfd_create": "1+", "pidfd_open": "1+", "memfd_create": "1+", "dup3": "1+",
            "kill": "1+"}
    for call, place in (refused if quick else {**refused, **more}).items():
        yield Attempt(f"{call} is refused", template, tracer="off", wrapper=[
            "strace", "-f", "-o", "/dev/null", "-e", f"trace={call}", "-e", f"inject={call}:error=EPERM:when={place}"])
    yield Attempt("access(2) fails", template, seconds=30, wrapper=[
        "strace", "-o", "/dev/null", "-e", "trace=access", "-e", "inject=access:error=EIO"])


def together(template, quick):
    """Several checks at the same time."""
    count = 3 if quick else 20
    for title, words, expected in [
        ("with the same artifacts", lambda number: [], (1, 2)),
        ("with the same history", lambda number: ["--artifacts", f"out{number}"], (1,)),
        ("against one commit", lambda number: ["--artifacts", f"out{number}", "--against-ref", "HEAD~1"], (1,)),
    ]:
        box = []
        def during(process, folder, words=words):
            environment = {**os.environ, "TMPDIR": str(folder / "tmp"), "FAULTS_ATTEMPT": str(folder)}
            box[:] = [
                subprocess.Popen([template.binary, "check", *words(number)], cwd=folder, env=environment,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for number in range(count)]
            box[:] = [other.wait(240) for other in box]
        def after(attempt, folder, expected=expected):
            wrong = [code for code in box if code not in expected]
            return [f"codes of the others: {box}"] if wrong else []
        yield Attempt(f"{count} more checks {title}", template, during=during, after=after, seconds=300, allowed=(1, 2))


def forged(template, quick):
    """Files that a branch or a job may have written."""
    def sent(server, expected):
        def after(attempt, folder):
            return [] if server.requests == expected else [f"{server.requests} messages were sent, not {expected}"]
        return after
    def outbox(url):
        key = 0xCBF29CE484222325
        for byte in url.encode():
            key = ((key ^ byte) * 0x100000001B3) % (1 << 64)
        def prepare(folder):
            (folder / ".highwater/outbox").mkdir(exist_ok=True)
            for proof in ("", "0" * 64):
                (folder / f".highwater/outbox/1-x{len(proof)}.json").write_text(json.dumps({
                    "schema": "highwater.outbox/1", "deliveryID": "x", "event": "check", "createdAt": "2026-01-02T03:04:05Z",
                    "webhook": f"{key:016x}", "body": base64.b64encode(b'{"verdict":"pass"}').decode(), "proof": proof}))
        return prepare
    for secret in (", secret: s", ""):
        server = Server(lambda connection: (connection.recv(65536), connection.sendall(b"HTTP/1.1 204 No\r\n\r\n")))
        url = f"http://127.0.0.1:{server.port}/"
        yield Attempt(f"a planted message{' for a webhook without a secret' * (not secret)}", template, prepare=outbox(url),
                      after=sent(server, 1), allowed=(1,), extra=f"webhooks: [{{url: '{url}'{secret}}}]")
    def shard(folder):
        result = json.loads((folder / ".highwater/result.json").read_text())
        result["run"]["shard"] = {"index": 1, "count": 1, "scenarios": ["load"]}
        for scenario in result["scenarios"]:
            scenario["verdict"] = "pass"
            for metric in scenario["metrics"]:
                metric["verdict"] = "regression"
        (folder / "shard.json").write_text(json.dumps(result))
    yield Attempt("a shard that contradicts itself", template, words=["merge", "shard.json"], prepare=shard, allowed=(1,))
    def commit(change):
        def prepare(folder):
            path = folder / ".highwater/result.json"
            result = json.loads(path.read_text())
            head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=folder, capture_output=True, text=True).stdout.strip()
            change(result["run"], head)
            path.write_text(json.dumps(result))
            shutil.rmtree(folder / "baselines")
        return prepare
    def newline(run, head):
        run["commit"] = head + "\ntouch x"
    for title, change in [("HEAD and a command", newline), ("no commit", lambda run, head: run.pop("commit", None))]:
        yield Attempt(f"a result of {title} is approved", template, words=["approve"], prepare=commit(change), allowed=(2, 3))


ALL = {group.__name__: group for group in
       (syscalls, history, kills, folders, links, servers, limits, together, forged)}
