"""What scikit-learn's cross-validation and searches return, as columns of scores."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import cast

import numpy as np

from evalreport.errors import InputError
from evalreport.predictions.arrays import Indices, Mask
from evalreport.predictions.column_names import LONE_PROBABILITIES, spellings, usual_case
from evalreport.schema.inputs import FoundRecord, JsonObject
from evalreport.texts import Message, quoted

_SPLIT = re.compile(r"split(\d+)_test_(\w+)", re.ASCII)


Scored = JsonObject
"""What scikit-learn returns: arrays and lists by name."""


Splits = list[tuple[Indices, Indices]]
"""Rows of training and of testing, a pair for each split."""


_TIMES = frozenset(("fit_time", "score_time"))


def as_fold_scores(source: object, value: str | None) -> tuple[object, str | None, tuple[FoundRecord, ...]]:
    """Turn ``cv_results_`` of a search, or what ``cross_validate`` returned, into one mapping of columns a model.

    Parameters
    ----------
    source
        Either of the two, or a mapping of names to them; anything else is returned as it is.
    value
        The scorer where there are several, such as ``test_f1_macro``.

    Returns
    -------
    source, value, found
        The mapping, and the column of the scores in it (``test_`` and the scorer's name), None where the source was
        neither. Candidates of a search are named by their parameters. Other columns: ``fold``, and of
        ``cross_validate`` also ``repeat`` (where the splits are repeated) and the sizes that the corrected test
        asks for. Of a search also which candidates were left out: those of earlier iterations of a halving search, and
        those without any score.

    Raises
    ------
    InputError
        Where several scorers were used and none is named, or no candidate of a search has a score.
    """
    notes: list[FoundRecord] = []
    if _is_search(source):
        return *_with_value(_candidates(cast(Scored, source), "<cv_results_>", value, notes)), tuple(notes)
    if _is_cross_validation(source):
        return *_with_value({"model": _folds(cast(Scored, source), "<cross_validate>", value)}), ()
    if not isinstance(source, Mapping) or not source:
        return source, None, ()
    if not all(_is_search(own) or _is_cross_validation(own) for own in source.values()):
        return source, None, ()
    scores: dict[str, dict[str, object]] = {}
    splits: dict[str, Splits] = {}
    results = cast(Scored, source)
    for name, result in results.items():
        if _is_search(result):
            candidates = _candidates(result, f"<{name}>", value, notes)
            scores |= {f"{name}: {own}": columns for own, columns in candidates.items()}
        else:
            scores[str(name)] = _folds(result, f"<{name}>", value)
            splits[str(name)] = _splits(result)
    _refuse_other_splits(splits)
    return *_with_value(scores), tuple(notes)


def _with_value(found: Mapping[str, dict[str, object]]) -> tuple[object, str | None]:
    """Return the columns of the models, and which of them holds the scores: the first.

    Raises
    ------
    InputError
        Where models were scored by different scorers.
    """
    scorers = {next(iter(columns)): name for name, columns in found.items()}
    if len(scorers) > 1:
        names = ", ".join(f"{scorer} of {quoted(name)}" for scorer, name in scorers.items())
        raise InputError.of("several_scorers", names=names)
    return found, next(iter(scorers), None)


def score_arrays(source: object) -> dict[str, dict[str, object]] | None:
    """Turn arrays of scores by name, as ``cross_val_score`` returns them, into columns of folds; None: they are none.

    They are arrays of finite numbers with decimals, of one length and under no name that a column has.
    """
    if not isinstance(source, Mapping) or not source:
        return None
    scores: dict[str, dict[str, object]] = {}
    for name, given in source.items():
        values = np.asarray(given) if isinstance(given, (np.ndarray, list, tuple)) else np.empty(0, object)
        numbers = values.ndim == 1 and values.dtype.kind == "f"
        if not numbers or usual_case(str(name)) in (*spellings(), *LONE_PROBABILITIES):
            return None
        scores[str(name)] = {"value": values, "fold": list(map(str, range(len(values))))}
    alike = {len(cast(np.ndarray, columns["value"])) for columns in scores.values()}
    whole = all(np.isfinite(cast(np.ndarray, columns["value"])).all() for columns in scores.values())
    return scores if len(alike) == 1 and 2 <= min(alike) <= MOST_FOLDS and whole else None


MOST_FOLDS = 1_000


def _is_search(value: object) -> bool:
    names = _names(value)
    return "params" in names and any(_SPLIT.fullmatch(name) for name in names)


def _is_cross_validation(value: object) -> bool:
    names = _names(value)
    return names >= _TIMES and any(name.startswith("test_") for name in names)


def _names(value: object) -> set[str]:
    if isinstance(value, Mapping):
        return set(map(str, value))
    columns = getattr(value, "columns", ()) if type(value).__name__ == "DataFrame" else ()
    return set(map(str, columns))


def _candidates(
    results: Scored, name: str, named: str | None, notes: list[FoundRecord]
) -> dict[str, dict[str, object]]:
    splits = [match for header in _names(results) if (match := _SPLIT.fullmatch(header))]
    scorer = _scorer({match[2] for match in splits}, name, named)
    numbers = sorted({int(match[1]) for match in splits})
    values = np.array([results[f"split{number}_test_{scorer}"] for number in numbers], dtype=np.float64)
    params = list(results["params"])
    last = _last_iteration(results)
    if not last.all():
        iteration = int(np.max(np.asarray(results["iter"])))
        counts = {"last": iteration, "kept": int(last.sum()), "total": len(last)}
        notes.append(_left_out(Message("found.last_iteration", name=name, **counts)))
    failed: list[str] = []
    candidates: dict[str, dict[str, object]] = {}
    for position in np.flatnonzero(last).tolist():
        name_of = ", ".join(f"{key}={value}" for key, value in params[position].items())
        name_of = name_of or "default parameters"
        own = name_of if name_of not in candidates else f"{name_of} ({position + 1})"
        if np.isnan(values[:, position]).all():
            failed.append(own)
            continue
        candidates[own] = {f"test_{scorer}": values[:, position], "fold": [str(number) for number in numbers]}
    if failed and not candidates:
        raise InputError.of("no_candidate", file=name, n=len(failed))
    if failed:
        notes.append(_left_out(Message("found.failed_candidates", name=name, n=len(failed), models=failed)))
    return candidates


def _last_iteration(results: Scored) -> Mask:
    """Say which candidates reached the last iteration of a halving search; all of any other search."""
    names = _names(results)
    if not {"iter", "n_resources"} <= names:
        return np.ones(len(results["params"]), dtype=np.bool_)
    iterations = np.asarray(results["iter"])
    return np.asarray(iterations == iterations.max(), dtype=np.bool_)


def _left_out(why: Message) -> FoundRecord:
    return FoundRecord(what="candidates", value=Message("found.some_candidates"), why=why)


def _folds(results: Scored, name: str, named: str | None) -> dict[str, object]:
    scored = {header.removeprefix("test_") for header in results if header.startswith("test_")}
    scorer = _scorer(scored, name, named)
    values = np.asarray(results[f"test_{scorer}"], dtype=np.float64)
    splits = _splits(results)
    if not splits:  # without the sizes of the folds, which a caution says
        return {f"test_{scorer}": values, "fold": list(map(str, range(len(values))))}
    columns: dict[str, object] = {
        f"test_{scorer}": values,
        "train_size": [len(train) for train, _ in splits],
        "test_size": [len(test) for _, test in splits],
    }
    position = _repeats_and_folds([test for _, test in splits])
    if position is None:
        return columns | {"repeat": list(map(str, range(len(splits))))}
    repeats, folds = zip(*position, strict=True)
    return columns | {"repeat": list(map(str, repeats)), "fold": list(map(str, folds))}


def _splits(results: Scored) -> Splits:
    indices = results.get("indices")
    return [] if indices is None else list(zip(indices["train"], indices["test"], strict=True))


def _repeats_and_folds(tests: Sequence[Indices]) -> list[tuple[int, int]] | None:
    """Return the repeat and the fold of each split; None where the splits are not divisions of the examples."""
    n = len(np.unique(np.concatenate(tests)))
    position: list[tuple[int, int]] = []
    seen: set[int] = set()
    repeat = fold = 0
    for test in tests:
        own = {int(row) for row in test}
        if own & seen:
            return None
        seen |= own
        position.append((repeat, fold))
        fold += 1
        if len(seen) == n:
            seen, repeat, fold = set(), repeat + 1, 0
    return None if seen else position


def _scorer(names: set[str], file: str, named: str | None) -> str:
    """Return the one scorer, or the one that ``value`` names."""
    scorer = (named or "").removeprefix("mean_").removeprefix("test_")
    if scorer in names:
        return scorer
    if len(names) == 1 and named is None:
        return next(iter(names))
    code, every = "no_such_scorer" if named else "which_scorer", ", ".join(f"test_{n}" for n in sorted(names))
    raise InputError.of(code, file=file, named=repr(named), names=every, value=repr(f"test_{min(names)}"))


def _refuse_other_splits(splits: Mapping[str, Splits]) -> None:
    """Refuse scores of folds that are not the same for all models: they are compared fold by fold."""
    known = {name: own for name, own in splits.items() if own}
    first = next(iter(known), "")
    for name, own in known.items():
        same = len(own) == len(splits[first]) and all(
            np.array_equal(a[1], b[1]) for a, b in zip(own, splits[first], strict=True)
        )
        if not same:
            raise InputError.of("other_splits", file=f"<{name}>", first=first)
