"""Processes that are forked, watched and stopped: from one that has loaded everything, so that each starts at once."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

DONE = 0
REFUSED = 7
"""An error that the program foresees, raised where no command catches it."""
KILLED = -signal.SIGKILL
DEFECT = 70
NOWHERE = Path(os.devnull)


LONGEST = 1800
"""Seconds after which a child ends by itself, also where nobody waits for it any more."""


def forked(action: Callable[[], object], *, said: Path | None = None) -> int:
    """Start a process that does the action; return its id.

    It ends with the action's number (DONE where that is none); with REFUSED, and the message on standard error, where
    it raises an error of ours, with DEFECT where it raises another.

    Parameters
    ----------
    said
        A file for what it writes on standard error; standard output is then thrown away. None: both as they are.
    """
    process = os.fork()
    if process:
        return process
    code = DEFECT
    signal.alarm(LONGEST)
    # Whatever happens, a child must never come back into the harness, whose files it would remove.
    try:
        code = _performed(action, said)
        sys.stderr.flush()
    finally:
        os._exit(code)


def _performed(action: Callable[[], object], said: Path | None) -> int:
    try:
        # A shell starts what runs in the background deaf to SIGINT, which children inherit.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        if said is not None:
            _redirect(said)
        result = action()
        return result if isinstance(result, int) else DONE
    except KeyboardInterrupt:
        return -KILLED
    except BaseException as error:  # noqa: BLE001 - as above
        from evalreport.errors import EvalreportError

        code = REFUSED if isinstance(error, EvalreportError) else DEFECT
        sys.stderr.write(f"{error}\n" if code == REFUSED else f"{error!r}\n")
        return code


def ended(process: int) -> int:
    """Wait for a process; return its exit code, or minus the signal that ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def killed_after(seconds: float, action: Callable[[], object]) -> int:
    """Do the action in a process that is killed from outside after a while; return how it ended."""
    process = forked(action)
    time.sleep(seconds)
    os.kill(process, signal.SIGKILL)
    return ended(process)


def from_child(make: Callable[[], Any]) -> Any:
    """Return what a process of its own makes: one that forks starts no threads and opens no database itself.

    Raises
    ------
    RuntimeError
        That process failed.
    """
    reading, writing = os.pipe()

    def act() -> None:
        with os.fdopen(writing, "wb") as stream:
            pickle.dump(make(), stream)

    process = forked(act, said=NOWHERE)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        content = stream.read()
    code = ended(process)
    if code:
        raise RuntimeError(f"a process of the harness ended with {code}")
    return pickle.loads(content)  # noqa: S301 - from our own process


def evalreport(*words: object) -> int:
    """Run the program in this process; return its exit code."""
    from evalreport.cli import main

    return main([str(word) for word in words])


def _redirect(said: Path) -> None:
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 1)
    os.dup2(os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
    sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w")  # whatever took their places
