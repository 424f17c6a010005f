"""A real PostgreSQL server on the loopback, with data of its own, that can be stopped as by a power cut."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

SERVERS = "/usr/lib/postgresql"


@dataclass(frozen=True)
class Server:
    """A server: where its programs and its data are, and its port."""

    programs: Path
    folder: Path
    port: int

    def control(self, *words: str) -> None:
        """Start or stop it; as root under a user of fewer rights, since it refuses to run as root."""
        command = [str(self.programs / "pg_ctl"), "-D", str(self.folder / "data"), "-w", *words]
        done = subprocess.run([*_as_user(), *command], capture_output=True, text=True, cwd="/", check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    def start(self) -> None:
        """Start it, on the loopback only."""
        # Nobody takes the machine's power away: what the server wrote is there without waiting for the disk.
        options = f"-p {self.port} -k {self.folder} -h 127.0.0.1 -c fsync=off -c shared_buffers=16MB"
        self.control("-l", str(self.folder / "log"), "-o", options, "start")

    def stop(self, mode: str = "immediate") -> None:
        """Stop it; immediate: as a power cut would."""
        self.control("-m", mode, "stop")

    def url(self, schema: str) -> str:
        """Return the URL of a schema of it, which to those who open it looks like a database of its own."""
        where = f"127.0.0.1:{self.port}/postgres"
        return f"postgresql://evalreport@{where}?options=-csearch_path%3D{schema}"

    def version(self) -> str:
        """Return its version, such as 15.6."""
        words = [str(self.programs / "postgres"), "--version"]
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()[2]


def installed() -> Path | None:
    """Return the folder of the newest server's programs as Debian installs them; None: there is none."""
    found = sorted(Path(SERVERS).glob("*/bin/postgres"))
    return found[-1].parent if found else None


@contextmanager
def server(programs: Path) -> Iterator[Server]:
    """Start a server with data of its own, and remove both in the end."""
    # Not below a folder that other users may not enter; a socket's path must be short.
    folder = Path(tempfile.mkdtemp(prefix="evalreport-pg-"))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    made = Server(programs, folder, port)
    try:
        if os.geteuid() == 0:
            shutil.chown(folder, _user())
        make = [str(programs / "initdb"), "-D", str(folder / "data"), "-U", "evalreport", "-A", "trust", "-N"]
        subprocess.run([*_as_user(), *make], check=True, capture_output=True, cwd="/")
        made.start()
        yield made
        made.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def fresh(made: Server) -> str:
    """Make an empty schema; return its URL."""
    from sqlalchemy import text

    from evalreport.history.connection import _engine, _parsed

    name = f"history_{time.monotonic_ns()}"
    with _engine(_parsed(made.url("public"))).begin() as connection:
        connection.execute(text(f"CREATE SCHEMA {name}"))
    return made.url(name)


def _as_user() -> list[str]:
    """Return the words that start a program under another user, where we are root."""
    if os.geteuid() != 0:
        return []
    return ["setpriv", f"--reuid={_user()}", f"--regid={pwd.getpwnam(_user()).pw_gid}", "--clear-groups"]


def _user() -> str:
    """Return the user that runs the server: that of Debian's package, else nobody."""
    return "postgres" if any(entry.pw_name == "postgres" for entry in pwd.getpwall()) else "nobody"
