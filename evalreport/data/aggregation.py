"""Predictions of any size -> the joint counts of (truth, every model's answer, slices), by group-bys of an engine.

A row becomes (id, one whole number): its true label, its prediction and its slices, each a digit. Grouped by id, the
largest number of each model says all of an example, and how many rows it has says whether a model gives it twice;
grouped by these, what is left is as many rows as there are different examples. All else is done here, on those.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from evalreport.config import Options
from evalreport.data.engines import Engine
from evalreport.data.label_sources import (
    COUNT,
    PREDICTION,
    TRUTH,
    LabelledSource,
    OpenedSource,
    Source,
    as_text,
    collected,
    headers_of,
    labelled,
    open_source,
    require_classes,
    sliced_columns,
    unserved,
)
from evalreport.errors import InputError, UsageError, refuse_all, together
from evalreport.texts import quoted

if TYPE_CHECKING:
    import narwhals as nw
    import pyarrow as pa

    Frame = nw.LazyFrame[Any]

Numbers = npt.NDArray[np.int64]

MOST_CELLS = 5_000_000
"""So many different examples fit into memory; more are hardly fewer than the rows themselves."""
_ABSENT = -1
"""In the place of a model's number: no row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """What was counted.

    Attributes
    ----------
    table
        A column ``count``, ``y_true``, one ``y_pred.<model>`` a model and the slices' columns, as text (null where
        empty); rows in canonical order.
    models
        The models of each source, in the order of the sources.
    rows
        How many rows each source has.
    left_out
        Headers of scores and probabilities, which are not counted.
    """

    table: pa.Table
    models: tuple[tuple[str, ...], ...]
    rows: tuple[int, ...]
    left_out: tuple[str, ...]


def count(sources: Sequence[Source], options: Options, engine: Engine) -> Counted:
    """Reduce predictions to the joint counts of their labels and slices.

    Raises
    ------
    InputError
        Where a run would refuse the rows: ids that only some models have or that appear twice, true values that
        disagree, columns that are missing; and where there are no labels to count.
    UsageError
        An option that counts cannot serve, or a slice of too many values.
    """
    refused = unserved(options)
    if refused is not None:
        raise UsageError(refused)
    errors: list[InputError] = []
    opened: list[OpenedSource] = []
    for source in sources:
        with together(errors):
            opened.append(open_source(source, options))
    refuse_all(errors)
    columns = sliced_columns(opened, options)
    coded = [labelled(one, columns) for one in opened]
    plan = _planned(coded, columns, options, engine)
    cells = collected(plan.cells.head(MOST_CELLS + 1))
    if cells.num_rows > MOST_CELLS:
        raise UsageError(
            f"there are more than {MOST_CELLS:,} different examples (truth, every model's answer, slices), too many to"
            " count: name fewer slices, or columns of fewer values"
        )
    codes = _Codes(plan, {name: _numbers(cells, name) for name in cells.column_names})
    _check(codes, plan)
    return Counted(
        table=_table(codes, plan),
        models=tuple(one.models for one in coded),
        rows=tuple(one.rows for one in coded),
        left_out=tuple(sorted({header for one in opened for header in one.left_out})),
    )


# --- the plan ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class _Plan:
    """The frames of a count, and how the numbers in them are made.

    Attributes
    ----------
    rows
        One row a row of a source: ``id``, and in ``v<k>`` the number of giver k, -1 of all others.
    by_id
        One row an id: how many rows it has (``n``), and the largest number of each.
    cells
        One row a kind of example, ``count`` of them.
    models
        Whoever gives rows: the models by name, then each file of true values (None).
    digits
        The texts of each digit: the prediction, the true label, each slice.
    blank
        The number of a row without an id, above all others.
    """

    rows: Frame
    by_id: Frame
    cells: Frame
    models: tuple[str | None, ...]
    files: tuple[str, ...]
    digits: dict[str, tuple[str, ...]]
    blank: int

    @property
    def numbers(self) -> tuple[str, ...]:
        """The names of the columns of numbers."""
        return tuple(f"v{place}" for place in range(len(self.models)))


def _planned(
    coded: Sequence[LabelledSource], columns: Sequence[str], options: Options, engine: Engine
) -> _Plan:
    """Lay out the two group-bys; nothing is counted yet.

    Raises
    ------
    InputError
        Where two sources hold the same model.
    UsageError
        Where the slices have too many values to be digits of one number.
    """
    import narwhals as nw

    givers = _givers(coded)
    labels = {
        text for one in coded for name in (TRUTH, PREDICTION) for text in one.values.get(name, {}).values()
    }
    require_classes(labels, options, coded[0].opened.source.name)
    digits = {PREDICTION: tuple(sorted(labels)), TRUTH: tuple(sorted(labels))}
    for column in columns:
        digits[column] = tuple(sorted({t for one in coded for t in one.values.get(column, {}).values()}))
    blank = math.prod(len(texts) + 1 for texts in digits.values())
    if blank >= 2**62:
        raise UsageError("the slices have too many values together to be counted: name fewer")
    models = tuple(model for model, _ in givers)
    long = nw.concat([_numbered(one, digits, models, engine, blank) for one in coded], how="vertical")
    # Made wide where the rows of an id are together: what moves is the id, its giver and one number.
    numbers = [f"v{place}" for place in range(len(models))]
    rows = engine.spread(long).with_columns(
        nw.when(nw.col("giver") == place).then(nw.col("number")).otherwise(nw.lit(_ABSENT)).alias(name)
        for place, name in enumerate(numbers)
    )
    largest = [nw.col(name).max() for name in numbers]
    by_id = rows.group_by("id").agg(nw.len().alias("n"), *largest)
    return _Plan(
        rows=rows,
        by_id=by_id,
        cells=by_id.group_by("n", *numbers).agg(nw.len().alias(COUNT)),
        models=models,
        files=tuple(file for _, file in givers),
        digits=digits,
        blank=blank,
    )


def _givers(coded: Sequence[LabelledSource]) -> list[tuple[str | None, str]]:
    """Return who gives rows and the file that they stand in: the models by name, then the files of true values."""
    owner: dict[str, Source] = {}
    for one in coded:
        source = one.opened.source
        for model in one.models:
            first = owner.setdefault(model, source)
            if first is not source and not (first.part and source.part):
                raise InputError(
                    f"the model {quoted(model)} is in {first.name} and in {source.name}",
                    file=source.name,
                    expected="each model in one file",
                    remedy="rename one of the two files, or join their rows in one file",
                )
    truths = [one.opened.source.name for one in coded if one.opened.source.is_truth]
    files = ((model, owner[model].name) for model in sorted(owner))
    return [*files, *((None, file) for file in truths)]


def _numbered(
    one: LabelledSource,
    digits: dict[str, tuple[str, ...]],
    models: Sequence[str | None],
    engine: Engine,
    blank: int,
) -> Frame:
    """Turn each row of a source into its id, the place of whoever gives it among ``models``, and its number."""
    import narwhals as nw

    opened = one.opened
    headers = headers_of(opened, [name for name in digits if name not in (TRUTH, PREDICTION)])
    if "model" in one.values:
        headers["model"] = opened.roles.columns["model"]
    texts = {f"t{i}": as_text(opened, header) for i, header in enumerate(headers.values())}
    frame = opened.source.frame.select(as_text(opened, opened.roles.columns["id"]).alias("id"), **texts)
    for i, name in enumerate(headers):
        places = models if name == "model" else digits[name]
        frame = _joined(frame, f"t{i}", f"c{i}", one.values[name], places, engine)
    codes = {name: nw.col(f"c{i}") for i, name in enumerate(headers)}
    # Horner's rule, the first digit being the highest.
    number: nw.Expr = nw.lit(0)
    for name, values in digits.items():
        number = number * (len(values) + 1)
        number = number + codes[name] if name in codes else number
    if "model" in codes:
        giver: nw.Expr = codes["model"] - 1
    else:
        giver = nw.lit(models.index(one.models[0] if one.models else None))
    return frame.select(
        nw.col("id").fill_null(""),
        giver.cast(nw.Int64).alias("giver"),
        nw.when(nw.col("id").is_null()).then(nw.lit(blank)).otherwise(number).cast(nw.Int64).alias("number"),
    )


def _joined(
    frame: Frame, text: str, code: str, values: dict[str, str], places: Sequence[str | None], engine: Engine
) -> Frame:
    """Add the code of a text: its place among ``places``, counted from 1; 0 where it is empty."""
    import narwhals as nw
    import pyarrow as pa

    number = {value: i + 1 for i, value in enumerate(places)}
    if not values:
        return frame.with_columns(nw.lit(0).cast(nw.Int64).alias(code))
    known = pa.table(
        {
            text: pa.array(list(values), pa.string()),
            code: pa.array([number[value] for value in values.values()], pa.int64()),
        }
    )
    joined = frame.join(engine.small(known), on=text, how="left")
    return joined.with_columns(nw.col(code).fill_null(0).cast(nw.Int64))


def _numbers(table: pa.Table, column: str) -> Numbers:
    import pyarrow as pa

    values: Numbers = table[column].cast(pa.int64()).to_numpy()
    return values


# --- what was counted -------------------------------------------------------------------------------------------------


class _Codes:
    """The cells as arrays: ``n`` rows of an id and ``count`` ids (C,), and the digits of each giver (G, C)."""

    def __init__(self, plan: _Plan, cells: dict[str, Numbers]) -> None:
        self.n = cells["n"]
        self.count = cells[COUNT]
        self.number = np.stack([cells[name] for name in plan.numbers])
        self.is_truth = np.array([model is None for model in plan.models])
        self._digits = {name: len(texts) + 1 for name, texts in plan.digits.items()}

    @cached_property
    def given(self) -> npt.NDArray[np.bool_]:
        """(G, C) whether each giver has a row."""
        return self.number >= 0

    def digit(self, name: str) -> Numbers:
        """Return (G, C) codes of one digit: 0 where it is empty, or there is no row."""
        rest = np.where(self.given, self.number, 0)
        for other, size in reversed(self._digits.items()):
            if other == name:
                return rest % size
            rest //= size
        raise KeyError(name)

    def agreed(self, name: str) -> Numbers:
        """Return (C,) the one code that whoever gives one gives, -1 where two differ."""
        digit = self.digit(name)
        high = digit.max(axis=0)
        low = np.where(digit == 0, high, digit).min(axis=0)
        return np.where(low == high, high, -1)


def _check(codes: _Codes, plan: _Plan) -> None:
    """Refuse what a run refuses.

    Raises
    ------
    InputError, UsageError
        The first fault with how many ids have it, and one of them.
    """
    blank = (codes.number >= plan.blank).any(axis=0)
    if blank.any():
        giver = int(np.argmax((codes.number >= plan.blank).any(axis=1)))
        raise InputError(
            "the id is empty",
            file=plan.files[giver],
            column="id",
            expected="an id in every row",
            remedy="give every example its id",
        )
    twice = codes.n > codes.given.sum(axis=0)
    if twice.any():
        raise _stands_twice(codes, plan, twice)
    lacking = ~codes.given[~codes.is_truth]
    predicted = ~lacking.all(axis=0)
    errors = []
    for giver in np.argsort(-(lacking * codes.count).sum(axis=1), kind="stable"):
        lost = lacking[giver] & predicted
        if lost.any():
            errors.append(_lacks_ids(codes, plan, int(giver), lost))
    refuse_all(errors)
    if not predicted.any():
        raise InputError(
            "no model predicts an example", expected="the same ids in every file", remedy="see the ids"
        )
    _check_agreement(codes, plan)


def _stands_twice(codes: _Codes, plan: _Plan, twice: npt.NDArray[np.bool_]) -> InputError:
    import narwhals as nw

    example = _example(codes, plan, twice)
    rows = plan.rows.filter(nw.col("id") == example)
    found = collected(rows.select(*((nw.col(name) >= 0).cast(nw.Int64).sum() for name in plan.numbers)))
    giver = next((i for i, name in enumerate(plan.numbers) if found[name][0].as_py() > 1), 0)
    model = plan.models[giver]
    whose = "among the true values" if model is None else f"for the model {quoted(model)}"
    return InputError(
        f"the id {quoted(example)} appears twice {whose}{_of(codes, twice)}",
        file=plan.files[giver],
        column="id",
        expected="one row for each model and id",
        remedy="remove one of the rows",
    )


def _lacks_ids(codes: _Codes, plan: _Plan, giver: int, lost: npt.NDArray[np.bool_]) -> InputError:
    some = codes.given[~codes.is_truth].any(axis=0)
    shared = codes.given[~codes.is_truth].all(axis=0)
    return InputError(
        f"the model {quoted(str(plan.models[giver]))} lacks {int(codes.count[lost].sum()):,} of"
        f" {int(codes.count[some].sum()):,} ids of the others, for example {quoted(_example(codes, plan, lost))};"
        f" {int(codes.count[shared].sum()):,} are shared by all",
        file=plan.files[giver],
        column="id",
        expected="the same ids for every model",
        remedy="predict the missing examples, or leave their rows out of every file",
    )


def _check_agreement(codes: _Codes, plan: _Plan) -> None:
    for name in plan.digits:
        if name == PREDICTION:
            continue
        differ = (codes.agreed(name) < 0) & codes.given[~codes.is_truth].any(axis=0)
        if not differ.any():
            continue
        example = quoted(_example(codes, plan, differ))
        if name != TRUTH:
            raise UsageError(
                f"--slice {name}: the models have different values of {name!r} for the same example, {example}"
                f"{_of(codes, differ)}: a slice would not be the same examples for all"
            )
        raise InputError(
            f"the true values of the id {example} disagree{_of(codes, differ)}",
            file=next(iter(plan.files)),
            column="y_true",
            expected="the same true value for an example in every file",
            remedy="find out which is right",
        )


def _of(codes: _Codes, wrong: npt.NDArray[np.bool_]) -> str:
    ids = int(codes.count[wrong].sum())
    return "" if ids == 1 else f" (one of {ids:,} such ids)"


def _example(codes: _Codes, plan: _Plan, wrong: npt.NDArray[np.bool_]) -> str:
    """Return the first id, in order, of the largest of the wrong cells: the engine counts once more for it."""
    import narwhals as nw

    cell = int(np.argmax(np.where(wrong, codes.count, -1)))
    wanted = {"n": int(codes.n[cell])}
    wanted |= {name: int(codes.number[i, cell]) for i, name in enumerate(plan.numbers)}
    same = reduce(lambda a, b: a & b, (nw.col(name) == value for name, value in wanted.items()))
    return str(collected(plan.by_id.filter(same).select(nw.col("id").min()))["id"][0].as_py())


def _table(codes: _Codes, plan: _Plan) -> pa.Table:
    """Return the counts as text columns, equal cells together and in canonical order."""
    import pyarrow as pa

    # True values that no model predicts are no examples.
    used = codes.given[~codes.is_truth].all(axis=0)
    predictions = codes.digit(PREDICTION)
    models = [(i, model) for i, model in enumerate(plan.models) if model is not None]
    columns = {TRUTH: (codes.agreed(TRUTH), plan.digits[TRUTH])}
    columns |= {PREDICTION + model: (predictions[i], plan.digits[PREDICTION]) for i, model in models}
    columns |= {
        name: (codes.agreed(name), texts)
        for name, texts in plan.digits.items()
        if name not in (TRUTH, PREDICTION)
    }
    cells = np.stack([code[used] for code, _ in columns.values()])
    distinct, place = np.unique(cells, axis=1, return_inverse=True)
    total = np.zeros(distinct.shape[1], dtype=np.int64)
    np.add.at(total, place.ravel(), codes.count[used])
    found = {COUNT: pa.array(total)}
    for (name, (_, texts)), code in zip(columns.items(), distinct, strict=True):
        found[name] = pa.array([None, *texts], pa.string()).take(pa.array(code))
    return pa.table(found)
