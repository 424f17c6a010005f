"""All audits of a series in the order of time: what each said of every model, and the limits of a control chart.

The limits are those of a single audit. Around the accepted value c they lie three standard errors away, and count what
both runs do not know: c - k sqrt((c - l_a)^2 + (u - v)^2) and c + k sqrt((u_a - c)^2 + (v - l)^2), with l_a, u_a the
accepted run's interval, l, u that of the audit around its value v, and k = 3 / z for intervals at the level of z. That
is the interval of a difference of independent samples by square and add (Zou and Donner 2008), turned round: a value
lies outside where that interval, three standard errors wide, does not hold 0. They count sampling alone: where nights
differ in themselves, more audits lie outside.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import NormalDist
from typing import Any, cast

from evalreport.audit.connection import History
from evalreport.audit.gates import parse
from evalreport.audit.store import Run, Standing, acceptances, results_of, runs, standing
from evalreport.errors import UsageError
from evalreport.keys import Task
from evalreport.metrics.quantities import definition
from evalreport.metrics.quantities import parse as parse_metric
from evalreport.plots.control import Look

STANDARD_ERRORS = 3.0
Values = Mapping[str, Sequence[float | None]]


@dataclass(frozen=True, slots=True)
class Track:
    """One model over all audits; ``other`` counts those whose primary metric was another one."""

    model: str
    metric: str
    looks: tuple[Look, ...]
    other: int


@dataclass(frozen=True, slots=True)
class Audit:
    """One audit as a line of the table.

    Attributes
    ----------
    gates
        Outcome and text of every gate that did not pass.
    alarms
        What the audit asked and found alarming, in words.
    passed
        How many gates passed.
    digest
        SHA-256 of its results.json.
    """

    run: Run
    accepted: bool
    last: bool
    gates: tuple[tuple[str, str], ...]
    passed: int
    alarms: tuple[str, ...]
    digest: str


@dataclass(frozen=True, slots=True)
class Timeline:
    """One series: its audits in the order of time, and every model's track."""

    series: str
    metric: str
    level: float
    audits: tuple[Audit, ...]
    tracks: tuple[Track, ...]


def timelines(history: History, series: str | None = None) -> list[Timeline]:
    """Return every series of a history (or one), by name.

    Raises
    ------
    UsageError
        There is no run (of that series).
    HistoryError
        The history cannot be read, or is damaged.
    """
    found = runs(history, series)
    if not found:
        which = "" if series is None else f" of the series {series!r}"
        raise UsageError(f"{history.name} holds no run{which}; `evalreport history list` shows the runs")
    names = sorted({run.series for run in found})
    return [_timeline(history, name, [run for run in found if run.series == name]) for name in names]


def _timeline(history: History, series: str, own: Sequence[Run]) -> Timeline:
    own = sorted(own, key=lambda run: (run.time, run.id))
    stands = standing(history, series)
    audits, notes = [], {}
    for run in own:
        data = results_of(history, run.id)
        notes[run.id] = _kept(json.loads(data))
        digest = hashlib.sha256(data).hexdigest()
        audits.append(_audit(run, notes[run.id], digest, stands))
    pinned = {pin.run_id for pin in acceptances(history, series)}
    newest = own[-1].summary
    metric = str(newest["primary_metric"])
    models = sorted({model for run in own for model in run.summary["models"]})
    level = notes[own[-1].id]["level"]
    edges = _edges(metric, str(newest["task"]), tuple(notes[own[-1].id]["classes"]))
    tracks = (_track(model, metric, edges, own, notes, pinned) for model in models)
    return Timeline(series, metric, level, tuple(audits), tuple(t for t in tracks if t.looks))


def _kept(content: Mapping[str, Any]) -> dict[str, Any]:
    """Keep what the page needs of a results.json: a year of them whole would fill the memory."""
    return {
        "level": float(content["options"].get("confidence", 0.95)),
        "models": content["models"],
        "classes": content["classes"],
        "gates": content.get("gates", ()),
        "alarms": [row for row in content.get("audit", ()) if row["alarm"]],
        "warnings": [row["text"] for row in content.get("warnings", ()) if row["code"] in ALARMING],
    }


def _audit(run: Run, note: Mapping[str, Any], digest: str, stands: Standing) -> Audit:
    gates = note["gates"]
    return Audit(
        run=run,
        accepted=run.id in stands.nights,
        last=stands.last == run.id,
        gates=tuple((g["outcome"], f"{g['gate']}: {g['text']}") for g in gates if g["outcome"] != "pass"),
        passed=sum(g["outcome"] == "pass" for g in gates),
        alarms=tuple(note["warnings"]),
        digest=digest,
    )


ALARMING = ("worse_than_accepted", "slice_fell", "data_changed")
"""The warnings by which an audit says what it found alarming."""


def _track(
    model: str,
    metric: str,
    edges: tuple[float, float],
    own: Sequence[Run],
    notes: Mapping[int, Mapping[str, Any]],
    pinned: set[int],
) -> Track:
    """Follow one model over the runs whose primary metric is the newest run's."""
    with_model = [run for run in own if model in run.summary["values"]]
    same = [run for run in with_model if run.summary["primary_metric"] == metric]
    by_id = {run.id: run for run in same}
    looks = []
    for run in same:
        note = notes[run.id]
        # The first run of a series is compared with nothing: it is itself what later ones are compared with.
        reference = by_id.get(run.id if run.accepted_run is None else run.accepted_run)
        centre, lower, upper = _limits(run, reference, model, note["level"])
        outcomes = {g["outcome"] for g in note["gates"] if _concerns(g["gate"], model, note["models"])}
        alarms = note["alarms"]
        value, low, high = run.summary["values"][model]
        looks.append(
            Look(
                time=datetime.fromisoformat(run.time),
                value=value,
                low=low,
                high=high,
                centre=centre,
                lower=None if lower is None else max(lower, edges[0]),
                upper=None if upper is None else min(upper, edges[1]),
                accepted=run.id in pinned,
                failed="fail" in outcomes,
                undecided="undecided" in outcomes,
                alarm=any(row["question"] == "worse" and row["about"] == model for row in alarms),
                data=any(row["question"] not in ("worse", "worse_this_run", "slice") for row in alarms),
            )
        )
    return Track(model, metric, tuple(looks), len(with_model) - len(same))


def _edges(metric: str, task: str, classes: tuple[str, ...]) -> tuple[float, float]:
    """Return the least and the greatest value that the metric can have."""
    try:
        found = definition(parse_metric(metric, cast(Task, task), classes))
    except UsageError:
        return -math.inf, math.inf  # of a newer version: nothing is cut
    return (found.binary_range or found.range) if task == "binary" else found.range


def _limits(
    run: Run, reference: Run | None, model: str, level: float
) -> tuple[float | None, float | None, float | None]:
    """Return the accepted value and the limits of this run around it; None where something of it is missing."""
    if reference is None:
        return None, None, None
    c, low, high = reference.summary["values"][model]
    if reference.id == run.id or None in (c, low, high, *run.summary["values"][model]):
        return c, None, None
    value, own_low, own_high = run.summary["values"][model]
    return (c, *limits_around((c, low, high), (value, own_low, own_high), level=level))


def limits_around(
    accepted: tuple[float, float, float], audit: tuple[float, float, float], *, level: float
) -> tuple[float, float]:
    """Return the limits of one audit around the accepted value.

    Parameters
    ----------
    accepted, audit
        Value, low and high of either run, at the confidence level.

    Examples
    --------
    Two runs of standard error 0.01 each: 3 sqrt(2) 0.01 on either side.

    >>> z = 1.959963984540054
    >>> run = (0.9, 0.9 - z * 0.01, 0.9 + z * 0.01)
    >>> [round(x, 6) for x in limits_around(run, run, level=0.95)]
    [0.857574, 0.942426]
    """
    c, low, high = accepted
    value, own_low, own_high = audit
    k = STANDARD_ERRORS / NormalDist().inv_cdf(0.5 + level / 2)
    return c - k * math.hypot(c - low, own_high - value), c + k * math.hypot(high - c, value - own_low)


def _concerns(gate: str, model: str, models: Sequence[str]) -> bool:
    """Say whether a gate is about the model, or about the whole run."""
    try:
        terms = parse(gate, models=models).terms
    except UsageError:
        return True  # a newer version's spelling: better marked than missed
    return not terms or any(term.model == model for term in terms)
