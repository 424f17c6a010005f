"""A host of code on this machine, as far as comments go: GitHub's and GitLab's lists of them, with pages."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit


@dataclass
class Host:
    """What the host holds and was asked.

    ``answers`` are given first, as (status, message), instead of its work; ``raw`` is what it sends in its place by
    method, status line and all.
    """

    comments: list[dict[str, Any]] = field(default_factory=list)
    calls: list[tuple[str, str]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    answers: list[tuple[int, str]] = field(default_factory=list)
    always: tuple[int, str] | None = None
    raw: dict[str, bytes] = field(default_factory=dict)
    address: str = ""

    def add(self, *bodies: str) -> None:
        """Let somebody comment."""
        for body in bodies:
            self.comments.append({"id": 1000 + len(self.comments), "body": body})


def served(host: Host) -> ThreadingHTTPServer:
    """Start serving on a free port of the loopback."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

        def _answer(self, status: int, content: Any) -> None:
            data = json.dumps(content).encode()
            self.send_response(status)
            if status == 302:
                self.send_header("Location", "http://127.0.0.1:1/elsewhere")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def _work(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            content = json.loads(self.rfile.read(length)) if length else {}
            where = urlsplit(self.path)
            host.calls.append((self.command, self.path))
            host.headers.append(dict(self.headers))
            if self.command in host.raw:
                self.wfile.write(host.raw[self.command])
                self.close_connection = True
                return
            planned = host.always or (host.answers.pop(0) if host.answers else None)
            if planned is not None:
                self._answer(planned[0], {"message": planned[1]})
            elif self.command == "GET":
                asked = parse_qs(where.query)
                size, page = int(asked["per_page"][0]), int(asked["page"][0])
                self._answer(200, host.comments[(page - 1) * size : page * size])
            elif self.command == "POST":
                host.add(content["body"])
                self._answer(201, host.comments[-1])
            else:
                found = next(c for c in host.comments if c["id"] == int(where.path.rsplit("/", 1)[1]))
                found["body"] = content["body"]
                self._answer(200, found)

        do_GET = do_POST = do_PATCH = do_PUT = _work  # noqa: N815 - the names that http.server calls

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    host.address = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    return server


@contextlib.contextmanager
def dripping(first: bytes, again: bytes) -> Iterator[str]:
    """Give the address of a host that sends some bytes, then others for ever, a few in a second."""
    over = threading.Event()
    threads: list[threading.Thread] = []

    def drip(connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            connection.sendall(first)
            while not over.is_set():
                connection.sendall(again)
                time.sleep(0.05)

    def serve(server: socket.socket) -> None:
        while not over.is_set():
            with contextlib.suppress(TimeoutError):
                connection = server.accept()[0]
                threads.append(threading.Thread(target=drip, args=(connection,), daemon=True))
                threads[-1].start()

    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.05)
        threads.append(threading.Thread(target=serve, args=(server,), daemon=True))
        threads[0].start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}"
        finally:
            over.set()
            threads[0].join()
            for thread in threads[1:]:
                thread.join()
