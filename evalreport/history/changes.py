"""Everything that differs between two results.json, one record for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evalreport.schema.inputs import JsonObject

COST_FIGURES = ("mean", "median", "p95", "sum", "per_success")
"""Figures of a column of costs, as gates spell them: ``cost_mean``."""


@dataclass(frozen=True, slots=True)
class Change:
    """One fact that differs between two runs; None: the run does not have it."""

    kind: str
    what: str
    before: str | float | None
    after: str | float | None


def changes(before: JsonObject, after: JsonObject) -> tuple[Change, ...]:
    """Return the differences between two results.json: data, options, inputs, versions, values, gates, warnings.

    Values are compared as numbers, without a test.

    Examples
    --------
    >>> changes({"n": 500, "options": {"seed": 0}}, {"n": 480, "options": {"seed": 0}})
    (Change(kind='data', what='n', before=500, after=480),)
    """
    differences: list[Change] = []
    for kind, read in READERS:
        old, new = read(before), read(after)
        differing = (name for name in sorted({*old, *new}) if old.get(name) != new.get(name))
        differences += [Change(kind, name, old.get(name), new.get(name)) for name in differing]
    return tuple(differences)


def _data(results: JsonObject) -> JsonObject:
    kept = ("task", "design", "n", "positive", "primary_metric", "baseline")
    facts = {name: results[name] for name in kept if name in results}
    lists = {name: ", ".join(results[name]) for name in ("classes", "models") if name in results}
    return facts | lists


def _options(results: JsonObject) -> JsonObject:
    options: JsonObject = results.get("options", {})
    return {name: _text(value) for name, value in options.items()}


def _inputs(results: JsonObject) -> JsonObject:
    return {row["path"]: f"{row['sha256'][:12]}, {row['rows']} rows" for row in results.get("inputs", ())}


def _values(results: JsonObject) -> JsonObject:
    values = {f"{row['model']}.{_spelled(row)}": row["value"] for row in results.get("metrics", ())}
    for row in results.get("costs", ()):
        inside = _in_slice(row)
        values |= {f"{row['model']}.{row['column']}_{of}{inside}": row[of] for of in COST_FIGURES}
    return values


def _gates(results: JsonObject) -> JsonObject:
    return {row["gate"]: row["outcome"] for row in results.get("gates", ())}


def _warnings(results: JsonObject) -> JsonObject:
    return {f"{row['code']} {_text(row['about'])}".strip(): "raised" for row in results.get("warnings", ())}


READERS = (
    ("data", _data),
    ("option", _options),
    ("input", _inputs),
    ("version", lambda results: dict(results.get("environment", {}))),
    ("value", _values),
    ("gate", _gates),
    ("warning", _warnings),
)


def _spelled(row: JsonObject) -> str:
    """Spell the metric of a record as in a gate, with the slice in brackets."""
    name = f"{row['metric']}_{row['average']}" if row["average"] else str(row["metric"])
    label = "" if row["label"] is None else f"[class={row['label']}]"
    return f"{name}{label}{_in_slice(row)}".replace("][", ",")


def _in_slice(row: JsonObject) -> str:
    return "" if row["slice"] is None else f"[{row['slice']['column']}={row['slice']['value']}]"


def _text(value: object) -> str:
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(map(str, value))
    return str(value)
