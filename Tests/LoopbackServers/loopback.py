"""An HTTP server on the loopback interface whose response depends on the path; it exits when its standard input closes.

Arguments: LOG [--secret S] [--certificate PEM --key PEM] [--port N] [--proxy]. Prints its port, then serves. Each
request is written to LOG as a line of JSON when its response is complete.
"""
import argparse, base64, glob, http.server, json, os, re, socket, ssl, sys, threading, time
from collections import Counter
from email.utils import formatdate

parser = argparse.ArgumentParser()
parser.add_argument("log")
parser.add_argument("--secret")
parser.add_argument("--certificate")
parser.add_argument("--key")
parser.add_argument("--port", type=int, default=0)
parser.add_argument("--proxy", action="store_true")
options = parser.parse_args()
lock = threading.Lock()
visits = Counter()
files, comments = {}, []
verifier = None
if options.secret is not None:
    # The verifier of Standard Webhooks, which `ci/install test` installs.
    root = os.path.abspath(f"{os.path.dirname(__file__)}/../..")
    sys.path += glob.glob(f"{root}/.build/python/lib/python3*/site-packages")
    from standardwebhooks import Webhook, WebhookVerificationError
    verifier = Webhook(options.secret if options.secret.startswith("whsec_") else options.secret.encode())


def log(entry):
    with lock, open(options.log, "a") as file:
        file.write(json.dumps(entry) + "\n")


def signature_is_valid(headers, body):
    """None without a signature, or if this server has no secret."""
    if verifier is None or headers.get("webhook-signature") is None:
        return None
    try:
        verifier.verify(body, dict(headers), json_parse=False)
        return True
    except WebhookVerificationError:
        return False


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 60

    def log_message(self, *arguments):
        pass

    def serve(self):
        self.sent = 0
        self.status = 0
        try:
            if self.path.startswith("/drop-body"):
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                self.close_connection = True
                self.connection.close()
                return
            self.body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self.act()
        except (BrokenPipeError, ConnectionError, ssl.SSLError, TimeoutError, ValueError):
            self.close_connection = True
        finally:
            body = getattr(self, "body", b"")
            log({
                "method": self.command, "path": self.path, "status": self.status, "sent": self.sent,
                "headers": {name.lower(): value for name, value in self.headers.items()},
                "body": base64.b64encode(body).decode(), "signatureIsValid": signature_is_valid(self.headers, body),
                "connection": f"{self.client_address[1]}",
            })

    do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = do_PATCH = serve

    def answer(self, status, body=b"", **headers):
        self.status = status
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def act(self):
        if options.proxy:
            self.answer(200, b"by proxy: " + self.path.encode())
            return
        word, *rest = self.path.split("?")[0].strip("/").split("/")
        getattr(self, "on_" + word.replace("-", "_"), self.on_unknown)(*rest)

    def on_unknown(self, *rest):
        self.answer(404, b"no such path")

    def on_echo(self):
        self.answer(200, self.body)

    def on_status(self, status):
        self.answer(int(status), b"as asked")

    def on_flaky(self, failures, status="503", name=""):
        """Fails this many times, counted over all requests to this path, then succeeds."""
        with lock:
            visits[self.path] += 1
            fails = visits[self.path] <= int(failures)
        self.answer(int(status) if fails else 200, b"flaky")

    def on_busy(self, failures, seconds):
        """Sends Retry-After this many times, in seconds or as a date, then succeeds."""
        with lock:
            visits[self.path] += 1
            fails = visits[self.path] <= int(failures)
        if not fails:
            self.answer(200, b"at last")
        elif seconds == "date":
            self.answer(503, b"busy", Retry_After=formatdate(time.time() + 100, usegmt=True))
        else:
            self.answer(429, b"busy", Retry_After=seconds)

    def on_forge(self, *rest):
        """Comments as GitHub, Gitea and GitLab serve them, one a page, by the account that is named like the token;
        other paths are files, stored with POST."""
        account = re.split("[ :]", self.headers.get("PRIVATE-TOKEN") or self.headers.get("Authorization", ""))[-1]
        person = {"login": account, "username": account}
        path, _, query = self.path.partition("?")
        with lock:
            if rest[-1] == "user":
                found = person
            elif "comments" not in rest and "notes" not in rest:
                if self.command == "POST":
                    files[path] = self.body
                return self.answer(200 if path in files else 404, files.get(path, b""))
            elif self.command == "GET":
                page = int(re.search(r"\bpage=([0-9]+)", query)[1])
                found = comments[page - 1:page]
            elif self.command == "POST":
                found = {**json.loads(self.body), "id": len(comments) + 1, "user": person, "author": person}
                comments.append(found)
            else:
                found = comments[int(rest[-1]) - 1]
                found.update(json.loads(self.body))
        self.answer(200, json.dumps(found).encode())

    def on_redirect(self, status="302"):
        self.answer(int(status), b"", Location="/echo")

    def on_huge(self, announced="yes"):
        """A thousand million bytes, with or without a Content-Length."""
        self.status = 200
        self.send_response(200)
        if announced == "yes":
            self.send_header("Content-Length", "1000000000")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        block = b"x" * 65536
        for _ in range(1000000000 // len(block)):
            self.wfile.write(block)
            self.sent += len(block)

    def on_headers(self):
        """Endless headers."""
        self.wfile.write(b"HTTP/1.1 200 OK\r\n")
        for number in range(10000000):
            self.wfile.write(b"X-More-%d: %s\r\n" % (number, b"y" * 1000))
            self.sent += 1000

    def on_silent(self):
        """Reads the request and does not respond."""
        self.connection.settimeout(60)
        self.connection.recv(1)

    def on_trickle(self):
        """A byte of the response every 50 ms."""
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        for _ in range(1000):
            self.wfile.write(b"z")
            time.sleep(0.05)

    def on_half(self):
        """Less than the announced length."""
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf")
        self.close_connection = True

    def on_nothing(self):
        self.close_connection = True

    def on_garbage(self):
        self.wfile.write(b"SSH-2.0-OpenSSH_9.2\r\n" * 20)
        self.close_connection = True

    def on_no_status(self):
        self.wfile.write(b"HTTP/2" + b"7" * 120 + b"00` OK\r\n\r\nok")
        self.close_connection = True

    def do_CONNECT(self):
        """Tunnels to the named host, as an https proxy does."""
        host, port = self.path.rsplit(":", 1)
        log({"method": "CONNECT", "path": self.path, "status": 200, "sent": 0,
             "headers": {name.lower(): value for name, value in self.headers.items()}, "body": "",
             "signatureIsValid": None, "connection": ""})
        with socket.create_connection((host, int(port))) as far:
            self.connection.sendall(b"HTTP/1.1 200 Connected\r\n\r\n")
            back = threading.Thread(target=self.pump, args=(far, self.connection), daemon=True)
            back.start()
            self.pump(self.connection, far)
        self.close_connection = True

    @staticmethod
    def pump(source, sink):
        try:
            while data := source.recv(65536):
                sink.sendall(data)
        except OSError:
            pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request, client_address):
        pass


def exit_with_input():
    sys.stdin.read()
    os._exit(0)


server = Server(("127.0.0.1", options.port), Handler)
if options.certificate:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(options.certificate, options.key)
    # The connection's own thread performs the handshake: one that fails must not stop or block the server.
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
threading.Thread(target=exit_with_input, daemon=True).start()
print(server.server_address[1], flush=True)
server.serve_forever()
