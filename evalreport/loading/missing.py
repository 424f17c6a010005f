"""Empty cells of predictions and true values: refused, left out or counted as wrong."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from evalreport.engine.blocks import looked_up
from evalreport.errors import InputError, UsageError, refuse_all, together
from evalreport.loading.alignment import Alignment, used_ids
from evalreport.loading.loaded import Loaded
from evalreport.loading.parsing import Parsed, require_zero_wrong
from evalreport.loading.rows import Rows, cell_of, fault
from evalreport.options import Options
from evalreport.predictions.arrays import Mask, Values
from evalreport.predictions.numbers import member_of
from evalreport.predictions.table import Notes
from evalreport.schema.inputs import FlowRecord
from evalreport.schema.warnings import warning


@dataclass(frozen=True, slots=True)
class _Gap:
    """The cells (C,) in which a model's column is empty, though it is given in others."""

    model: int
    column: str
    cells: Mask


def settle_missing(loaded: Loaded, options: Options) -> Loaded:
    """Refuse empty cells of predictions and true values, leave out their examples, or count them as wrong.

    Parameters
    ----------
    options
        ``missing``: refuse; drop (the example is left out for every model, also one without a true value); wrong (an
        outcome within [0, 1] becomes 0, a label one outside all classes).

    Raises
    ------
    InputError
        By ``refuse``: each model's first gap, with how many there are.
    UsageError
        By ``wrong``, where an empty cell cannot be counted as wrong.
    """
    gaps = list(_gaps(loaded))
    if options.missing == "drop":
        gaps += _gaps_of_costs(loaded)
    absent = np.zeros(0, dtype=np.bool_) if loaded.y_true is None else _empty(loaded.y_true)
    if options.missing == "refuse" or not (gaps or absent.any()):
        errors = [_refused(loaded, gap) for gap in gaps]
        with together(errors):
            _refuse_absent(loaded, absent)
        refuse_all(errors)
        return loaded
    if options.missing == "wrong":
        _refuse_absent(loaded, absent)
        return _counted_as_wrong(loaded, gaps, options)
    return _left_out(loaded, gaps, absent)


def _empty(values: Values) -> Mask:
    return np.asarray(values < 0 if values.dtype.kind == "i" else np.isnan(values), dtype=np.bool_)


def _gaps(loaded: Loaded) -> Iterator[_Gap]:
    alignment, parsed = loaded.alignment, loaded.parsed
    columns = {name: getattr(parsed, name) for name in ("y_pred", "score", "outcome")}
    columns |= {f"p_{label}": values for label, values in parsed.proba.items()}
    # Of a prediction set one class says whether it is there.
    columns |= {n: v for n, v in parsed.numbers.items() if not n.startswith("in@") or n == member_of(0)}
    for column, values in columns.items():
        if values is None or not (empty := _empty(values)).any():
            continue
        for model, index in enumerate(alignment.rows):
            own = looked_up(empty, index) & (index >= 0)
            count = int(own.sum())
            if 0 < count < int((index >= 0).sum()):
                yield _Gap(model, column, own)


def _gaps_of_costs(loaded: Loaded) -> Iterator[_Gap]:
    """Yield the cells whose answers lack a cost that the model gives elsewhere."""
    if loaded.answers is None:
        return
    for model, index in enumerate(loaded.alignment.rows):
        own = loaded.answers.of(index)
        for column, values in own.given().costs.items():
            cells = np.bincount(own.row, weights=np.isnan(values), minlength=len(index)) > 0
            if cells.any():
                yield _Gap(model, column, cells)


def _refused(loaded: Loaded, gap: _Gap) -> InputError:
    rows = loaded.rows
    hits = np.sort(loaded.alignment.rows[gap.model][gap.cells])
    # Only outcomes and labels can be counted as wrong, so only there it is recommended.
    may_be_wrong = gap.column == "outcome" or (gap.column == "y_pred" and loaded.task.task != "regression")
    column = "value" if gap.column == "outcome" and "outcome" not in rows.columns else gap.column
    word = cell_of(rows, int(hits[0]), column).strip()
    if column == "value":
        code = "missing_word_of_score" if word else "empty_score"
    elif not word:
        code = "empty_cell_may_be_wrong" if may_be_wrong else "empty_cell"
    elif may_be_wrong and column == "y_pred":
        code = "missing_word_may_be_label"
    else:
        code = "missing_word_may_be_wrong" if may_be_wrong else "missing_word"
    return fault(rows, int(hits[0]), column, code, count=len(hits), word=shlex.quote(word))


def _refuse_absent(loaded: Loaded, absent: Mask) -> None:
    rows = loaded.rows
    if absent.any():
        row, n = int(loaded.alignment.rows.max(axis=0)[absent].min()), int(absent.sum())
        column = "y_true" if rows.truth is None else "truth"
        if loaded.task.classes and (word := cell_of(rows, row, column).strip()):
            raise fault(rows, row, column, "missing_word_of_truth", count=n, word=shlex.quote(word))
        if rows.times is not None:
            raise fault(rows, row, "y_true", "no_true_value_of_a_line", count=n)
        raise fault(rows, row, "y_true", "no_true_value", count=n)


def _left_out(loaded: Loaded, gaps: list[_Gap], absent: Mask) -> Loaded:
    """Leave whole examples out, in whichever fold or replicate the gap is."""
    rows, alignment = loaded.rows, loaded.alignment
    any_row = alignment.rows.max(axis=0)
    of_cell = alignment.group[any_row]
    lost = absent if len(absent) else np.zeros(len(of_cell), dtype=np.bool_)
    for gap in gaps:
        lost = lost | gap.cells
    # A score of a fold is no example: the fold is left out, in all models, and the others stay.
    scores = rows.ids is None and "dataset" not in rows.columns
    kept = ~lost if scores else ~np.isin(of_cell, of_cell[lost])
    if not kept.any():
        raise UsageError("--missing drop: every example lacks a prediction of some model; none would be left")
    ids, example = used_ids(alignment.ids, alignment.example[kept])
    n, total = _number(rows, alignment, ~kept), _number(rows, alignment, kept | ~kept)
    about = _models(rows, gaps)
    if scores:
        empty = tuple(f"{rows.models[g.model]}: {int(g.cells.sum())}" for g in gaps)
        note = warning("scores_left_out", about=about, n=n, total=total, why=empty)
    else:
        if rows.times is None:
            n, total = len(np.unique(of_cell[~kept])), len(np.unique(of_cell))
        why = _counts(rows, alignment, gaps, absent)
        note = warning("missing_left_out", about=about, n=n, total=total, why=why)
    left = replace(alignment, ids=ids, example=example, rows=alignment.rows[:, kept])
    y_true = None if loaded.y_true is None else loaded.y_true[kept]
    flow = _flow(rows, alignment, gaps, absent, ~kept)
    return replace(loaded, alignment=left, y_true=y_true, notes=loaded.notes + Notes((), (note,), flow))


def _flow(
    rows: Rows, alignment: Alignment, gaps: list[_Gap], absent: Mask, lost: Mask
) -> tuple[FlowRecord, ...]:
    """Return how many cases are left out for want of a true value, or of an answer, and each model's empty cells."""
    without, gone = _number(rows, alignment, absent) if absent.any() else 0, _number(rows, alignment, lost)
    steps = [FlowRecord(step="left_out", reason="no_truth", n=without)] if without else []
    if gone > without:
        steps.append(FlowRecord(step="left_out", reason="no_answer", n=gone - without))
    for model in sorted({gap.model for gap in gaps}):
        empty = np.any([gap.cells for gap in gaps if gap.model == model], axis=0)
        n = _number(rows, alignment, empty)
        steps.append(FlowRecord(step="left_out", reason="no_answer", model=rows.models[model], n=n))
    return tuple(steps)


def _models(rows: Rows, gaps: list[_Gap]) -> tuple[str, ...]:
    return tuple(rows.models[model] for model in sorted({gap.model for gap in gaps}))


def _counts(rows: Rows, alignment: Alignment, gaps: list[_Gap], absent: Mask) -> tuple[str, ...]:
    """Say how many cells are empty, by model and column."""
    counts = [f"{rows.models[g.model]}: {g.column} {_number(rows, alignment, g.cells)}" for g in gaps]
    return (*counts, *([f"y_true {_number(rows, alignment, absent)}"] if absent.any() else []))


def _number(rows: Rows, alignment: Alignment, cells: Mask) -> int:
    """Count the examples of some cells (C,)."""
    return int(cells.sum() if rows.times is None else rows.times[alignment.rows[0][cells]].sum())


def _counted_as_wrong(loaded: Loaded, gaps: list[_Gap], options: Options) -> Loaded:
    rows, alignment, task, parsed = loaded.rows, loaded.alignment, loaded.task, loaded.parsed

    def filled(values: Values, wrong: float, column: str) -> Values:
        values = values.copy()
        for gap in gaps:
            if gap.column == column:
                values[alignment.rows[gap.model][gap.cells]] = wrong
        return values

    counts = {rows.models[gap.model]: _number(rows, alignment, gap.cells) for gap in gaps}
    why = tuple(f"{model}: {count}" for model, count in counts.items())
    note = warning("missing_is_wrong", about=_models(rows, gaps), n=sum(counts.values()), why=why)
    noted = replace(loaded, notes=loaded.notes + Notes((), (note,)))
    if task.task == "outcome":
        assert parsed.outcome is not None
        require_zero_wrong(parsed.outcome, options)
        return replace(noted, parsed=replace(parsed, outcome=filled(parsed.outcome, 0.0, "outcome")))
    others = sorted({gap.column for gap in gaps} - {"y_pred"})
    others += [] if others else _graded(alignment, parsed, {gap.model for gap in gaps})
    if not task.classes or others:
        reason = f"a model with gaps gives the column {others[0]!r}" if others else f"the task is {task.task}"
        raise UsageError(
            f"--missing wrong: {reason}, where no number would be just wrong; pass --missing drop, or give labels alone"
        )
    assert parsed.y_pred is not None
    labelled = replace(parsed, y_pred=filled(parsed.y_pred, len(task.classes), "y_pred"))
    return replace(noted, parsed=labelled, outside=1)


def _graded(alignment: Alignment, parsed: Parsed, models: set[int]) -> list[str]:
    """Name the columns of probabilities that one of the models gives."""
    return [
        f"p_{label}"
        for label, values in parsed.proba.items()
        if any(not _empty(values[alignment.rows[model]]).all() for model in models)
    ]
