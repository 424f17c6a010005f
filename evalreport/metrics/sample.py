"""From predictions to estimates: every quantity of every model, with one set of bootstrap draws for all models."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import get_args

import numpy as np

from evalreport.engine.counts import Cells
from evalreport.engine.distributions import Columns
from evalreport.engine.histograms import FIRST_ORDER_SHARE, NEGLIGIBLE_SHARE, Bins, bins_of, shares
from evalreport.engine.parallel import mapped
from evalreport.engine.ranks import Order
from evalreport.errors import UsageError
from evalreport.metrics.clustering import clustering_estimates
from evalreport.metrics.counted_rows import CountedRows
from evalreport.metrics.estimate import Estimate, ModelView, undefined, value_range, view
from evalreport.metrics.evidence import Mean, Ranking, Rows
from evalreport.metrics.judged import judged_estimates
from evalreport.metrics.label_estimates import LabelTables, label_estimates
from evalreport.metrics.metric import (
    Average,
    Chosen,
    ClassCounts,
    Contingency,
    Judgements,
    Margins,
    Metric,
    Moments,
    Ranks,
    RowWise,
    Training,
)
from evalreport.metrics.registry import (
    JUDGED,
    METRICS,
    NUMBERED,
    PRIMARY,
    Quantity,
    definition,
    losses_of_probability,
    of_family,
    slopes_of_ranks,
)
from evalreport.metrics.replicates import slopes_of_keys, with_replicates
from evalreport.metrics.row_data import MOST_EXACT_ROWS, RowData, source_of_replicates
from evalreport.metrics.row_estimates import row_estimates
from evalreport.metrics.sampling import Influence, Sampling
from evalreport.metrics.units import Layout, Units, layout_of
from evalreport.options import Average as AverageOverTasks
from evalreport.options import Task
from evalreport.predictions.arrays import Floats
from evalreport.predictions.score_sums import ScoreSums
from evalreport.predictions.table import ModelOutputs, Predictions
from evalreport.registry import close_names, unknown_name
from evalreport.schema.inputs import FoundRecord
from evalreport.texts import Message

Key = tuple[str, Quantity]

ONE_EXAMPLE = Message("undefined.fold_of_one")


@dataclass(frozen=True, slots=True)
class Sample:
    """All estimates of a run and what the tests need beside them.

    Attributes
    ----------
    estimates
        By (model, quantity); every model has every quantity, undefined ones with their reason.
    tables
        The label models' counts; None where no model gives labels.
    rows
        What the per-example metrics work on.
    """

    predictions: Predictions
    quantities: tuple[Quantity, ...]
    estimates: Mapping[Key, Estimate]
    tables: LabelTables | None
    rows: RowData

    @property
    def units(self) -> Units:
        """What is drawn as one, and what each example weighs."""
        return self.rows.units

    @property
    def n_effective(self) -> float | None:
        """Kish's effective number of examples, however often each is predicted; None where they weigh the same."""
        rows, once = self.units.n_effective, self.units.times is not None
        return rows if rows is None or once else rows * self.predictions.n_examples / self.predictions.n

    def by_example(self, models: Sequence[str], quantity: Quantity) -> CountedRows | None:
        """Return the numbers whose means the models' values are; None where they are no such means."""
        metric = definition(quantity)
        if metric.per_example is None or self.estimates[models[0], quantity].sampling.only_sums:
            return None
        if metric.needs == "labels" and not set(models) <= set(self.label_models):
            return None
        cells = self.labels(models) if metric.needs == "labels" else None
        if cells is not None:
            views = [ModelView(cells.true, labels, None, None, None) for labels in cells.predicted]
            return CountedRows(np.column_stack([metric.per_example(v) for v in views]), cells.counts)
        outputs = {m.name: m for m in self.predictions.models}
        by_row = [
            self.rows.columns[name, quantity][1]
            if metric.scale.affine_of is None and (name, quantity) in self.rows.columns
            else metric.per_example(view(self.predictions, outputs[name]))
            for name in models
        ]
        return CountedRows(np.column_stack(by_row), self.units.times)

    def labels(self, models: Sequence[str]) -> Cells | None:
        """Count what these models said of each class; None where examples are not alike and independent."""
        cells = None if self.tables is None else self.tables.cells
        if self.tables is None or cells is None or cells.weight is not None:
            return None
        return replace(cells, predicted=cells.predicted[[self.tables.models.index(name) for name in models]])

    @property
    def label_models(self) -> tuple[str, ...]:
        """Names of the models that give labels."""
        return () if self.tables is None else self.tables.models


def estimate_all(
    predictions: Predictions,
    quantities: Sequence[Quantity],
    *,
    units: Units,
    n_resamples: int,
    seed: int,
    exact: bool = False,
    average: AverageOverTasks = "tasks",
) -> Sample:
    """Compute every quantity of every model, its influence values and its bootstrap replicates.

    Parameters
    ----------
    predictions
        Test predictions in any design; a value is the mean over the parts of its layout.
    units
        What is drawn as one, and what each example weighs.
    n_resamples
        Bootstrap replicates B.
    exact
        Take the replicates of rank metrics from the rows themselves, however many.
    average
        Of a suite: whether a value is the mean of the tasks' values or over all examples.
    """
    layout = layout_of(predictions, average=average)
    if units.weight is not None and not units.weight.any():
        keys, why = product((m.name for m in predictions.models), quantities), Message("undefined.weightless")
        lost = {key: undefined(predictions, key, why) for key in keys}
        return Sample(predictions, tuple(quantities), lost, None, RowData(units, layout, {}, {}, {}))
    single = of_family(quantities, Ranks, RowWise) if _of_one(layout) else []
    missing = {(m.name, q): ONE_EXAMPLE for m in predictions.models for q in single}
    summed = summed_estimates(predictions, quantities, n_resamples=n_resamples, seed=seed)
    missing |= {
        (m.name, q): reason
        for m, q in product(predictions.models, quantities)
        if (m.name, q) not in summed and (reason := lacks(m, q, predictions.scores))
    }
    estimates = {key: undefined(predictions, key, reason) for key, reason in missing.items()}
    labelled = of_family(quantities, ClassCounts, Margins)
    tables, labels = label_estimates(predictions, units, layout.pooled, labelled, n_resamples, seed)
    grouped = of_family(quantities, Contingency)
    found = judged_estimates(predictions, units, layout, quantities)
    if grouped:
        found |= clustering_estimates(predictions, units, grouped, n_resamples=n_resamples, seed=seed)
    by_row = [q for q in quantities if q not in single]
    rows = prepare_rows(predictions, by_row, units, layout)
    source = source_of_replicates(predictions.n, one_by_one=rows.one_by_one, exact=exact)
    # Counts of labels need neither scores nor bins.
    wanted = n_resamples and source != "rows" and (rows.columns or rows.orders)
    bins = _bins(rows, predictions) if wanted else {}
    if source == "histograms" and not bins:
        source = "rows"
    by_rows = row_estimates(predictions, rows, by_row)
    # The states of many rows are large, and no replicates need them.
    states = {} if source == "histograms alone" else rows.states
    rows = replace(rows, source=source, bins=bins, states=states)
    found |= with_replicates(rows, by_rows, n_resamples=n_resamples, seed=seed)
    return Sample(predictions, tuple(quantities), {**estimates, **labels, **found, **summed}, tables, rows)


def _of_one(layout: Layout) -> bool:
    """Say whether rankings would be of one example each, of which every one is perfect and no error the median."""
    return layout.ranked.count > 1 and int(np.bincount(layout.ranked.codes).max()) == 1


def lacks(outputs: ModelOutputs, quantity: Quantity, summed: ScoreSums | None = None) -> Message | None:
    """Say why a model cannot have a quantity, or return None if it can; ``summed``: what is known of scores in sum."""
    given = {
        "labels": outputs.y_pred,
        "scores": outputs.score,
        "probabilities": outputs.proba,
        "values": outputs.y_pred,
        "outcomes": outputs.outcome,
        "passes": outputs.passes,
        "gold": outputs.gold,
        "groups": outputs.y_pred,
    }
    needs = definition(quantity).needs
    if needs not in given or given[needs] is not None:
        return None
    in_sum = needs in ("scores", "probabilities") and summed is not None and outputs.name in summed.models
    return Message("lacks.summed" if in_sum else f"lacks.{needs}")


def prepare_rows(
    predictions: Predictions, quantities: Sequence[Quantity], units: Units, layout: Layout
) -> RowData:
    """Compute the per-example columns, states and orders that the quantities need, by model."""
    rows = RowData(units, layout, {}, {}, {})
    families = [of_family(quantities, family) for family in (Moments, RowWise, Ranks)]
    places = layout.ranked.rows()
    wholes = {outputs.name: view(predictions, outputs) for outputs in predictions.models}
    views = {m: [whole] if len(places) == 1 else [whole.of(p) for p in places] for m, whole in wholes.items()}
    of_model = partial(_of_model, predictions, views)
    for columns, states, orders in mapped(of_model, [*product(families, predictions.models)]):
        rows = replace(
            rows,
            columns={**rows.columns, **columns},
            states={**rows.states, **states},
            orders={**rows.orders, **orders},
        )
    return rows


def _of_model(
    predictions: Predictions,
    views: Mapping[str, Sequence[ModelView]],
    wanted: tuple[Sequence[Quantity], ModelOutputs],
) -> tuple[dict[Key, Columns], dict[Key, tuple[object, ...]], dict[str, tuple[Order, ...]]]:
    """Compute one model's columns, states or orders, the latter from the view of each ranked part."""
    quantities, outputs = wanted
    columns: dict[Key, Columns] = {}
    states: dict[Key, tuple[object, ...]] = {}
    orders: dict[str, tuple[Order, ...]] = {}
    parts = views[outputs.name]
    prepared: dict[object, tuple[object, ...]] = {}
    of_columns: dict[object, Columns] = {}
    for quantity in quantities:
        computation, key = definition(quantity).computation, (outputs.name, quantity)
        if lacks(outputs, quantity):
            continue
        # Squares of numbers near the largest double are infinite; the value is then undefined, with that reason.
        with np.errstate(over="ignore", invalid="ignore"):
            if isinstance(computation, Moments):
                if computation.columns not in of_columns:
                    of_columns[computation.columns] = computation.columns(view(predictions, outputs))
                columns[key] = of_columns[computation.columns]
            elif isinstance(computation, RowWise):
                if computation.prepare not in prepared:
                    prepared[computation.prepare] = tuple(computation.prepare(part) for part in parts)
                states[key] = chosen_states(prepared[computation.prepare], quantity, predictions)
            elif isinstance(computation, Ranks) and outputs.name not in orders:
                orders[outputs.name] = tuple(part.order for part in parts)
    return columns, states, orders


def chosen_states(
    states: tuple[object, ...], quantity: Quantity, predictions: Predictions
) -> tuple[object, ...]:
    """Say which average or class of a shared state a class-wise quantity is about."""
    if not definition(quantity).averages:
        return states
    code = None if quantity.label is None else predictions.classes.index(quantity.label)
    return tuple(Chosen(state, quantity.average, code) for state in states)


def _bins(rows: RowData, predictions: Predictions) -> Mapping[str, tuple[Bins, ...]]:
    """Return the histograms of the scores, from which replicates are taken where there are very many rows.

    All scores are cut into bins, ranked or not: the replicates of a mean of losses, which come from the same bins,
    do not depend on what else is asked for.
    """
    orders = dict(rows.orders)
    if rows.one_by_one:
        for outputs in predictions.models:
            whole = view(predictions, outputs)
            if outputs.name not in orders and outputs.score is not None and whole.positive_code is not None:
                orders[outputs.name] = (whole.order,)
    places = rows.layout.ranked.rows()
    weight = rows.units.weight

    def of_model(name: str) -> tuple[Bins, ...]:
        return tuple(
            bins_of(order, None if weight is None else weight[p])
            for p, order in zip(places, orders[name], strict=True)
        )

    return dict(zip(orders, mapped(of_model, [*orders]), strict=True))


ROUNDING = 1e-14
"""What is left of a variance below this share of it is rounding."""


def summed_estimates(
    predictions: Predictions, quantities: Sequence[Quantity], *, n_resamples: int, seed: int
) -> Mapping[tuple[str, Quantity], Estimate]:
    """Estimate what follows from the sums of scores, of every model that gives any; nothing where there are no sums.

    The derivatives of an estimate stand for those of all examples: their products with another model's are the sums
    of the products of these. Its replicates are drawn from the normal distribution with these variances and
    covariances, which is that of the bootstrap's replicates but for what vanishes with the number of examples.
    """
    sums = predictions.scores
    found: dict[tuple[str, Quantity], Estimate] = {}
    if sums is None:
        return found
    for quantity in of_family(quantities, Moments):
        computation = definition(quantity).computation
        if not (isinstance(computation, Moments) and computation.of_gaps):
            continue
        gaps = {model: sums.gaps(model) for model in sums.models}
        found |= {
            (model, quantity): Estimate(
                model=model,
                quantity=quantity,
                value=float(definition(quantity).computation.function(of_model)),
                range=value_range(definition(quantity), predictions),
                sampling=Sampling(n=predictions.n_examples, only_sums=True),
                evidence=Rows(),
            )
            for model, of_model in gaps.items()
            if of_model is not None
        }
    ranked, losses = slopes_of_ranks(), losses_of_probability()
    for quantity in quantities:
        scale = definition(quantity).scale.affine_of
        base = definition(quantity) if scale is None else definition(Quantity(scale.of))
        models = [name for name in sums.models if sums.holds(base.name, name)]
        if quantity.label is not None or base.name not in {*ranked, *losses} or not models:
            continue
        if min(sums.class_sizes) == 0:
            undefined_here = definition(quantity).scale.undefined
            found |= {(m, quantity): undefined(predictions, (m, quantity), undefined_here) for m in models}
            continue
        values = np.array([_value(sums, base.name, model) for model in models])
        rows = _rows(sums, base.name, models)
        if scale is not None:
            values, rows = scale.forward(values), rows * scale.slope
        limits = value_range(definition(quantity), predictions)
        replicates = np.clip(values[:, None] + _drawn(rows, base.name, n_resamples, seed), *limits)
        positives = np.arange(rows.shape[1]) >= len(models)
        for k, model in enumerate(models):
            found[model, quantity] = Estimate(
                model=model,
                quantity=quantity,
                value=float(values[k]),
                range=limits,
                sampling=Sampling(n=predictions.n_examples, only_sums=True),
                evidence=Mean()
                if base.name in losses
                else Ranking(positives, sums.class_sizes, float(min(sums.class_sizes))),
                influence=Influence(rows[k], np.ones(rows.shape[1])),
                replicates=replicates[k] if n_resamples else None,
            )
    return found


def _value(sums: ScoreSums, metric: str, model: str) -> float:
    if metric in slopes_of_ranks():
        return float(definition(Quantity(metric)).computation.function(*sums.groups[model]))
    return sums.total(metric, model) / sum(sums.class_sizes)


def _rows(sums: ScoreSums, metric: str, models: Sequence[str]) -> Floats:
    """Return derivatives (k, m) whose products are the sums of products of those of all examples.

    Of rank metrics those of the negatives come first, then those of the positives, k of each.
    """
    products = sums.products_of(metric, models)
    if metric in slopes_of_ranks():
        return np.concatenate([_root(part) for part in products], axis=1)
    n = sum(sums.class_sizes)
    totals = np.array([sums.total(metric, model) for model in models])
    return _root((products.sum(axis=0) - np.outer(totals, totals) / n) / n**2)


def _root(products: Floats) -> Floats:
    """Return L with L L' = products (k, k), lower triangular (Cholesky); what is rounding counts as 0."""
    found = np.zeros_like(products)
    for j in range(len(products)):
        left = products[j:, j] - (found[j:, :j] * found[j, :j]).sum(axis=1)
        if left[0] > ROUNDING * products[j, j]:
            found[j:, j] = left / np.sqrt(left[0])
    return found


def _drawn(rows: Floats, metric: str, n_resamples: int, seed: int) -> Floats:
    """Draw deviations (k, B) from the normal distribution with the covariances of the rows' products."""
    digest = int.from_bytes(hashlib.blake2b(metric.encode(), digest_size=8).digest(), "big")
    normal = np.random.default_rng([seed, digest]).standard_normal((rows.shape[1], n_resamples))
    found = np.zeros((len(rows), n_resamples))
    for row, deviates in zip(rows.T, normal, strict=True):
        found += row[:, None] * deviates
    return found


def available(predictions: Predictions) -> tuple[Quantity, ...]:
    """Return every quantity of the task, in the registry's order: the metric, its averages, its classes."""
    found: list[Quantity] = []
    for metric in METRICS.values():
        if isinstance(metric.computation, Training):
            continue  # criteria of training rows: no quantity of test predictions
        if isinstance(metric.computation, Judgements) and not predictions.judged:
            continue
        if predictions.task not in metric.tasks or len(predictions.classes) < metric.least_classes:
            continue
        if metric.numbered is not None:
            repeated = any(model.attempts is not None for model in predictions.models)
            found += _with_usual_numbers(metric, predictions) if repeated else []
        elif predictions.task == "multiclass" and metric.averages:
            found += [Quantity(metric.name, average=average) for average in metric.averages]
            found += [Quantity(metric.name, label=label) for label in predictions.classes]
        else:
            found.append(Quantity(metric.name))
    return tuple(found)


def _with_usual_numbers(metric: Metric, predictions: Predictions) -> list[Quantity]:
    """Return a numbered metric with 1 and the smallest number of attempts at a question."""
    counts = [m.attempts.count for m in predictions.models if m.attempts is not None]
    # A model without a question, which others have on test sets of their own, has no attempt at it.
    fewest = min((int(count[count > 0].min()) for count in counts), default=1)
    assert metric.numbered is not None
    return [Quantity(f"{metric.numbered.begins}{k}") for k in sorted({1, fewest})]


def _as_named(name: str, predictions: Predictions) -> list[Quantity]:
    """Return what a name stands for: one quantity, or a numbered metric with its usual numbers."""
    quantity = parse(name, predictions.task, predictions.classes)
    metric = definition(quantity)
    return _with_usual_numbers(metric, predictions) if metric.numbered is not None else [quantity]


def chosen(
    predictions: Predictions, names: tuple[str, ...], in_gates: Iterable[str] = ()
) -> tuple[Quantity, ...]:
    """Return the quantities of a run, the primary one first: those named, else all of the task.

    Parameters
    ----------
    names
        The metrics that the run was asked for, as the command line spells them.
    in_gates
        The metrics that gates are about. Where no metric is named, the numbered ones among them (``pass^3``) are added:
        a task has them with its usual numbers only.
    """
    if names:
        named = [q for name in names for q in _as_named(name, predictions)]
        if isinstance(definition(named[0]).computation, Training):
            raise UsageError(
                f"metric {names[0]!r} is a criterion of training rows and compares no test predictions: name a"
                " metric of test predictions first, for the verdict to be about"
            )
        return tuple(q for q in dict.fromkeys(named) if not isinstance(definition(q).computation, Training))
    name = JUDGED if predictions.judged else PRIMARY[predictions.task]
    primary = parse(name, predictions.task, predictions.classes)
    if predictions.classes and all(m.y_pred is None for m in predictions.models):
        # Bare scores without a threshold: no model has labels, so none has an accuracy.
        primary = Quantity("roc_auc")
    numbered = (Quantity(name) for name in in_gates if NUMBERED.fullmatch(name) and name in METRICS)
    others = (*available(predictions), *numbered)
    return tuple(dict.fromkeys((primary, *(q for q in others if predictions.task in definition(q).tasks))))


def parse(text: str, task: Task, classes: tuple[str, ...]) -> Quantity:
    """Read a metric as the command line spells it.

    For several classes the bare name of a class-wise metric means its macro average.

    Raises
    ------
    UsageError
        Unknown metric, a metric of another task, an average or class that it does not have.
    """
    match = re.fullmatch(
        r"(?P<metric>\w+(?:[@^]\d+)?)(?:\[class=(?P<label>.*)\])?", text.strip(), flags=re.DOTALL
    )
    if match is None:
        if close_names(text, spelled_metrics()):
            raise UsageError(unknown_name("metric", text, spelled_metrics()))
        raise UsageError(f"{text!r} is not a metric; write f1, f1_macro or recall[class=3]")
    name, label, average = match["metric"], match["label"], None
    if name not in METRICS:
        stem, _, last = name.rpartition("_")
        if last in get_args(Average) and stem in METRICS:
            name, average = stem, last
        elif close_names(text, spelled_metrics()):
            raise UsageError(unknown_name("metric", text, spelled_metrics()))
    metric = METRICS[name]
    if task not in metric.tasks:
        raise UsageError(f"metric {name!r} is for {' or '.join(metric.tasks)} tasks; these data are {task}")
    if label is not None and label not in classes:
        raise UsageError(
            f"metric {text!r}: {label!r} is not a class of these data; classes: {', '.join(classes[:20])}"
        )
    if (label is not None or average is not None) and (task != "multiclass" or not metric.averages):
        raise UsageError(
            f"metric {text!r}: {name} has no classes or averages on these {task} data; write {name!r}"
        )
    if average is not None and average not in metric.averages:
        raise UsageError(f"metric {text!r}: {name} has the averages {', '.join(metric.averages)}")
    if task == "multiclass" and metric.averages and label is None:
        return Quantity(name, average or metric.averages[0])
    return Quantity(name, None, label)


def spelled_metrics() -> list[str]:
    """Return what a metric can be called: each name, also with its averages."""
    return [
        spelled
        for name, metric in METRICS.items()
        for spelled in (name, *(f"{name}_{average}" for average in metric.averages))
    ]


def named_criteria(names: Sequence[str], task: Task) -> tuple[Quantity, ...]:
    """Return the criteria of training rows among the names; with no names all that the task has."""
    found = [m.name for m in METRICS.values() if isinstance(m.computation, Training) and task in m.tasks]
    return tuple(Quantity(name) for name in found if not names or name in names)


# --- what is said of bins -------------------------------------------------------------------------------------------

Share = tuple[Quantity, str, str]
"""A quantity and the two models of a difference, or the same model twice."""


def shares_of_ranks(
    bins: Mapping[str, tuple[Bins, ...]], estimates: Mapping[Key, Estimate]
) -> dict[Share, float]:
    """Return the share of variance inside bins of each binned rank metric, and of each difference of two models."""
    ranked = [key for key in estimates if _is_ranked(key, bins) and estimates[key].derivative is not None]
    first = {model: parts[0] for model, parts in bins.items()}
    by_quantity = [[key for key in ranked if key[1] == q] for q in dict.fromkeys(key[1] for key in ranked)]
    every = mapped(lambda own: shares(slopes_of_keys(first, estimates, own)), by_quantity)
    return {
        (own[i][1], own[i][0], own[j][0]): share
        for own, found in zip(by_quantity, every, strict=True)
        for (i, j), share in found.items()
    }


def histograms_found(sample: Sample) -> tuple[FoundRecord, ...]:
    """Say how the rank metrics of very many rows were resampled and how much of their variance that loses.

    Shares are known, and replicates completed, where rows are drawn one by one and make one evaluation; models that
    hardly differ in rank are resampled from bins as well where there are too many rows to be resampled themselves.
    """
    data, bins, estimates = sample.rows, sample.rows.bins, sample.estimates
    ranked = [key for key, e in estimates.items() if e.defined and _is_ranked(key, bins)]
    if not ranked:
        return ()
    most = max(len(part.wins) for key in ranked for part in bins[key[0]])
    why = Message("bins.why", n=MOST_EXACT_ROWS)
    if data.one_by_one:
        found = shares_of_ranks(bins, estimates)
        why = Message(
            "bins.why_of", why=why, shares=tuple(_of_shares(found, named=data.source == "histograms alone"))
        )
    return (FoundRecord(what="resampling of ranks", value=Message("bins.histogram", n=most), why=why),)


def _is_ranked(key: Key, bins: Mapping[str, tuple[Bins, ...]]) -> bool:
    return key[0] in bins and isinstance(definition(key[1]).computation, Ranks)


def _of_shares(found: Mapping[Share, float], *, named: bool) -> Iterator[Message]:
    """Say what lies inside bins: left out, added, or (``named``) more than can be added to first order."""
    by_quantity: dict[str, list[float]] = {}
    close: dict[str, list[str]] = {}
    for (quantity, a, b), share in found.items():
        by_quantity.setdefault(quantity.spelled, []).append(share)
        if named and share > FIRST_ORDER_SHARE:
            close.setdefault(a if a == b else f"{a} - {b}", []).append(quantity.spelled)
    left = {name: max(every) for name, every in by_quantity.items() if max(every) <= NEGLIGIBLE_SHARE}
    yield Message("bins.within")
    if left:
        yield Message("bins.left_out", names=tuple(left), share=max(left.values()), digits=1)
    if added := tuple(name for name in by_quantity if name not in left):
        yield Message("bins.added", names=added)
    if close:
        pairs = [Message("bins.pair", models=models, names=names) for models, names in close.items()]
        yield Message("bins.close", pairs=pairs)
