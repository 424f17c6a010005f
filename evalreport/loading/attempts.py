"""Repeated attempts at a question: outcomes are averaged by question, labels stay rows of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evalreport.loading.loaded import Loaded
from evalreport.loading.parsing import Parsed, require_zero_wrong
from evalreport.loading.repeated import differing, numbered_units, one_of_each, refuse_differing, repeated
from evalreport.loading.rows import Rows, as_metadata, fault, location_of, some_rows
from evalreport.loading.task import FoundTask
from evalreport.options import Options
from evalreport.predictions.arrays import Arrow, Floats, Indices, Mask
from evalreport.predictions.cells import (
    category_column,
    combined,
    dictionary_codes,
    flags,
    from_numpy,
    from_texts,
)
from evalreport.predictions.table import Attempts, ModelOutputs, Notes, SingleAnswers
from evalreport.schema.inputs import FoundRecord
from evalreport.schema.warnings import WarningRecord, warning
from evalreport.texts import Message, quoted

ATTEMPT = "attempt"
_OF_A_CURVE = ("train_size", "complexity")
_OF_OTHER_DESIGNS = ("dataset", "repeat", "fold", "replicate", "seed", "inner_fold", *_OF_A_CURVE)


@dataclass(frozen=True, slots=True)
class Answers:
    """The rows after their attempts are settled, their parsed cells, the attempts at each (None: one), all answers."""

    rows: Rows
    parsed: Parsed
    attempts: Attempts | None = None
    single: SingleAnswers | None = None
    notes: Notes = field(default_factory=Notes)


def with_attempts(models: Sequence[ModelOutputs], loaded: Loaded) -> tuple[ModelOutputs, ...]:
    """Give each model its attempts and answers, in the order of the cells; none where it lacks the cell."""
    found = []
    for model, index in zip(models, loaded.alignment.rows, strict=True):
        attempts = None if loaded.attempts is None else loaded.attempts.with_none().of(index)
        answers = None if loaded.answers is None else loaded.answers.of(index).given()
        found.append(replace(model, attempts=attempts, answers=answers))
    return tuple(found)


def settle_attempts(rows: Rows, task: FoundTask, parsed: Parsed, options: Options) -> Answers:
    """Average the outcomes of each question's attempts, model by model; keep the attempts of anything else as rows.

    The numbers of attempts have no meaning across models: what one calls attempt 3 is not paired with another's. Where
    no model answers a question more than once, the column is metadata like any other.

    Returns
    -------
    Answers
        Outcomes: one row a model and question (and fit). Else: all rows, their attempts numbered from 1.

    Raises
    ------
    InputError
        Where an attempt appears twice, the column of an option differs between the attempts of a question, or labels or
        numbers have different numbers of attempts or another design than one test set.
    """
    single = SingleAnswers(np.arange(rows.n), None, parsed.costs) if parsed.costs else None
    if ATTEMPT not in rows.columns:
        return Answers(rows, parsed, None, single)
    if rows.ids is None:
        return Answers(as_metadata(rows, ATTEMPT), parsed, None, single)
    question = numbered_units(rows, without=(ATTEMPT,), numbers=_OF_A_CURVE)
    attempt = dictionary_codes(category_array(rows.columns[ATTEMPT])) + 1
    counts = np.bincount(question)
    _refuse_twice(rows, question, attempt)
    if counts.max() == 1:
        return Answers(as_metadata(rows, ATTEMPT), parsed, None, single)
    refuse_differing(rows, question, options, "differs_between_attempts")
    if task.task == "outcome":
        return _averaged(rows, question, parsed, options)
    return replace(_numbered(rows, question, attempt, counts, parsed), single=single)


def category_array(array: Arrow) -> pa.DictionaryArray:
    """Return a dictionary column whose codes are in the order of the categories."""
    column = category_column(combined(array))
    codes = column.values
    return pa.DictionaryArray.from_arrays(from_numpy(codes, codes >= 0), from_texts(column.categories or ()))


def _refuse_twice(rows: Rows, question: Indices, attempt: npt.NDArray[np.int32]) -> None:
    """Name the first row whose attempt of its question has stood before."""
    again, before = repeated(question * (int(attempt.max()) + 1) + attempt)
    if not len(again):
        return
    row = int(again[0])
    name = rows.columns[ATTEMPT][row].as_py()
    which = "the same attempt" if name is None else f"the attempt {quoted(name)}"
    there = location_of(rows, int(before[row]))
    raise fault(rows, row, ATTEMPT, "attempt_twice", count=len(again), which=which, before=there)


# --- outcomes: one row a question -------------------------------------------------------------------------------------


def _averaged(rows: Rows, question: Indices, parsed: Parsed, options: Options) -> Answers:
    assert parsed.outcome is not None
    values_given, in_use, warnings = _given(rows, parsed.outcome, options)
    # In the order of the values, so that the order of the rows moves no last digit.
    order = np.lexsort((values_given, question))
    group, values, used = question[order], values_given[order], in_use[order]

    def total(of: Floats) -> Floats:
        return np.bincount(group, weights=np.where(used, of, 0.0)).astype(np.float64)

    count = total(np.ones_like(values))
    with np.errstate(invalid="ignore"):
        mean = total(values) / count
    graded = values[used & ~np.isnan(values)]
    passed = total(values) if np.isin(graded, (0.0, 1.0)).all() else None
    attempts = Attempts(count=count, spread=total((values - mean[group]) ** 2), passed=passed)
    kept = one_of_each(question, np.isnan(parsed.outcome) & np.isnan(mean)[question])
    place = question[kept]
    gold = parsed.gold
    people, found = ({}, ()) if gold is None else _by_people(question, gold, values_given, in_use, mean)
    unlike = [name for name in rows.metadata if len(differing(rows, name, question))]
    left = replace(rows, metadata={n: a for n, a in rows.metadata.items() if n not in unlike})
    without = {name: array for name, array in rows.columns.items() if name != ATTEMPT}
    least, most = int(count[count > 0].min(initial=np.inf)), int(count.max())
    if unlike:
        names = tuple(sorted(unlike))
        differ = warning("column_differs_between_attempts", about=names, n=len(names), columns=names)
        warnings = (*warnings, differ)
    if least < most:
        warnings = (*warnings, warning("unlike_attempts", least=least, most=most))
    gold, by_people, by_judge = (
        people[name][place] if name in people else None for name in ("gold", "by_people", "by_judge")
    )
    return Answers(
        some_rows(replace(left, columns=without), kept),
        replace(parsed, outcome=mean[place], gold=gold, by_people=by_people, by_judge=by_judge),
        attempts.of(place),
        _single_answers(question, kept, in_use, {"": values_given, **parsed.costs}),
        Notes((_attempts_found(least, most), *found), warnings),
    )


def _single_answers(
    question: Indices, kept: Indices, used: Mask, columns: Mapping[str, Floats]
) -> SingleAnswers:
    """Return the answers of each question's row in the order of their outcomes and costs; "" is the outcome."""
    row_of_question = np.empty(len(kept), dtype=np.int64)
    row_of_question[question[kept]] = np.arange(len(kept))
    row = row_of_question[question]
    order = np.lexsort((*reversed(list(columns.values())), row))
    order = order[used[order]]
    taken = {name: values[order] for name, values in columns.items()}
    return SingleAnswers(row[order], taken.pop(""), taken)


def _by_people(
    question: Indices, gold: Floats, outcome: Floats, used: Mask, mean: Floats
) -> tuple[dict[str, Floats], tuple[FoundRecord, ...]]:
    """Return people's outcomes by question, nan where they judged no attempt at it, by their names in ``Parsed``.

    Where they judged some of the attempts their labels count for these: the question's outcome by people is the judge's
    mean over all attempts, put right by people's mean less the judge's over the attempts that people judged.
    """
    known = used & ~np.isnan(gold) & ~np.isnan(outcome)
    judged, count = np.bincount(question, weights=known), np.bincount(question, weights=used)

    def over_judged(values: Floats) -> Floats:
        # In the order of the values, so that the order of the rows moves no last digit.
        order = np.lexsort((values, question))
        total = np.bincount(question[order], weights=np.where(known, values, 0.0)[order])
        with np.errstate(invalid="ignore"):
            return np.asarray(np.where(judged > 0, total / judged, np.nan))

    by_people = over_judged(gold)
    partly = int(((judged > 0) & (judged < count)).sum())
    if not partly:
        return {"gold": by_people}, ()
    by_judge = over_judged(outcome)
    every = judged == count
    corrected = np.where(every, by_people, mean + (by_people - by_judge))
    value, why = Message("found.gold_of_attempts.value", n=partly), Message("found.gold_of_attempts.why")
    people = {"gold": corrected, "by_people": by_people, "by_judge": by_judge}
    return people, (FoundRecord(what="gold", value=value, why=why),)


def _given(rows: Rows, outcome: Floats, options: Options) -> tuple[Floats, Mask, tuple[WarningRecord, ...]]:
    """Settle empty outcomes: return the values, which of them count, and the warnings.

    One that is refused stays empty, and so makes its question's mean empty, which is refused where all empty cells are;
    a question without any attempt left is dropped there for every model.
    """
    empty = np.isnan(outcome)
    silent = np.bincount(rows.model, weights=~empty, minlength=len(rows.models)) == 0
    empty &= ~silent[rows.model]
    all_used = np.ones(len(outcome), dtype=np.bool_)
    lacking = np.bincount(rows.model, weights=empty).astype(int).tolist()
    counts = {model: n for model, n in zip(rows.models, lacking, strict=True) if n}
    n, why = sum(counts.values()), tuple(f"{model}: {n}" for model, n in counts.items())
    if options.missing == "refuse" or not counts:
        return outcome, all_used, ()
    if options.missing == "drop":
        note = warning("attempts_left_out", about=tuple(counts), total=len(outcome), n=n, why=why)
        return outcome, ~empty, (note,)
    require_zero_wrong(outcome, options)
    note = warning("missing_is_wrong", about=tuple(counts), n=n, why=why)
    return np.where(empty, 0.0, outcome), all_used, (note,)


def _attempts_found(least: int, most: int, why: str = "found.attempts.why") -> FoundRecord:
    value = Message("found.attempts.alike", most=most)
    value = value if least == most else Message("found.attempts.unlike", least=least, most=most)
    return FoundRecord(what="attempts", value=value, why=Message(why), details={"least": least, "most": most})


# --- labels, probabilities, numbers: rows of their own ---------------------------------------------------------------


def _numbered(
    rows: Rows, question: Indices, attempt: npt.NDArray[np.int32], counts: Indices, parsed: Parsed
) -> Answers:
    """Number the attempts at each question from 1, so that they match across models."""
    _refuse_unequal(rows, question, counts)
    order = np.lexsort((attempt, question))
    number = np.empty(rows.n, dtype=np.int64)
    number[order] = np.arange(rows.n) % counts[0]
    names = pa.array([str(n + 1) for n in range(int(counts[0]))], pa.string())
    column = pa.DictionaryArray.from_arrays(pa.array(number.astype(np.int32)), names)
    note = _attempts_found(int(counts[0]), int(counts[0]), "found.attempts.rows")
    numbered_rows = replace(rows, columns={**rows.columns, ATTEMPT: column})
    return Answers(numbered_rows, parsed, notes=Notes((note,)))


def _refuse_unequal(rows: Rows, question: Indices, counts: Indices) -> None:
    """Refuse attempts that only outcomes can average.

    Raises
    ------
    InputError
        Unlike numbers of attempts, or another design than one test set.
    """
    instead = (
        "write how well each answer did as the column outcome (1 where it is right, else 0; or minus its loss), without"
        " predictions: outcomes are averaged question by question"
    )
    for name in _OF_OTHER_DESIGNS:
        if name in rows.columns and len(rows.columns[name].drop_null().unique()) > 1:
            row = int(np.argmin(flags(rows.columns[name].is_null())))
            raise fault(
                rows,
                row,
                name,
                "attempts_of_fits",
                problem=f"there are several attempts at a question, and several values of {name}",
                remedy=instead,
            )
    if counts.min() == counts.max():
        return
    row = int(np.flatnonzero(counts[question] < counts.max())[0])
    n = int(counts[question[row]])
    often = {"how_often": _times(n), "most_often": _times(int(counts.max())), "remedy": instead}
    raise fault(rows, row, "id", "unlike_attempts", count=int((counts < counts.max()).sum()), **often)


def _times(n: int) -> str:
    return {1: "once", 2: "twice"}.get(n, f"{n} times")
