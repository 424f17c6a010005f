"""A PostgreSQL server that is stopped, as by a power cut, and started again while runs are written to it.

lost
    a run that was said to be recorded is not there, or stands there twice, or half. This must never be.
failed
    a process ended otherwise than with a recorded run or with an error that says that nothing was added. Never.
recorded, refused
    how the writing ended that the restart met; after a refusal the same run is recorded by the next try.
"""

from __future__ import annotations

import random
import time
from functools import partial
from pathlib import Path

import numpy as np
import psycopg  # noqa: F401 - loaded here, so that the processes spend their time on writing

from evalreport.history.connection import open_history
from evalreport.history.store import runs
from research.campaign.histories import record_once, whole
from research.campaign.processes import DONE, NOWHERE, REFUSED, ended, forked, from_child
from research.campaign.records import Part, Row, faults_of, measured
from research.campaign.servers import Server, fresh, installed, server

FAULTS = ("lost", "failed")
TRIES = 40
SIZE = 2_000_000
"""Bytes of the predictions of each run: so that the writing takes a while."""


def part(*, seed: int = 0, tries: int = TRIES, programs: Path | None = None) -> Part:
    """Restart a server while a process records; none is tried where no server is installed."""
    made = Part("restarts", seed, tries)
    programs = programs or installed()
    rng = random.Random(seed)  # noqa: S311 - of moments, not of secrets
    with measured(made):
        if programs is None:
            return made
        with server(programs) as running:
            made.versions["postgresql"] = running.version()
            made.rows.append(row := Row("a run is recorded"))
            url, took = from_child(partial(_first, running))
            for number in range(2, tries + 2):
                row.tries += 1
                row.counts[_restarted(running, url, number, rng.uniform(0, took))] += 1
    made.findings += faults_of(made, FAULTS)
    return made


def _first(running: Server) -> tuple[str, float]:
    """Make a history with one run; return its URL, and how long recording takes."""
    url = fresh(running)
    began = time.monotonic()
    _record(url, 1)
    return url, time.monotonic() - began


def _record(url: str, number: int) -> None:
    record_once(url, number, predictions=np.random.default_rng(number).bytes(SIZE))


def _restarted(running: Server, url: str, number: int, wait: float) -> str:
    process = forked(partial(_record, url, number), said=NOWHERE)
    time.sleep(wait)
    running.stop()
    running.start()
    code = ended(process)
    if code not in (DONE, REFUSED):
        return "failed"
    there = from_child(partial(_signatures, url))
    before = [f"signature {n}" for n in range(1, number)]
    both = [*before, f"signature {number}"]
    # Refused, the run may be there all the same: the answer to the commit was lost with the connection.
    if there != both and (code == DONE or there != before):
        return "lost"
    if (
        ended(forked(partial(_record, url, number), said=NOWHERE))
        or from_child(partial(_signatures, url)) != both
    ):
        return "lost"
    return "recorded" if code == DONE else "refused"


def _signatures(url: str) -> list[str]:
    """Check that every run is whole; return their signatures."""
    history = open_history(url)
    whole(history)
    return [run.signature for run in runs(history)]
