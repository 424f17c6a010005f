"""Results of promptfoo (``results.json``) -> rows: per test, provider and prompt."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from evalreport.errors import InputError
from evalreport.imports import table
from evalreport.texts import Message

_EXPECTED = "results of promptfoo as JSON (promptfoo eval -o results.json): results.results with testCase"
_ERROR = 2
"""promptfoo's failureReason where there is no answer to judge (0: none, 1: an assertion failed)."""


def import_promptfoo(
    paths: Sequence[Path], *, models: Sequence[str] = (), metric: str | None = None
) -> table.Imported:
    """Read the results of one or more evaluations.

    Parameters
    ----------
    paths
        Results; a model is a provider, or each provider with each prompt where there are several prompts.
    models
        Those to read, also ``FOUND=NAME``; or one name for each path.
    metric
        The outcome: ``score``, or a named metric of the assertions; None: whether the test passed.

    Raises
    ------
    InputError
        No results, or no such metric.
    UsageError
        Names that do not fit the models.
    """
    found = [
        table.Found(place, model, str(path), (path, results))
        for place, path in enumerate(paths)
        for model, results in _by_model(path).items()
    ]
    found = table.once(table.named(found, paths, models))
    known = {name for one in found for result in one.source[1] for name in _named_scores(result)}
    if metric is not None and metric != "score" and metric not in known:
        raise InputError(
            f"there is no metric {metric!r}",
            file=str(paths[0]),
            expected=f"score, or one of {', '.join(sorted(known)) or 'no named metrics'}",
        )
    rows = [
        table.Row(
            one.model, _asked(result), {"outcome": _outcome(one.source[0], result, metric)}, _metadata(result)
        )
        for one in found
        for result in one.source[1]
    ]
    said = Message("imported.outcome", name=metric or "success")
    return table.as_table(
        rows, [*table.read_from(found), said, Message("imported.by_digest", columns=["vars", "assert"])]
    )


def _by_model(path: Path) -> dict[str, list[table.Record]]:
    content = table.json_of(path, _EXPECTED)
    results = content.get("results") if isinstance(content, dict) else None
    rows = results.get("results") if isinstance(results, dict) else None
    if not isinstance(rows, list) or not all(isinstance(row, dict) and "testCase" in row for row in rows):
        raise InputError("no results", file=str(path), expected=_EXPECTED)
    prompts = {_label(row.get("prompt")) for row in rows}
    models: dict[str, list[table.Record]] = {}
    for row in rows:
        provider = _label(row.get("provider"))
        name = provider if len(prompts) == 1 else f"{provider}: {_label(row.get('prompt'))}"
        models.setdefault(name, []).append(row)
    return models


def _label(value: object) -> str:
    """Return the name of a provider or prompt."""
    if not isinstance(value, dict):
        return str(value)
    return str(value.get("label") or value.get("id") or value.get("raw"))


def _test(result: table.Record) -> table.Record:
    test = result["testCase"]
    return test if isinstance(test, dict) else {}


def _asked(result: table.Record) -> str:
    """Return what tells a test from others: its variables and assertions; --repeat leaves no field."""
    test = _test(result)
    return table.digest([test.get("vars"), test.get("assert")])


def _named_scores(result: table.Record) -> table.Record:
    scores = result.get("namedScores")
    return scores if isinstance(scores, dict) else {}


def _outcome(path: Path, result: table.Record, metric: str | None) -> float | None:
    """Return the outcome of a test; None where there was no answer to judge."""
    scores = result if metric in (None, "score") else _named_scores(result)
    name = metric or "success"
    return (
        None
        if result.get("failureReason") == _ERROR
        else table.judgement_of(scores.get(name), name, str(path))
    )


def _metadata(result: table.Record) -> dict[str, object]:
    """Return a test's variables and metadata, by their own names."""
    parts = (_test(result).get("vars"), _test(result).get("metadata"))
    return {name: value for part in parts if isinstance(part, dict) for name, value in part.items()}
