"""Which rows an analysis is about (test rows, series of sizes, scores by data set), and which analyses they allow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from evalreport.errors import InputError
from evalreport.loading.columns import IDENTITY_COLUMNS
from evalreport.loading.design import Cells, design_of, with_seeds_as_repeats, without_a_place
from evalreport.options import Task
from evalreport.predictions.slicing import sliceable
from evalreport.predictions.table import Column, Floats, Indices, Mask, ModelOutputs, Predictions, Values
from evalreport.schema.inputs import FoundRecord
from evalreport.texts import Message, parts

if TYPE_CHECKING:
    from evalreport.predictions.table import ScoreSums


def test_rows(predictions: Predictions) -> Predictions:
    """Keep the test predictions: no training or validation rows, and of bootstrap replicates those out of the bag.

    Parameters
    ----------
    predictions
        Any design.

    Returns
    -------
    Predictions
        The same object where every row is a test row; ``ids`` stay as they are.

    Raises
    ------
    InputError
        Where no test row is left, or where models have different rows out of the bag.
    """
    keep = np.ones(predictions.n, dtype=bool)
    part = predictions.keys.get("part")
    if part is not None and part.categories is not None:
        keep &= marked_as_test(part)
    inner = predictions.keys.get("inner_fold")
    if inner is not None and (keep & (inner.values < 0)).any():
        keep &= inner.values < 0  # beside outer test rows, those of an inner fold chose parameters
    inbag = predictions.keys.get("inbag")
    if inbag is not None:
        keep &= ~(inbag.values > 0)
    if any("inbag" in model.columns for model in predictions.models):
        raise InputError(
            "the models were trained on different bootstrap samples",
            column="inbag",
            expected="the same samples for every model, which is what pairs them",
            remedy="draw the samples once and train every model on each of them",
        )
    if keep.all():
        return predictions
    if not keep.any():
        raise _no_test_row(predictions)
    kept = FoundRecord(
        what="rows",
        value=Message("found.test_rows.value", n=int(keep.sum()), total=predictions.n),
        why=Message("found.test_rows.why"),
    )
    return replace(subset(predictions, np.flatnonzero(keep)), found=(*predictions.found, kept))


# A name that begins with "test" is no test.
test_rows.__test__ = False  # type: ignore[attr-defined]


_OF_PARTS = {
    "train": (
        "a training row (part = train)",
        "criteria of training rows (aic, bic, mdl, vc_bound) are shown beside a metric of test rows, never alone",
    ),
    "validation": (
        "a validation row (part = validation)",
        "if these are the examples to compare models on, write part = test in the validation rows",
    ),
}


def _no_test_row(predictions: Predictions) -> InputError:
    """Say of which parts the rows are, none of which is the test, and what to do."""
    expected = "predictions of examples that the model was not trained on"
    part = predictions.keys.get("part")
    if part is None or part.categories is None or marked_as_test(part).any():
        return InputError(
            "every row is in the bag",
            column="inbag",
            expected=expected,
            remedy="add predictions of examples that are out of the bag (inbag = 0)",
        )
    held = sorted({part.categories[code] for code in np.unique(part.values)})
    return InputError(
        f"every row is {' or '.join(_OF_PARTS[name][0] for name in held)}",
        column="part",
        expected=expected,
        remedy="; ".join(["add test predictions (part = test)", *(_OF_PARTS[name][1] for name in held)]),
    )


def marked_as_test(part: Column) -> Mask:
    """Say which rows the column ``part`` takes for test rows: those marked so, and those with an empty cell."""
    assert part.categories is not None
    test = part.categories.index("test") if "test" in part.categories else -1
    return np.asarray((part.values == test) | (part.values < 0))


def subset(predictions: Predictions, rows: Indices) -> Predictions:
    """Return the table of some rows, in their order."""
    return replace(
        predictions,
        example=predictions.example[rows],
        y_true=None if predictions.y_true is None else predictions.y_true[rows],
        models=tuple(_of_model(model, rows) for model in predictions.models),
        keys=_of_columns(predictions.keys, rows),
        metadata=_of_columns(predictions.metadata, rows),
        multiplicity=None if predictions.multiplicity is None else predictions.multiplicity[rows],
        scores=_scores_of(predictions, rows),
    )


def _scores_of(predictions: Predictions, rows: Indices) -> ScoreSums | None:
    """Return the sums of scores of some rows: of all, or of one slice that they were made for; else None."""
    whole = predictions.scores
    if whole is None or len(np.unique(rows)) == predictions.n:
        return whole
    for name in whole.columns if whole.slice is None else ():
        column = predictions.metadata[name]
        value = column.values[rows[0]]
        same = np.isnan(column.values) if value != value else column.values == value
        if same[rows].all() and same.sum() == len(rows):
            return whole.within(name, _as_text(whole, name, column, value))
    return None


def _as_text(whole: ScoreSums, name: str, column: Column, value: float) -> str | None:
    """Return a value of a column as the sums spell it; None where it is empty."""
    if column.categories is not None:
        return column.categories[int(value)] if value >= 0 else None
    return next((text for text in whole.values_of(name) if text is not None and float(text) == value), None)


def _of_model(model: ModelOutputs, rows: Indices) -> ModelOutputs:
    def taken(values: Values | None) -> Values | None:
        return None if values is None else values[rows]

    return replace(
        model,
        y_pred=taken(model.y_pred),
        score=taken(model.score),
        proba=taken(model.proba),
        outcome=taken(model.outcome),
        attempts=None if model.attempts is None else model.attempts.of(rows),
        gold=taken(model.gold),
        present=taken(model.present),
        columns=_of_columns(model.columns, rows),
    )


def _of_columns(columns: Mapping[str, Column], rows: Indices) -> dict[str, Column]:
    return {name: replace(column, values=column.values[rows]) for name, column in columns.items()}


Axis = Literal["train_size", "complexity"]
AXES: tuple[Axis, ...] = ("train_size", "complexity")


@dataclass(frozen=True, slots=True)
class Point:
    """One point of a model's curve: where it lies (the mean, where sizes differ between fits), and its rows."""

    x: float
    rows: Indices


@dataclass(frozen=True, slots=True)
class Series:
    """The curves of all models: which column they run along, and each model's points in rising order."""

    axis: Axis
    points: Mapping[str, tuple[Point, ...]]
    cells: Indices
    """(rows,) number of each row's example and fit, the place on a curve left out."""


def series_of(predictions: Predictions) -> Series | None:
    """Divide the rows into the points of each model's curve; None where no model is fitted at several points.

    Raises
    ------
    InputError
        Where both training size and complexity vary within a model.
    """
    columns = {axis: predictions.keys[axis] for axis in AXES if axis in predictions.keys}
    if not columns or predictions.n == 0 or predictions.task == "scores":
        return None
    cells = _cell_codes(predictions)
    if len(np.unique(cells)) == len(cells):
        return None
    varying = [axis for axis in AXES if axis in columns and _varies(predictions, columns[axis], cells)]
    if len(varying) > 1:
        raise InputError(
            "both train_size and complexity vary within a model",
            column="complexity",
            expected="curves along one of the two",
            remedy="write the curve of each complexity as a model of its own, without the column complexity",
        )
    if not varying:
        return None
    axis = varying[0]
    values = np.asarray(columns[axis].values, dtype=np.float64)
    points = {m.name: _points(predictions, m, values, axis) for m in predictions.models}
    return Series(axis, points, cells)


def _own_rows(predictions: Predictions, model: ModelOutputs) -> Indices:
    return np.arange(predictions.n) if model.present is None else np.flatnonzero(model.present)


def _fit_codes(predictions: Predictions, names: Sequence[str]) -> Indices:
    """Number the rows by key columns."""
    packed = np.zeros(predictions.n, dtype=np.int64)
    for name in names:
        if name in predictions.keys:
            column = predictions.keys[name].values
            codes = np.unique(column, return_inverse=True)[1].astype(np.int64)
            packed = np.unique(packed * (int(codes.max()) + 1) + codes, return_inverse=True)[1]
    return packed.astype(np.int64)


def _cell_codes(predictions: Predictions) -> Indices:
    """Number the rows by example and fit, the place on a curve left out."""
    fit = _fit_codes(predictions, IDENTITY_COLUMNS)
    return np.asarray(fit * (int(predictions.example.max()) + 1) + predictions.example)


def _varies(predictions: Predictions, column: Column, cells: Indices) -> bool:
    """Say whether one model has several values of a column for one example and fit."""
    values = np.asarray(column.values, dtype=np.float64)
    for model in predictions.models:
        rows = _own_rows(predictions, model)
        own = np.unique(values[rows], return_inverse=True)[1]
        pairs = len(np.unique(cells[rows] * (int(own.max()) + 1) + own))
        if pairs > len(np.unique(cells[rows])):
            return True
    return False


def _points(predictions: Predictions, model: ModelOutputs, values: Floats, axis: Axis) -> tuple[Point, ...]:
    """Divide a model's rows by value; training sizes that differ between fits by their place in each fit."""
    rows = _own_rows(predictions, model)
    own = np.nan_to_num(values[rows], nan=-1.0)
    distinct, place = np.unique(own, return_inverse=True)
    if axis == "train_size":
        fits = _fit_codes(predictions, [n for n in IDENTITY_COLUMNS if n != "part"])[rows]
        by_fit = {int(f): np.unique(own[fits == f]) for f in np.unique(fits)}
        lengths = {len(sizes) for sizes in by_fit.values()}
        if lengths != {len(distinct)} and len(lengths) == 1:
            place = np.zeros(len(rows), dtype=np.int64)
            for f, sizes in by_fit.items():
                place[fits == f] = np.searchsorted(sizes, own[fits == f])
    return tuple(
        Point(float(values[rows[place == p]].mean()), rows[place == p]) for p in range(int(place.max()) + 1)
    )


def at_points(predictions: Predictions, series: Series, chosen: Mapping[str, Point]) -> Predictions:
    """Return the table with one point of each model's curve: an ordinary table, its design found anew.

    Raises
    ------
    InputError
        Where the models' points do not hold the same examples and fits.
    """
    cells = series.cells
    order = {name: point.rows[np.argsort(cells[point.rows], kind="stable")] for name, point in chosen.items()}
    names = [m.name for m in predictions.models if m.name in chosen]
    first = order[names[0]]
    for name in names[1:]:
        if not np.array_equal(cells[order[name]], cells[first]):
            raise InputError(
                f"the models {names[0]!r} and {name!r} do not predict the same examples at the points of their curves"
                f" that would be compared ({series.axis} {chosen[names[0]].x:g} and {chosen[name].x:g})",
                column=series.axis,
                expected="the same ids (and folds or replicates) at every point of every curve",
                remedy="predict the same test examples with every fit, or give `run` the models one by one",
            )
    # Sorted by example first, as every table is.
    first_order = np.argsort(first, kind="stable")
    table = subset(replace(predictions, models=()), first[first_order])
    models = tuple(
        _model(m, order[m.name][first_order], series.axis, chosen[m.name].x)
        for m in predictions.models
        if m.name in chosen
    )
    keys = dict(table.keys)
    if len({chosen[name].x for name in names}) > 1:
        del keys[series.axis]
    else:
        models = tuple(
            replace(m, columns={k: c for k, c in m.columns.items() if k != series.axis}) for m in models
        )
    design = design_of(Cells(keys, table.example, table.n, table.ids), without_a_place)
    found = tuple(r for r in predictions.found if r.what != "design")
    return replace(
        table,
        models=models,
        keys=with_seeds_as_repeats(keys) if design.seeds_are_repeats else keys,
        design=design.design,
        found=(*found, FoundRecord(what="design", value=design.design, why=design.why)),
    )


def _model(model: ModelOutputs, rows: Indices, axis: Axis, x: float) -> ModelOutputs:
    chosen = _of_model(model, rows)
    return replace(chosen, present=None, columns={**chosen.columns, axis: Column(np.full(len(rows), x))})


def one_value_a_dataset(predictions: Predictions) -> Predictions:
    """Average the scores of each data set over its repeats, folds and seeds, so that data sets are the examples.

    Parameters
    ----------
    predictions
        Any task and design.

    Returns
    -------
    Predictions
        The same object unless the task is scores, the design data sets, and a data set has several rows.
    """
    if predictions.task != "scores" or predictions.design != "datasets":
        return predictions
    dataset = predictions.keys["dataset"]
    _, first, codes = np.unique(dataset.values, return_index=True, return_inverse=True)
    if len(first) == predictions.n:
        return predictions
    counts = np.bincount(codes)

    def averaged(model: ModelOutputs, whole: ModelOutputs) -> ModelOutputs:
        assert whole.outcome is not None
        return replace(model, outcome=np.bincount(codes, weights=whole.outcome) / counts)

    kept = subset(predictions, first)
    why = Message("found.dataset_values.why", least=int(counts.min()), most=int(counts.max()))
    said = FoundRecord(what="values", value=Message("found.dataset_values.value", n=len(first)), why=why)
    return replace(
        kept,
        models=tuple(averaged(m, w) for m, w in zip(kept.models, predictions.models, strict=True)),
        keys={"dataset": kept.keys["dataset"]},
        found=(*predictions.found, said),
    )


ANALYSED_DESIGNS = frozenset(
    {"test-set", "cross-validation", "5x2cv", "repeated-holdout", "bootstrap", "datasets", "seeds"}
)
"""The designs that ``run`` analyses in this version."""
Answer = Message | tuple[Message, Message]
"""What the data say: a reason why it is possible, or (a reason why not, what would make it possible)."""


@dataclass(frozen=True, slots=True)
class Possible:
    """One analysis: whether the data allow it, why or why not, and what would make it possible."""

    analysis: Message
    possible: bool
    reason: Message
    remedy: Message | None = None


def survey(predictions: Predictions) -> tuple[Possible, ...]:
    """List every analysis with a yes or no, its reason and (for a no) what would make it possible."""
    return tuple(_answered(predictions, name, ask) for name, ask in _ANALYSES.items())


def why_not_analysed(predictions: Predictions) -> Message | None:
    """Say why this version cannot analyse the table as one test set; None where it can.

    Learning curves stand in the design ``test-set``, yet predict an example more than once.
    """
    if predictions.tasks is not None and predictions.design != "test-set":
        return Message("survey.suite_of_fits", design=predictions.design)
    if predictions.design not in ANALYSED_DESIGNS:
        return Message("survey.design", design=predictions.design)
    one_fit = predictions.design == "test-set" and not predictions.apart and "attempt" not in predictions.keys
    if one_fit and series_of(predictions) is None and test_rows(predictions).n > len(predictions.ids):
        return Message("survey.more_than_once")
    return None


def _answered(predictions: Predictions, name: str, ask: Callable[[Predictions], Answer]) -> Possible:
    answer, analysis = ask(predictions), Message(f"analysis.{name}")
    if not isinstance(answer, Message):
        return Possible(analysis, False, *answer)
    why_not = why_not_analysed(predictions)
    if why_not is not None:
        reason = Message("survey.not_this_version", answer=answer, why=why_not)
        return Possible(analysis, False, reason, Message("survey.one_test_set"))
    return Possible(analysis, True, answer)


def _no(name: str, /, **found: object) -> Answer:
    return Message(f"survey.no.{name}", **found), Message(f"survey.remedy.{name}")


def _labels(p: Predictions) -> Answer:
    if not p.classes:
        return _no("labels", task=p.task)
    return _those_with(p, "y_pred", [m.name for m in p.models if m.y_pred is not None])


def _ranking(p: Predictions) -> Answer:
    if not p.classes:
        return _no("scores", task=p.task)
    if p.y_true is not None and len(np.unique(p.y_true)) < 2:
        return _no("one_class")
    return _those_with(p, "score", [m.name for m in p.models if m.score is not None or m.proba is not None])


def _probability(p: Predictions) -> Answer:
    if not p.classes:
        return _no("probabilities", task=p.task)
    return _those_with(p, "proba", [m.name for m in p.models if m.proba is not None])


def _where(task: Task, name: str) -> Callable[[Predictions], Answer]:
    """Return the question whether the task is this one."""
    return lambda p: _yes(name) if p.task == task else _no(name, task=p.task)


def _judged(p: Predictions) -> Answer:
    counts = {m.name: int(np.count_nonzero(~np.isnan(m.gold))) for m in p.models if m.gold is not None}
    if not counts:
        return _no("gold")
    return _yes("gold", counts=tuple(f"{name} {n}" for name, n in counts.items()), n=p.n)


def _paired(p: Predictions) -> Answer:
    if p.design != "test-set":
        return _no("paired", design=p.design)
    if len(p.models) < 2:
        return _no("one_model_of_pair")
    if p.apart:
        return _no("own_test_sets")
    n = len(p.ids) if p.multiplicity is None else p.n_examples
    return _yes("paired", models=len(p.models), n=n)


def _independent(p: Predictions) -> Answer:
    if len(p.models) < 2:
        return _no("one_model")
    if p.design == "seeds" or not p.apart:
        return _no("shared_examples")
    return _yes("own_test_sets")


def _folds(p: Predictions) -> Answer:
    if p.design not in ("cross-validation", "repeated-holdout"):
        return _no("folds")
    return _two_models(p, Message("survey.design", design=p.design))


def _five_by_two(p: Predictions) -> Answer:
    return _two_models(p, _yes("five_by_two")) if p.design == "5x2cv" else _no("five_by_two")


def _bias_variance(p: Predictions) -> Answer:
    if p.design != "bootstrap" or p.y_true is None:
        return _no("replicates")
    return _yes("replicates", n=len(p.keys["replicate"].categories or ()))


def _error_estimates(p: Predictions) -> Answer:
    if p.design != "bootstrap" or not ("inbag" in p.keys or any("inbag" in m.columns for m in p.models)):
        return _no("inbag")
    return _yes("inbag") if _has_training_rows(p) else _no("training_rows_of_replicates")


def _has_training_rows(p: Predictions) -> bool:
    part = p.keys.get("part")
    return part is not None and "train" in (part.categories or ())


def _datasets(p: Predictions) -> Answer:
    if p.design != "datasets":
        return _no("datasets")
    return _two_models(p, _yes("datasets", n=len(p.keys["dataset"].categories or ())))


def _suite(p: Predictions) -> Answer:
    if p.design == "datasets":
        name = "suite_or_datasets" if p.tasks is None else "suite_and_datasets"
        return _no(name, n=len(p.keys["dataset"].categories or ()))
    tasks = p.tasks
    return _no("suite") if tasks is None else _yes("suite", n=len(tasks.categories or ()))


def _seeds(p: Predictions) -> Answer:
    if p.design != "seeds":
        return _no("seeds")
    return _yes("seeds", n=len(p.keys["seed"].categories or ()))


def _slices(p: Predictions) -> Answer:
    if not p.metadata:
        return _no("slices")
    said = _yes("slices", columns=sliceable(p))
    differing = {name for model in p.models for name in model.columns}
    return parts(said, _yes("differing", columns=sorted(differing))) if differing else said


def _clusters(p: Predictions) -> Answer:
    # One cluster of all examples leaves nothing that varies.
    several = tuple(name for name, column in p.metadata.items() if (column.values != column.values[0]).any())
    return _yes("clusters", columns=several) if several else _no("clusters")


def _criteria(p: Predictions) -> Answer:
    held = {*p.keys, *(name for m in p.models for name in m.columns)}
    if not held & {"n_parameters", "log_likelihood", "vc_dimension"}:
        return _no("sizes")
    return _yes("sizes") if _has_training_rows(p) else _no("training_rows")


def _learning_curves(p: Predictions) -> Answer:
    for name in ("train_size", "complexity"):
        columns = [p.keys.get(name), *(m.columns.get(name) for m in p.models)]
        if any(column is not None and len(np.unique(column.values)) > 1 for column in columns):
            return _yes("learning_curves", name=name)
    return _no("learning_curves")


def _those_with(p: Predictions, what: str, names: list[str]) -> Answer:
    if not names:
        return _no(what)
    given = Message(f"survey.given.{what}")
    if len(names) == len(p.models):
        return _yes("every_model", given=given)
    return _yes(
        "some_models",
        names=names,
        given=given,
        lacking=[m.name for m in p.models if m.name not in names],
        remedy=Message(f"survey.remedy.{what}"),
    )


def _two_models(p: Predictions, reason: Message) -> Answer:
    return reason if len(p.models) > 1 else _no("one_model")


def _yes(name: str, /, **found: object) -> Message:
    return Message(f"survey.yes.{name}", **found)


_ANALYSES: dict[str, Callable[[Predictions], Answer]] = {
    "labels": _labels,
    "ranking": _ranking,
    "probabilities": _probability,
    "regression": _where("regression", "numbers"),
    "outcomes": _where("outcome", "outcome"),
    "judged": _judged,
    "scores": _where("scores", "value"),
    "groups": _where("clustering", "groups"),
    "paired": _paired,
    "independent": _independent,
    "folds": _folds,
    "five_by_two": _five_by_two,
    "bias_variance": _bias_variance,
    "error_estimates": _error_estimates,
    "datasets": _datasets,
    "suite": _suite,
    "seeds": _seeds,
    "slices": _slices,
    "clusters": _clusters,
    "criteria": _criteria,
    "learning_curves": _learning_curves,
}
"""The analyses by their names in the catalogue."""
