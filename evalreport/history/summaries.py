"""The summary of a recorded run, which lists and alarms read in place of its results; checked as if it were hostile."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from evalreport.files import with_each_key_once
from evalreport.schema.inputs import JsonObject
from evalreport.schema.recorded import converted

MOST_RUNS, LONGEST_YEAR = 10**9, 1000
_DIGEST = re.compile("[0-9a-f]{1,16}")


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

    look: int = 0
    accepted: tuple[int, ...] = ()
    ids: tuple[str, ...] = ()
    models: Mapping[str, tuple[str, float, float, int]] | None = None
    at_shares: Mapping[str, tuple[float, float]] | None = None
    compared: int = 0
    horizon: int | None = None
    answers: str | None = None


@dataclass(frozen=True, slots=True)
class Summary:
    """The facts of a run for lists and charts; of each model the primary metric's value, low and high."""

    n: int = 0
    primary_metric: str = ""
    values: Mapping[str, tuple[float | None, float | None, float | None]] | None = None
    models: tuple[str, ...] = ()
    task: str = ""
    headline: str | None = None
    tone: str | None = None
    evidence: Evidence | None = None


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
    converted(parsed, Summary)
    evidence: JsonObject = parsed.get("evidence") or {}
    counts = (evidence.get("look", 0), evidence.get("compared", 0), evidence.get("horizon") or 1)
    if (
        not 0 <= min(counts) <= max(counts) <= MOST_RUNS
        or counts[-1] > LONGEST_YEAR
        or not all(map(_DIGEST.fullmatch, evidence.get("ids", ())))
    ):
        raise ValueError("its evidence is none")
    return {"n": 0, "primary_metric": "", **parsed, "values": parsed.get("values") or {}}
