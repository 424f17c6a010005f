"""Test runs of DeepEval (JSON) -> rows: per test case, one model a file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from evalreport.errors import InputError
from evalreport.imports import table
from evalreport.texts import Message

_EXPECTED = "a test run of DeepEval as JSON: testCases with input and metricsData"


def import_deepeval(
    paths: Sequence[Path], *, models: Sequence[str] = (), metric: str | None = None
) -> table.Imported:
    """Read the test runs of one or more models.

    Parameters
    ----------
    paths
        Test runs, or folders of them (DEEPEVAL_RESULTS_FOLDER); a run's hyperparameter ``model`` names its model, else
        the file does.
    models
        Those to read, also ``FOUND=NAME``; or one name for each path.
    metric
        The metric whose score is the outcome; None: whether the test case passed.

    Raises
    ------
    InputError
        No test run, or no such metric.
    UsageError
        Names that do not fit the models.
    """
    found = [one for place, path in enumerate(paths) for one in _found(place, path)]
    found = table.once(table.named(found, paths, models))
    known = {name for one in found for case in one.source for name in _scores(case)}
    if metric is not None and metric not in known:
        raise InputError(
            f"there is no metric {metric!r}",
            file=str(paths[0]),
            expected=f"one of {', '.join(sorted(known)) or 'no metrics'}",
        )
    rows = [
        table.Row(one.model, _asked(case), {"outcome": _outcome(one.file, case, metric)}, _metadata(case))
        for one in found
        for case in one.source
    ]
    said = [Message("imported.outcome", name=metric or "success")]
    columns = ["input", "expectedOutput", "context"]
    return table.as_table(
        rows, [*table.read_from(found), *said, Message("imported.by_digest", columns=columns)]
    )


def _found(place: int, given: Path) -> Iterator[table.Found[list[table.Record]]]:
    for path in sorted(given.rglob("*.json")) if given.is_dir() else [given]:
        content = table.json_of(path, _EXPECTED)
        cases = content.get("testCases") if isinstance(content, dict) else None
        if not isinstance(cases, list) or not all(isinstance(case, dict) for case in cases):
            raise InputError("no test run", file=str(path), expected=_EXPECTED)
        chosen = content.get("hyperparameters")
        model = chosen.get("model") if isinstance(chosen, dict) else None
        yield table.Found(place, str(model or path.stem), str(path), cases)


def _asked(case: table.Record) -> str:
    """Return what tells a test case from others; its name is only its place."""
    return table.digest([case.get(name) for name in ("input", "expectedOutput", "context")])


def _scores(case: table.Record) -> dict[str, table.Record]:
    data = case.get("metricsData")
    return {
        str(metric["name"]): metric
        for metric in (data if isinstance(data, list) else [])
        if isinstance(metric, dict) and "name" in metric
    }


def _outcome(file: str, case: table.Record, metric: str | None) -> float | None:
    """Return the outcome; None where the judge failed."""
    scores = _scores(case)
    judged = scores.values() if metric is None else [scores[metric]] if metric in scores else []
    if not judged or any(score.get("error") for score in judged):
        return None
    value = case.get("success") if metric is None else scores[metric].get("score")
    return table.judgement_of(value, metric or "success", file)


def _metadata(case: table.Record) -> dict[str, object]:
    """Return the metadata of a test case, and its tags, by their own names."""
    given = case.get("metadata", case.get("additionalMetadata"))
    own: dict[str, object] = dict(given) if isinstance(given, dict) else {}
    tags = case.get("tags")
    if isinstance(tags, list) and tags:
        own.setdefault("tags", ",".join(sorted(map(str, tags))))
    return own
