"""Findings, which somebody follows up, and what changed since the run that was accepted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from evalreport.texts import Text

Severity = Literal["high", "medium"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingRecord:
    """A gate that does not pass, or a warning that limits how the figures may be read.

    ``code``: ``gate``, or the warning's; ``about``: the gate, or what the warning is about. ``severity``: high where a
    gate fails, no verdict may be given, or a model or slice is worse than when accepted. ``state``: of an audit ``new``
    where the accepted run did not have it, ``open`` where it did, ``closed`` where only that run had it; else ``open``.
    ``since_run`` and ``since``: the first run of the series known to have it; null: this one. ``owner`` and ``due``
    (an ISO 8601 date): filled in by people in the file of ``audit --findings``, kept by the later runs of the series.
    """

    code: str
    about: tuple[str, ...]
    severity: Severity
    state: Literal["new", "open", "closed"]
    text: Text
    since_run: int | None = None
    since: str | None = None
    owner: str | None = None
    due: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeRecord:
    """A fact of the run that differs from the accepted run, the report that was signed: null where one lacks it.

    ``kind``: data, option, input or version.
    """

    kind: str
    what: str
    before: str | None
    after: str | None
