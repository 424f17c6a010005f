"""The summary of a recorded run, which lists and alarms read in place of its results; checked as if it were hostile."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, TypeAlias

from msgspec import Meta

from evalreport.files import with_each_key_once
from evalreport.schema.inputs import JsonObject
from evalreport.schema.recorded import converted

Runs: TypeAlias = Annotated[int, Meta(ge=0, le=10**9)]
Digest: TypeAlias = Annotated[str, Meta(pattern=r"\A[0-9a-f]{1,16}\Z")]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a run keeps for later alarms.

    Attributes
    ----------
    look
        The number of times the series was compared with these accepted runs.
    accepted
        The numbers of these runs.
    ids
        Digests of some of its new examples.
    models
        Of each model the metric, its value on the new examples, the standard error and how many there are.
    at_shares
        The same value and standard error with the classes weighted as in the accepted runs, where they differ.
    compared, horizon
        How many runs of the series were compared, and how many its year holds.
    answers
        A digest of the answers of this run.
    """

    look: Runs = 0
    accepted: tuple[int, ...] = ()
    ids: tuple[Digest, ...] = ()
    models: Mapping[str, tuple[str, float, float, int]] | None = None
    at_shares: Mapping[str, tuple[float, float]] | None = None
    compared: Runs = 0
    horizon: Annotated[int, Meta(ge=0, le=1000)] | None = None
    answers: str | None = None


@dataclass(frozen=True, slots=True)
class Summary:
    """The facts of a run for lists and charts; of each model the primary metric's value, low and high."""

    n: int
    primary_metric: str
    values: Mapping[str, tuple[float | None, float | None, float | None]]
    models: tuple[str, ...]
    task: str
    headline: str
    tone: str
    evidence: Evidence


def read_summary(text: object) -> JsonObject:
    """Return a summary as the database holds it.

    Raises
    ------
    ValueError
        It is no text, no JSON, or a part has another type; the message names the part.
    """
    if not isinstance(text, str):
        raise ValueError("its summary is no text")
    try:
        parsed = json.loads(text, object_pairs_hook=with_each_key_once, parse_constant=lambda _: None)
    except RecursionError:
        raise ValueError("its summary is nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"its summary is no JSON ({str(error)[:80]})") from None
    summary: JsonObject = parsed
    converted(summary, Summary)
    return summary
