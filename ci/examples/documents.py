"""A service with four threads that keeps the last CACHE documents, and LEAK bytes a request."""
import ctypes
import gc
import itertools
import json
import os
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, HTTPServer

limit = int(os.environ.get("CACHE", "320"))
leak = int(os.environ.get("LEAK", "0"))
threads = ThreadPoolExecutor(4)
numbers = itertools.count()
cache = {}
leaked = []


class Service(BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/live-heap":
            report(f"value live_heap {live_heap()} B")
        else:
            list(threads.map(keep, itertools.islice(numbers, 4)))
            if leak:
                leaked.append(bytearray(leak))
        self.send_response(204)
        self.end_headers()

    def log_request(self, *arguments):
        pass


def keep(number):
    cache[number] = render(number)
    cache.pop(number - limit, None)


def render(number):
    """Returns 4 KiB, and makes ten times as much garbage."""
    rows = [{"row": row, "text": f"document {number}, row {row}"} for row in range(100)]
    return json.dumps(json.loads(json.dumps(rows)))


class Mallinfo(ctypes.Structure):
    """`struct mallinfo2` of glibc 2.33 and later."""
    _fields_ = [(name, ctypes.c_size_t) for name in
                "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()]


def live_heap():
    """What Python and C libraries have allocated; with PYTHONMALLOC=malloc all of it comes from malloc(3)."""
    gc.collect()
    mallinfo2 = ctypes.CDLL(None).mallinfo2
    mallinfo2.restype = Mallinfo
    info = mallinfo2()
    return info.uordblks + info.hblkhd


def report(line, file=os.environ.get("HIGHWATER_MARKS")):
    """Sends one line to Highwater, if it measures."""
    if file:
        with open(file, "w") as marks:
            marks.write(line + "\n")


HTTPServer(("127.0.0.1", 18764), Service).serve_forever()
