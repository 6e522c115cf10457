"""A small WSGI service that renders a page for each request, and keeps LEAK bytes of each."""
import os

LEAK = int(os.environ.get("LEAK", "0"))
LINKS = [(f"/{at}", f"https://example.org/{at}/{'x' * 60}") for at in range(2000)]
kept = []


def application(environment, start_response):
    if LEAK:
        kept.append(bytearray(LEAK))
    rows = "".join(f'<li><a href="{source}">{target}</a>' for source, target in LINKS[:200])
    page = f"<html><ul>{rows}</ul></html>".encode()
    start_response("200 OK", [("Content-Length", str(len(page)))])
    return [page]
