"""A host of code on this machine that answers with whatever bytes it is given."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def host() -> Iterator[tuple[str, list[bytes]]]:
    """Yield an address and the list of raw answers: each connection is given the next, the last one for ever."""
    answers: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=_serve, args=(server, answers), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}", answers


def _serve(server: socket.socket, answers: list[bytes]) -> None:
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        with connection, contextlib.suppress(OSError):
            connection.settimeout(2)
            asked = connection.recv(1 << 16)
            if asked.startswith((b"POST", b"PUT", b"PATCH")) and b"\r\n\r\n" in asked:
                head, _, body = asked.partition(b"\r\n\r\n")
                length = next(
                    (int(h[15:]) for h in head.split(b"\r\n") if h.lower().startswith(b"content-length:")), 0
                )
                while len(body) < length and (more := connection.recv(1 << 16)):
                    body += more
            connection.sendall(answers.pop(0) if len(answers) > 1 else answers[0] if answers else b"")
