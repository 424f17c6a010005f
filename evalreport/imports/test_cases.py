"""Import of test cases of DeepEval (one model for each file) and promptfoo (one for each provider and prompt)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from evalreport.errors import InputError
from evalreport.imports import answers
from evalreport.texts import Message

Cases = list[answers.Record]


def import_deepeval(
    paths: Sequence[Path],
    *,
    models: Sequence[str] = (),
    metric: str | None = None,
    runs: answers.Runs = "only",
) -> answers.Imported:
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
    runs
        Several test runs of one model: refuse, or take the last.

    Raises
    ------
    InputError
        No test run, or no such metric.
    UsageError
        Names that do not fit the models.
    """
    runs_read = answers.chosen(paths, _runs, models, runs=runs)
    known = {name for one in runs_read for case in one.source for name in _metrics(case)}
    if metric is not None and metric not in known:
        raise _no_metric(metric, paths, f"one of {', '.join(sorted(known)) or 'no metrics'}")
    rows = [
        # The name of a case is only its number.
        answers.Row(
            one.model,
            _question(case),
            {"outcome": _passed(one.file, case, metric)},
            _tagged(case),
            None,
            _costs_of_case(case),
            answers.asked_text(case.get("input") or case.get("scenario") or _first_turn(case)),
        )
        for one in runs_read
        for case in one.source
    ]
    several = any("turns" in case for one in runs_read for case in one.source)
    return _judged(runs_read, rows, metric, _OF_CONVERSATIONS if several else _ASKED)


def import_promptfoo(
    paths: Sequence[Path], *, models: Sequence[str] = (), metric: str | None = None
) -> answers.Imported:
    """Read the results of one or more evaluations.

    Parameters
    ----------
    paths
        Results, or folders of them; a model is a provider, or each provider with each prompt where there are several
        prompts.
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
    cases = answers.chosen(paths, _evaluations, models)
    if not cases:
        raise InputError("there are no results", file=str(paths[0]), expected=_RESULTS)
    known = {
        name for one in cases for result in one.source for name in answers.part_of(result, "namedScores")
    }
    if metric is not None and metric != "score" and metric not in known:
        raise _no_metric(metric, paths, f"score, or one of {', '.join(sorted(known)) or 'no named metrics'}")
    rows = [
        answers.Row(
            one.model,
            # A test is identified by its variables and assertions; --repeat leaves no field.
            answers.digest([_case(result).get(name) for name in _TESTED]),
            {"outcome": _met(one.file, result, metric)},
            {**answers.part_of(_case(result), "vars"), **answers.part_of(_case(result), "metadata")},
            None,
            _costs(result),
            _described(_case(result)),
        )
        for one in cases
        for result in one.source
    ]
    imported = _judged(cases, rows, metric, _TESTED)
    errors = sum(_failed(result) for one in cases for result in one.source)
    said = (Message("imported.errors", n=errors),) if errors else ()
    return replace(imported, notes=(*imported.notes, *said))


def _case(result: answers.Record) -> answers.Record:
    return answers.part_of(result, "testCase")


def _no_metric(metric: str, paths: Sequence[Path], known: str) -> InputError:
    return InputError(f"there is no metric {metric!r}", file=str(paths[0]), expected=known)


def _judged(
    found: Sequence[answers.Found[Cases]],
    rows: Sequence[answers.Row],
    metric: str | None,
    told_apart_by: Sequence[str],
) -> answers.Imported:
    said = Message("imported.outcome", name=metric or "success")
    return answers.as_table(
        rows, [*answers.read_from(found), said, Message("imported.by_digest", columns=[*told_apart_by])]
    )


# --- DeepEval -------------------------------------------------------------------------------------------------------

_RUN = "a test run of DeepEval as JSON: testCases or conversationalTestCases, with metricsData"
_ASKED = ("input", "expectedOutput", "context")
_OF_CONVERSATIONS = ("scenario", "expectedOutcome", "userDescription", "context")


def _runs(place: int, given: Path) -> Iterator[answers.Found[Cases]]:
    for path in answers.files_of(given, "*.json", _RUN):
        content = answers.json_of(path, _RUN)
        given_cases = content if isinstance(content, dict) else {}
        kinds = [given_cases.get(name) for name in ("testCases", "conversationalTestCases")]
        cases = [case for kind in kinds if isinstance(kind, list) for case in kind]
        if all(kind is None for kind in kinds) or not all(isinstance(case, dict) for case in cases):
            raise InputError("no test run", file=str(path), expected=_RUN)
        model = answers.part_of(given_cases, "hyperparameters").get("model")
        yield answers.Found(place, str(model or path.stem), str(path), cases, when=path.name)


def _question(case: answers.Record) -> str:
    """Return a digest of what a case asks: of a conversation its scenario, else what the user says in it."""
    if "turns" not in case:
        return answers.digest([case.get(name) for name in _ASKED])
    planned = [case.get(name) for name in _OF_CONVERSATIONS]
    return answers.digest(planned if any(planned) else [turn.get("content") for turn in _of_user(case)])


def _of_user(case: answers.Record) -> list[answers.Record]:
    turns = case.get("turns")
    every = [turn for turn in turns if isinstance(turn, dict)] if isinstance(turns, list) else []
    return [turn for turn in every if turn.get("role") == "user"]


def _first_turn(case: answers.Record) -> object:
    return next((turn.get("content") for turn in _of_user(case)), None)


def _metrics(case: answers.Record) -> dict[str, answers.Record]:
    data = case.get("metricsData")
    metrics = [m for m in data if isinstance(m, dict) and "name" in m] if isinstance(data, list) else []
    return {str(metric["name"]): metric for metric in metrics}


def _passed(file: str, case: answers.Record, metric: str | None) -> float | None:
    """Return the outcome; None: the judge failed."""
    scores = _metrics(case)
    judged = scores.values() if metric is None else [scores[metric]] if metric in scores else []
    if not judged or any(score.get("error") for score in judged):
        return None
    value = case.get("success") if metric is None else scores[metric].get("score")
    return answers.judgement_of(value, metric or "success", file)


def _tagged(case: answers.Record) -> dict[str, object]:
    """Return the metadata and tags of a test case by their names."""
    given = case.get("metadata", case.get("additionalMetadata"))
    own: dict[str, object] = dict(given) if isinstance(given, dict) else {}
    tags = case.get("tags")
    if isinstance(tags, list) and tags:
        own.setdefault("tags", ",".join(sorted(map(str, tags))))
    return own


def _costs_of_case(case: answers.Record) -> dict[str, float | None]:
    """Return what an answer cost, without the judge: as the test case says, else as its trace does."""
    trace = answers.part_of(case, "trace")
    given = trace.get("llmSpans")
    calls = [call for call in given if isinstance(call, dict)] if isinstance(given, list) else []
    cost, latency = answers.cost_of(case.get("tokenCost")), answers.cost_of(case.get("completionTime"))
    tokens = _tokens(case)
    return {
        "cost": _added([_price(call) for call in calls]) if cost is None else cost,
        "latency": _seconds(trace.get("startTime"), trace.get("endTime")) if latency is None else latency,
        "tokens": _added([_tokens(call) for call in calls]) if tokens is None else tokens,
    }


def _tokens(given: answers.Record) -> float | None:
    return _added([answers.cost_of(given.get(name)) for name in ("inputTokenCount", "outputTokenCount")])


def _price(call: answers.Record) -> float | None:
    """Return the tokens of a call times their prices."""
    prices = []
    for side in ("Input", "Output"):
        tokens, price = (
            answers.cost_of(call.get(f"{side.lower()}TokenCount")),
            answers.cost_of(call.get(f"costPer{side}Token")),
        )
        prices.append(None if tokens is None or price is None else tokens * price)
    return _added(prices)


def _added(values: Sequence[float | None]) -> float | None:
    """Return the sum; None where there is nothing, or a part is not known."""
    known = [value for value in values if value is not None]
    return math.fsum(known) if known and len(known) == len(values) else None


def _seconds(start: object, end: object) -> float | None:
    """Return the seconds between two instants of ISO 8601."""
    try:
        return answers.cost_of(
            (datetime.fromisoformat(str(end)) - datetime.fromisoformat(str(start))).total_seconds()
        )
    except (TypeError, ValueError):
        return None


# --- promptfoo ------------------------------------------------------------------------------------------------------

_RESULTS = "results of promptfoo as JSON (promptfoo eval -o results.json): results.results with testCase"
_TESTED = ("vars", "assert")
_ERROR = 2
"""promptfoo's failureReason for a missing answer (0: no failure, 1: an assertion failed)."""


def _evaluations(place: int, given: Path) -> Iterator[answers.Found[Cases]]:
    for path in answers.files_of(given, "*.json", _RESULTS):
        try:
            yield from _by_model(place, path)
        except InputError:
            # A folder of results may hold other JSON, such as a configuration.
            if path == given:
                raise


def _by_model(place: int, path: Path) -> Iterator[answers.Found[Cases]]:
    content = answers.json_of(path, _RESULTS)
    rows = answers.part_of(content, "results").get("results") if isinstance(content, dict) else None
    if not isinstance(rows, list) or not all(isinstance(row, dict) and "testCase" in row for row in rows):
        raise InputError("no results", file=str(path), expected=_RESULTS)
    prompts = {_label(row.get("prompt")) for row in rows}
    columns: dict[str, dict[object, list[answers.Record]]] = {}
    for row in rows:
        provider = _label(row.get("provider"))
        name = provider if len(prompts) == 1 else f"{provider}: {_label(row.get('prompt'))}"
        columns.setdefault(name, {}).setdefault(row.get("promptIdx"), []).append(row)
    # One provider with two configurations and no label: promptfoo shows a column of each.
    for name, own in columns.items():
        for number, index in enumerate(sorted(own, key=_number), start=1):
            yield answers.Found(place, name if len(own) == 1 else f"{name} #{number}", str(path), own[index])


def _number(index: object) -> float:
    return index if isinstance(index, int) else -1


def _label(value: object) -> str:
    """Return the name of a provider or prompt."""
    if not isinstance(value, dict):
        return str(value)
    return str(value.get("label") or value.get("id") or value.get("raw"))


def _failed(result: answers.Record) -> bool:
    """Say whether there was no answer, such as after an error of the API.

    Files of old versions have no failureReason: an error without any grading is one.
    """
    if "failureReason" in result:
        return bool(result["failureReason"] == _ERROR)
    graded = isinstance(result.get("gradingResult"), dict)
    return bool(answers.part_of(result, "response").get("error")) or (
        bool(result.get("error")) and not graded
    )


def _costs(result: answers.Record) -> dict[str, float | None]:
    """Return what an answer cost; nothing of one that failed, or that promptfoo took from its cache for 0."""
    response = answers.part_of(result, "response")
    if _failed(result) or response.get("cached") is True:
        return {}
    usage = answers.part_of(result, "tokenUsage") or answers.part_of(response, "tokenUsage")
    cost = answers.cost_of(result.get("cost"))
    return {
        "cost": answers.cost_of(response.get("cost")) if cost is None else cost,
        "latency": answers.cost_of(result.get("latencyMs"), 1000),
        "tokens": answers.cost_of(usage.get("total")),
    }


def _described(case: answers.Record) -> str | None:
    """Return what a test asks: its description, else its variables."""
    if isinstance(case.get("description"), str) and case["description"]:
        return str(case["description"])
    variables = answers.part_of(case, "vars")
    if len(variables) == 1:
        return str(next(iter(variables.values())))
    return "; ".join(f"{name}: {value}" for name, value in variables.items()) or None


def _met(file: str, result: answers.Record, metric: str | None) -> float | None:
    """Return the outcome of a test; None: there was no answer."""
    if _failed(result):
        return None
    scores = result if metric in (None, "score") else answers.part_of(result, "namedScores")
    name = metric or "success"
    return answers.judgement_of(scores.get(name), name, file)
