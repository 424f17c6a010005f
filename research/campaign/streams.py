"""Streams that are closed or full while a command works, and hosts of reviews that send bytes for ever.

code
    the exit code is not the one that is promised: 1 without a gate that failed, or another than 4 where standard
    output could not be written. Never.
undone
    no report, no recorded run, or one that is recorded twice. Never.
traceback
    a traceback, or nothing said of what is lost. Never.
late
    a host was waited for beyond the deadline. Never.
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from research.campaign.records import MEMORY, ROOT, Part, Row, faults_of, measured

FAULTS = ("code", "undone", "traceback", "late")
TRIES = 200
STREAMS = {
    "as usual": "",
    "closed": "{n}>&-",
    "full": "{n}>/dev/full",
    "a pipe that nobody reads": "{n}> >(true)",
    "read only": "{n}</dev/null",
}
SECONDS, SLACK = 1.0, 8.0
"""The deadline of a call, and what starting the program may take beside it."""


def part(*, seed: int = 1, tries: int = TRIES, folder: Path = MEMORY) -> Part:
    """Make three tries with streams for each one with a host."""
    made = Part("streams", seed, tries)
    rng = random.Random(seed)  # noqa: S311 - no secret is drawn
    closed, drips = Row("an audit with streams that fail"), Row("a host that never ends")
    made.rows += [closed, drips]
    with measured(made), tempfile.TemporaryDirectory(prefix="streams-", dir=folder) as place:
        for number in range(tries):
            row = drips if number % 4 == 3 else closed
            row.tries += 1
            base = Path(place, "try")
            shutil.rmtree(base, ignore_errors=True)
            base.mkdir()
            row.counts.update(_waited(rng, base) if row is drips else _disturbed(rng, base))
    made.findings += faults_of(made, FAULTS)
    return made


def _disturbed(rng: random.Random, base: Path) -> set[str]:
    """Audit once with disturbed streams; say what came of it."""
    rows = "".join(f"e{i},{i % 2},{i % 3 % 2}\n" for i in range(24))
    (base / "m.csv").write_text("id,y_true,y_pred\n" + rows, encoding="utf-8")
    out, err = (rng.choice(list(STREAMS)) for _ in range(2))
    fails, quiet = rng.random() < 0.3, rng.random() < 0.3
    words = "audit m.csv --history sqlite:///h.db -m accuracy --resamples 20 -f json -o out"
    words += f" --gate 'n >= {500 if fails else 5}'{' -q' * quiet}"
    done = _shell(base, f"{words} {STREAMS[out].format(n=1)} {STREAMS[err].format(n=2)}")
    refused = out != "as usual" and not quiet
    codes = {1} if fails else {0}
    if refused and not fails:
        # A pipe may take what is written before its reader ends.
        codes = {0, 141} if out == "a pipe that nobody reads" else {4}
    found = set()
    if done.returncode not in codes:
        found.add("code")
    if "Traceback" in done.stderr or (
        refused and codes == {4} and err == "as usual" and "output" not in done.stderr
    ):
        found.add("traceback")
    listed = _shell(base, "history list --history sqlite:///h.db")
    if not (base / "out" / "results.json").is_file() or len(listed.stdout.splitlines()) != 1:
        found.add("undone")
    return found or {"done"}


def _waited(rng: random.Random, base: Path) -> set[str]:
    """Comment on a review of a host that never ends."""
    (base / "summary.md").write_text("<!-- evalreport:0123456789ab -->\ntext\n", encoding="utf-8")
    first = rng.choice(
        (b"", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\nX: ", b"HTTP/1.1 200 OK\r\n\r\n[", b"HTTP/1.1 ")
    )
    again = rng.choice(
        (b"", b"y", b" ", b"X: y\r\n", b"HTTP/1.1 100 Continue\r\n\r\n", b"1\r\n \r\n", rng.randbytes(3))
    )
    with _dripping(first, again, rng.choice((0.01, 0.1, 0.5))) as address:
        began = time.monotonic()
        variables = {"GITHUB_REPOSITORY": "a/b", "GITHUB_TOKEN": "Hunter2-geheim", "GITHUB_API_URL": address}
        done = _shell(base, f"comment . --number 7 --timeout {SECONDS}", **variables)
        found = {"late"} if time.monotonic() - began > SECONDS + SLACK else set()
    if done.returncode != 4:
        found.add("code")
    if "Traceback" in done.stderr or done.stderr.count("\n") != 1 or "Hunter2" in done.stderr:
        found.add("traceback")
    return found or {"done"}


def _shell(base: Path, words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    usual = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("GITHUB_", "GITLAB_", "CI", "GH_"))
    }
    return subprocess.run(
        ["bash", "-c", f'"{sys.executable}" -m evalreport {words}'], cwd=base, check=False, capture_output=True,
        text=True, errors="replace", stdin=subprocess.DEVNULL, env={**usual, "PYTHONPATH": str(ROOT), **variables},
    )  # fmt: skip


@contextlib.contextmanager
def _dripping(first: bytes, again: bytes, pause: float) -> Iterator[str]:
    """Give the address of a host that sends some bytes, then others for ever."""
    over = threading.Event()

    def drip(connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            connection.sendall(first)
            while not over.wait(pause):
                connection.sendall(again)

    def serve(server: socket.socket) -> None:
        while not over.is_set():
            with contextlib.suppress(TimeoutError):
                threading.Thread(target=drip, args=(server.accept()[0],), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.05)
        serving = threading.Thread(target=serve, args=(server,), daemon=True)
        serving.start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}"
        finally:
            over.set()
            serving.join()
