"""Predictions of any size -> the joint counts of (truth, every model's answer, slices), by group-bys of an engine.

The engine groups rows by their numbers (``plan``); the rest is done here, on the groups.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial, reduce

import narwhals as nw
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evalreport.errors import InputError, UsageError, no_weight, refuse_all, together
from evalreport.loading.probabilities import LEAST_CONFIDENCE
from evalreport.options import Options
from evalreport.predictions.column_names import PROBABILITY_PREFIXES
from evalreport.predictions.score_sums import ScoreSums
from evalreport.predictions.spelling import MISSING_WORDS, parse_labels
from evalreport.scale.engines import Engine, Frame
from evalreport.scale.label_sources import (
    COUNT,
    PREDICTION,
    TRUTH,
    OpenedSource,
    Source,
    collected,
    counted_columns,
    labelled,
    one_spelling_each,
    open_source,
    unserved,
    whole_numbers,
    without_doubtful,
)
from evalreport.scale.plan import Plan, planned
from evalreport.scale.scores import Scored, score_sums
from evalreport.texts import quoted

Numbers = npt.NDArray[np.int64]

MOST_CELLS = 5_000_000
"""The most different examples that are counted; beyond it counts save hardly any memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """The counts of all sources.

    Attributes
    ----------
    table
        A column ``count``, ``y_true``, one ``y_pred.<model>`` a model and those of slices, clusters and weights, as
        text (null where empty); rows in canonical order.
    models
        The models of each source, in the order of the sources.
    rows
        How many rows each source has.
    left_out
        Headers of scores and probabilities that are neither counted nor added up.
    scores
        The sums of the scores of a binary task; None where no model gives any.
    positive
        The positive class of these sums, and of labels that were cut from scores; None: there are neither.
    cut
        The models whose labels were cut from scores.
    """

    table: pa.Table
    models: tuple[tuple[str, ...], ...]
    rows: tuple[int, ...]
    left_out: tuple[str, ...]
    scores: ScoreSums | None = None
    positive: str | None = None
    cut: tuple[str, ...] = ()


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
    columns = counted_columns(opened, options)
    missing = set(MISSING_WORDS) - parse_labels(options.labels)
    named = parse_labels(options.labels)
    coded = one_spelling_each(without_doubtful([labelled(one, columns, missing) for one in opened], named))
    plan = planned(coded, columns, options, engine)
    cells = collected(plan.cells.head(MOST_CELLS + 1))
    if cells.num_rows > MOST_CELLS:
        raise UsageError(
            f"there are more than {MOST_CELLS:,} different examples (truth, every model's answer, and the columns of"
            " slices, clusters and weights), too many to count: name fewer columns, or columns of fewer values;"
            " weights of any size make as many as there are examples"
        )
    codes = _Codes(plan, {name: whole_numbers(cells, name) for name in cells.column_names})
    _check(codes, plan, columns)
    # With clusters or weights the labels alone are counted: what scores add up to is of examples that count the same.
    summed = plan.graded if options.cluster is None and options.weight is None else {}
    used = {header for one in summed.values() for header in one.headers}
    scores = _scores(codes, plan, engine) if summed else None
    unlabelled = (one for one in coded if not (one.opened.source.is_truth or one.opened.labelled))
    cut = sorted(model for one in unlabelled for model in one.models)
    return Counted(
        table=_table(codes, plan),
        models=tuple(one.models for one in coded),
        rows=tuple(one.rows for one in coded),
        left_out=tuple(sorted({header for one in opened for header in one.graded} - used)),
        scores=scores,
        positive=plan.positive if cut or scores is not None else None,
        cut=tuple(dict.fromkeys(cut)),
    )


# --- cells of the counts ----------------------------------------------------------------------------------------------


class _Codes:
    """The cells as arrays: ``n`` rows of an id and ``count`` ids (C,), and the digits of each giver (G, C)."""

    def __init__(self, plan: Plan, cells: dict[str, Numbers]) -> None:
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


def _check(codes: _Codes, plan: Plan, columns: Mapping[str, str]) -> None:
    """Refuse what a run refuses.

    Raises
    ------
    InputError, UsageError
        The first fault with how many ids have it, and one of them.
    """
    blank = (codes.number >= plan.blank).any(axis=0)
    if blank.any():
        giver = int(np.argmax((codes.number >= plan.blank).any(axis=1)))
        raise InputError.of("empty_id", file=plan.files[giver], column="id")
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
        raise InputError.of("nothing_predicted")
    _check_agreement(codes, plan, columns)


def _stands_twice(codes: _Codes, plan: Plan, twice: npt.NDArray[np.bool_]) -> InputError:
    example = _example(codes, plan, twice)
    rows = plan.rows.filter(nw.col("id") == example)
    sums = collected(rows.select(*((nw.col(name) >= 0).cast(nw.Int64).sum() for name in plan.numbers)))
    giver = next((i for i, name in enumerate(plan.numbers) if sums[name][0].as_py() > 1), 0)
    model = plan.models[giver]
    whose = "among the true values" if model is None else f"for the model {quoted(model)}"
    return InputError.of(
        "id_twice", file=plan.files[giver], column="id", example=example, whose=whose, of=_of(codes, twice)
    )


def _lacks_ids(codes: _Codes, plan: Plan, giver: int, lost: npt.NDArray[np.bool_]) -> InputError:
    some = codes.given[~codes.is_truth].any(axis=0)
    shared = codes.given[~codes.is_truth].all(axis=0)
    return InputError.of(
        "ids_lacking",
        file=plan.files[giver],
        column="id",
        model=str(plan.models[giver]),
        lacking=int(codes.count[lost].sum()),
        total=int(codes.count[some].sum()),
        example=_example(codes, plan, lost),
        shared=int(codes.count[shared].sum()),
    )


def _check_agreement(codes: _Codes, plan: Plan, columns: Mapping[str, str]) -> None:
    predicted = codes.given[~codes.is_truth].any(axis=0)
    for name in plan.digits:
        if name == PREDICTION:
            continue
        agreed, option = codes.agreed(name), columns.get(name)
        empty = predicted & (agreed == 0)
        if option == "weight" and empty.any():
            raise no_weight(name, f"the id {quoted(_example(codes, plan, empty))}", file=plan.files[0])
        differ = predicted & (agreed < 0)
        if not differ.any():
            continue
        example = quoted(_example(codes, plan, differ))
        if name != TRUTH:
            raise UsageError(
                f"--{option} {name}: the models have different values of {name!r} for the same example, {example}"
                f"{_of(codes, differ)}: it must be the same for all"
            )
        code, file, of = "truths_of_an_id_disagree", plan.files[0], _of(codes, differ)
        raise InputError.of(code, file=file, column="y_true", example=example, of=of)


def _of(codes: _Codes, wrong: npt.NDArray[np.bool_]) -> str:
    ids = int(codes.count[wrong].sum())
    return "" if ids == 1 else f" (one of {ids:,} such ids)"


def _example(codes: _Codes, plan: Plan, wrong: npt.NDArray[np.bool_]) -> str:
    """Return the first id, in order, of the largest of the wrong cells: the engine counts once more for it."""
    cell = int(np.argmax(np.where(wrong, codes.count, -1)))
    wanted = {"n": int(codes.n[cell])}
    wanted |= {name: int(codes.number[i, cell]) for i, name in enumerate(plan.numbers)}
    same = reduce(lambda a, b: a & b, (nw.col(name) == value for name, value in wanted.items()))
    return str(collected(plan.by_id.filter(same).select(nw.col("id").min()))["id"][0].as_py())


def _table(codes: _Codes, plan: Plan) -> pa.Table:
    """Return the counts as text columns, equal cells together and in canonical order."""
    # True values that no model predicts are no examples.
    used = codes.given[~codes.is_truth].all(axis=0)
    predictions = codes.digit(PREDICTION)
    models = [(i, model) for i, model in enumerate(plan.models) if model is not None]
    columns = {TRUTH: (codes.agreed(TRUTH), plan.digits[TRUTH])}
    columns |= {PREDICTION + model: (predictions[i], plan.digits[PREDICTION]) for i, model in models}
    others = {name: texts for name, texts in plan.digits.items() if name not in (TRUTH, PREDICTION)}
    columns |= {name: (codes.agreed(name), texts) for name, texts in others.items()}
    cells = np.stack([code[used] for code, _ in columns.values()])
    distinct, place = np.unique(cells, axis=1, return_inverse=True)
    total = np.zeros(distinct.shape[1], dtype=np.int64)
    np.add.at(total, place.ravel(), codes.count[used])
    found = {COUNT: pa.array(total)}
    for (name, (_, texts)), code in zip(columns.items(), distinct, strict=True):
        found[name] = pa.array([None, *texts], pa.string()).take(pa.array(code))
    return pa.table(found)


# --- scores -----------------------------------------------------------------------------------------------------------


def _scores(codes: _Codes, plan: Plan, engine: Engine) -> ScoreSums | None:
    """Add up the scores of all examples; None where the truth is of one class.

    Raises
    ------
    InputError
        A score that is empty or no finite number, a probability outside [0, 1], an example without a label.
    """
    used = codes.given[~codes.is_truth].all(axis=0)
    predicted = codes.digit(PREDICTION)[~codes.is_truth]
    true = codes.agreed(TRUTH)
    without = used & ((true == 0) | (predicted == 0).any(axis=0))
    if without.any():
        example, of = _example(codes, plan, without), _of(codes, without)
        raise InputError.of("id_without_label", file=plan.files[0], example=example, of=of)
    assert plan.positive is not None
    place = 1 + plan.digits[TRUTH].index(plan.positive)
    sizes = (int(codes.count[used & (true != place)].sum()), int(codes.count[used & (true == place)].sum()))
    if min(sizes) == 0:
        return None
    model = next(i for i, name in enumerate(plan.models) if name is not None)
    digits = [_digit(plan, name) for name in plan.digits]
    slices = [name for name in plan.digits if name not in (TRUTH, PREDICTION)]
    order = list(plan.digits)
    ranked = sorted(plan.graded)
    named = {f"s{k}": nw.col(f"s{place}") for k, place in enumerate(ranked)}
    probable = [(k, at) for k, at in enumerate(ranked) if plan.graded[at].probability is not None]
    named |= {f"p{k}": nw.col(f"p{at}") for k, at in probable}
    frame = plan.by_id.filter(nw.col(f"v{model}") >= 0).select(
        (digits[order.index(TRUTH)] == place).cast(nw.Int64).alias("y"),
        *(digits[order.index(name)].alias(f"g{i}") for i, name in enumerate(slices)),
        **named,
    )
    limits = _limits(frame, plan, list(named), ranked)
    return score_sums(
        Scored(
            frame=frame,
            models=tuple(str(plan.models[place]) for place in ranked),
            with_probabilities=frozenset(k for k in range(len(ranked)) if f"p{k}" in named),
            on_probabilities=frozenset(k for k, at in enumerate(ranked) if plan.graded[at].score is None),
            limits=np.array([limits[f"s{k}"] for k in range(len(ranked))]),
            probabilities=np.array([limits.get(f"p{k}", (0.0, 1.0)) for k in range(len(ranked))]),
            slices={name: (None, *plan.digits[name]) for name in slices},
            classes=sizes,
        ),
        engine,
    )


def _digit(plan: Plan, name: str) -> nw.Expr:
    """Return one digit of an id: what any of its rows says, where they agree."""
    order = list(plan.digits)
    below = math.prod(len(plan.digits[other]) + 1 for other in order[order.index(name) + 1 :])
    size = len(plan.digits[name]) + 1
    own = [
        nw.when(nw.col(number) >= 0).then(nw.col(number) // below % size).otherwise(nw.lit(0))
        for number in plan.numbers
    ]
    # Plain sums: Dask holds what narwhals finds across columns to be another frame's, and moves all rows to align them.
    saying = reduce(operator.add, [(digit > 0).cast(nw.Int64) for digit in own])
    return reduce(operator.add, own).cast(nw.Int64) // saying.clip(1)


def _limits(
    frame: Frame, plan: Plan, names: Sequence[str], ranked: Sequence[int]
) -> dict[str, tuple[float, float]]:
    """Return the smallest and the largest number in each column, and refuse what a run refuses."""
    asked: list[nw.Expr] = []
    for name in names:
        column = nw.col(name)
        usable = column.is_finite().fill_null(value=False)
        asked += [
            column.min().alias(f"{name} low"),
            column.max().alias(f"{name} high"),
            (~usable).cast(nw.Int64).sum().alias(f"{name} unusable"),
        ]
    row = collected(frame.select(*asked)).to_pylist()[0]
    limits: dict[str, tuple[float, float]] = {}
    errors = []
    for name in names:
        place = ranked[int(name[1:])]
        header = plan.graded[place].headers[-1 if name[0] == "p" else 0]
        low, high, unusable = (row[f"{name} {what}"] for what in ("low", "high", "unusable"))
        fault = partial(InputError.of, file=plan.files[place], column=header)
        if unusable:
            errors.append(fault("scores_unusable", unusable=unusable))
        elif name[0] == "p" and not 0 <= low <= high <= 1:
            errors.append(fault("no_probabilities", low=f"{low:.6g}", high=f"{high:.6g}"))
        elif LEAST_CONFIDENCE <= low <= high <= 1 and not header.strip().startswith(PROBABILITY_PREFIXES):
            errors.append(fault("confidence_uncounted", least=f"{LEAST_CONFIDENCE:g}"))
        else:
            limits[name] = (float(low), float(high))
    refuse_all(errors)
    return limits
