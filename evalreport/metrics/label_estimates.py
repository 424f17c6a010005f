"""Estimates of the label metrics: from distinct cells where examples are alike, from rows where they are not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import sparse

from evalreport.engine.counts import (
    Cells,
    Codes,
    Counts,
    distinct_cells,
    few_a_cell,
    margin_columns,
    one_vs_rest,
    two_classes,
)
from evalreport.engine.distributions import gradient, ratio, slopes_at, zero_where_undefined
from evalreport.engine.draws import bootstrap_cells, bootstrap_cells_within, bootstrap_rows
from evalreport.metrics.estimate import Estimate, value_range
from evalreport.metrics.evidence import EffectiveProportion, Proportion, Table, WeightedF1
from evalreport.metrics.metric import ClassCounts, Margins
from evalreport.metrics.registry import METRICS, Quantity, definition
from evalreport.metrics.sampling import Influence
from evalreport.metrics.units import Parts, Units, within
from evalreport.predictions.arrays import Floats
from evalreport.predictions.table import Predictions

Key = tuple[str, Quantity]


@dataclass(frozen=True, slots=True)
class LabelTables:
    """The label models' counts, and how their bootstrap is drawn.

    Attributes
    ----------
    models
        Names of the models that give labels.
    parts
        How many evaluations (repeats, replicates ...) the value is a mean over.
    cells
        Distinct combinations of truth, labels and weight; None with parts, clusters or tasks, where units are drawn.
    columns
        By model, (atoms, parts 3 K): what one draw of each atom (cell or unit) adds to which margins.
    rows
        By model, (n, parts 3 K): what one example of each row adds, where clusters of examples are drawn; else empty.
    tables
        By model, the K x K counts over all rows, each with its weight.
    """

    models: tuple[str, ...]
    units: Units
    parts: int
    cells: Cells | None
    columns: tuple[sparse.csr_array, ...]
    rows: tuple[sparse.csr_array, ...]
    tables: tuple[Floats, ...]

    @classmethod
    def of(cls, predictions: Predictions, units: Units, parts: Parts) -> LabelTables | None:
        """Count the predictions of the models that give labels; None where no model does."""
        given = [m for m in predictions.models if m.y_pred is not None]
        if not given or predictions.y_true is None or not predictions.classes:
            return None
        names = tuple(m.name for m in given)
        true, predicted = predictions.y_true, [np.asarray(m.y_pred) for m in given]
        # A prediction that is missing, and counted as wrong, is one class more, which no example belongs to.
        k = len(predictions.classes) + predictions.outside
        if units.single and parts.count == 1:
            cells = distinct_cells(true, predicted, units.times, units.weight)
            columns = tuple(
                margin_columns(cells.true, labels, k, weight=cells.weight) for labels in cells.predicted
            )
            tables = tuple(counted(cells.true, labels, cells.weighed, k) for labels in cells.predicted)
            return cls(names, units, 1, cells, columns, (), tables)
        rows = tuple(
            margin_columns(true, labels, k, part=parts.codes, n_parts=parts.count) for labels in predicted
        )
        columns = tuple(units.gather(table) for table in rows)
        tables = tuple(counted(true, labels, units.base, k) for labels in predicted)
        kept = () if units.cluster is None or units.attempts else rows
        return cls(names, units, parts.count, None, columns, kept, tables)

    @property
    def n_classes(self) -> int:
        """Number of classes K, and one more where predictions that are missing count as wrong."""
        return len(self.tables[0])

    def draws(self, n_resamples: int, *, seed: int) -> Iterator[Floats]:
        """Yield blocks (b, atoms) of bootstrap multiplicities."""
        if self.cells is not None and self.units.strata is not None:
            return bootstrap_cells_within(self.cells.counts, self.cells.true, n_resamples, seed=seed)
        if self.cells is not None:
            few = self.cells.weight is not None and few_a_cell(self.cells.counts)
            draw = _bootstrap_examples if few else bootstrap_cells
            return draw(self.cells.counts, n_resamples, seed=seed)
        return self.units.unit_draws(n_resamples, seed=seed)

    def margins(self, model: int, multiplicities: Floats) -> Floats:
        """Return the margins (b, parts, 3, K) of one model under multiplicities (b, atoms)."""
        flat: Floats = np.asarray(multiplicities @ self.columns[model])
        return flat.reshape(len(multiplicities), self.parts, 3, self.n_classes)

    def point(self, model: int) -> Floats:
        """Return the margins (parts, 3, K) of one model on the data themselves."""
        ones = np.ones(self.columns[model].shape[0]) if self.cells is None else self.cells.counts
        whole: Floats = self.margins(model, ones[None, :])[0]
        return whole

    def influence(self, model: int, slope: Floats) -> tuple[Floats, Floats]:
        """Return derivatives by the multiplicity of a unit, and how many units share each."""
        by_atom = np.asarray(self.columns[model] @ slope.ravel())
        if self.cells is None:
            return self.units.centred(by_atom), np.ones(len(by_atom))
        if self.units.strata is not None:
            by_atom = within(by_atom, self.cells.counts, self.cells.true)
        return by_atom, self.cells.counts

    def by_example(self, model: int, slopes: Floats) -> Callable[[], Floats] | None:
        """Return a function that makes the derivatives (n,) by the weight of one example; None without clusters."""
        if not self.rows:
            return None
        return lambda: np.asarray(self.rows[model] @ slopes.ravel())

    def by_part(self, model: int, slopes: Floats) -> Floats:
        """Return derivatives (units, parts) by the multiplicity of a unit in one part, of slopes (parts, 3, K)."""
        width = slopes[0].size
        own = [
            self.columns[model][:, j * width : (j + 1) * width] @ slope.ravel()
            for j, slope in enumerate(slopes)
        ]
        return np.stack(own, axis=1)


def _bootstrap_examples(counts: Floats, n_resamples: int, *, seed: int) -> Iterator[Floats]:
    """Yield the draws of ``bootstrap_cells``, by drawing examples in the order of their cells and counting."""
    n = round(float(counts.sum()))
    cell = np.repeat(np.arange(len(counts)), counts.astype(np.int64))
    adder = sparse.csr_array((np.ones(n), cell, np.arange(n + 1)), shape=(n, len(counts)))
    for weights in bootstrap_rows(n, n_resamples, seed=seed):
        yield weights if n == len(counts) else np.asarray(weights @ adder)


def counted(true: Codes, predicted: Codes, weights: Floats, n_classes: int) -> Floats:
    """Count a K x K confusion table, rows true, columns predicted."""
    table = np.zeros((n_classes, n_classes))
    np.add.at(table, (true, predicted), weights)
    return table


def table_function(quantity: Quantity, predictions: Predictions) -> Callable[[Floats], Floats]:
    """Return the function of margins (..., 3, K) -> (...) that a label quantity is."""
    metric = definition(quantity)
    if isinstance(metric.computation, Margins):
        return metric.computation.function
    if quantity.average is None:
        counts = counts_of(quantity, predictions)
        return lambda m: metric.computation.function(counts(m))
    if quantity.average == "micro":
        return lambda m: metric.computation.function(Counts(*(part.sum(-1) for part in one_vs_rest(m))))

    n_classes = len(predictions.classes)

    def averaged(m: Floats) -> Floats:
        values = zero_where_undefined(metric.computation.function(one_vs_rest(m)))
        if quantity.average == "macro":
            return np.asarray(values[..., :n_classes].mean(-1))
        return ratio((values * m[..., 1, :]).sum(-1), m[..., 1, :].sum(-1))

    return averaged


def table_slopes(quantity: Quantity, predictions: Predictions) -> Callable[[Floats], Floats]:
    """Return the function that differentiates a label quantity by its margins, (..., 3, K) -> (..., 3, K).

    A metric of one class against the rest has four derivatives for any number of classes. Where it is
    undefined, it is 0 by convention and so is its derivative.
    """
    metric = definition(quantity)
    if isinstance(metric.computation, Margins) or answers_outside(quantity, predictions):
        function = table_function(quantity, predictions)
        return lambda m: slopes_at(lambda moved: zero_where_undefined(function(moved)), m, 2)

    def slopes(m: Floats) -> Floats:
        """Return the derivatives at margins m (..., 3, K), by the same entries."""
        counts = one_vs_rest(m)
        if quantity.average is None:
            chosen: slice | list[int] = [class_code(quantity, predictions)]
        else:
            chosen = slice(len(predictions.classes) if quantity.average == "macro" else None)
        own = Counts(*(part[..., chosen] for part in counts))
        pooled = (
            Counts(*(part.sum(-1, keepdims=True) for part in own)) if quantity.average == "micro" else own
        )
        value = zero_where_undefined(metric.computation.function(pooled))
        by_count = slopes_at(
            lambda c: zero_where_undefined(
                metric.computation.function(Counts(*(c[..., j] for j in range(4))))
            ),
            np.stack(pooled, axis=-1),
            1,
        )
        share = {
            "macro": 1 / len(predictions.classes),
            "weighted": m[..., 1, :] / m[..., 1, :].sum(-1, keepdims=True),
        }
        weight = share.get(str(quantity.average), 1.0)
        tp, fp, fn, tn = (by_count[..., j] * weight for j in range(4))
        found = np.zeros_like(m)
        found[..., 0, chosen] = tp - fp - fn + tn
        found[..., 1, chosen] = fn - tn
        found[..., 2, chosen] = fp - tn
        # Every example, of any class, is one more true negative of the others.
        classes = m.shape[-1] if quantity.average == "micro" else 1
        found[..., 1, :] += classes * tn.sum(-1, keepdims=True)
        if quantity.average == "weighted":
            total = m[..., 1, :].sum(-1, keepdims=True)
            found[..., 1, :] += (value - (value * weight).sum(-1, keepdims=True)) / total
        return found

    return slopes


def class_code(quantity: Quantity, predictions: Predictions) -> int:
    """Return the code of the class that a class-wise quantity is about."""
    return predictions.positive_code if quantity.label is None else predictions.classes.index(quantity.label)


def label_estimates(
    predictions: Predictions,
    units: Units,
    parts: Parts,
    quantities: Sequence[Quantity],
    n_resamples: int,
    seed: int,
) -> tuple[LabelTables | None, dict[Key, Estimate]]:
    """Count the models' predictions, and estimate every label quantity of every label model from one set of draws."""
    tables = LabelTables.of(predictions, units, parts) if quantities else None
    if tables is None:
        return None, {}
    functions = {quantity: table_function(quantity, predictions) for quantity in quantities}
    drawn: dict[Key, list[Floats]] = {(name, q): [] for name in tables.models for q in quantities}
    points = {name: tables.point(j) for j, name in enumerate(tables.models)}
    # What counts 0 in the data by convention does so in every replicate; else a replicate of 0/0 is left out.
    by_convention = {(name, q): bool(np.isnan(functions[q](points[name])).any()) for name, q in drawn}
    for multiplicities in tables.draws(n_resamples, seed=seed):
        for j, name in enumerate(tables.models):
            block = tables.margins(j, multiplicities)
            for quantity, function in functions.items():
                values = function(block)
                filled = zero_where_undefined(values) if by_convention[name, quantity] else values
                drawn[name, quantity].append(filled.mean(axis=1))
    return tables, {
        (name, quantity): _estimate(predictions, tables, j, quantity, function, drawn[name, quantity])
        for j, name in enumerate(tables.models)
        for quantity, function in functions.items()
    }


def _estimate(
    predictions: Predictions,
    tables: LabelTables,
    model: int,
    quantity: Quantity,
    function: Callable[[Floats], Floats],
    replicates: Sequence[Floats],
) -> Estimate:
    point = tables.point(model)
    values = function(point)
    low, high = value_range(definition(quantity), predictions)
    value = min(max(float(zero_where_undefined(values).mean()), low), high)  # sums of weights are rounded
    undefined = bool(np.isnan(values).any())
    slopes = _slopes(function, point) / tables.parts
    derivative, counts = tables.influence(model, slopes)
    by_fit = None if predictions.design != "seeds" else lambda: tables.by_part(model, slopes)
    return Estimate(
        model=tables.models[model],
        quantity=quantity,
        value=value,
        reason=definition(quantity).scale.undefined if undefined else None,
        range=(low, high),
        sampling=tables.units.sampling(predictions.n_examples),
        evidence=_evidence(quantity, tables, model, value, predictions),
        influence=Influence(derivative, counts, by_fit, tables.by_example(model, slopes)),
        replicates=np.concatenate(replicates),
    )


def _slopes(function: Callable[[Floats], Floats], point: Floats) -> Floats:
    """Return the derivatives (parts, 3, K) of a function of margins, part by part."""
    return np.stack([gradient(function, part) for part in point])


def _evidence(
    quantity: Quantity, tables: LabelTables, model: int, value: float, predictions: Predictions
) -> Table | Proportion | EffectiveProportion | WeightedF1:
    """Return the counts of a proportion or of weighted F1, effective trials, or the table alone."""
    point, units = tables.point(model), tables.units
    table = _table(quantity, tables.tables[model], predictions)
    trials_of = _successes_and_trials(quantity, predictions)
    if units.plain and tables.parts == 1:
        if trials_of is not None:
            successes, trials = (float(count) for count in trials_of(point[0]))
            return Proportion(successes, trials, table)
        return table
    if tables.cells is not None and tables.cells.weight is not None:
        found_f1 = _weighted_f1(quantity, tables, model, predictions, table)
        if found_f1 is not None:
            return found_f1
    by_weight = units.weight is not None or (units.cluster is not None and value in (0, 1))
    if units.order is not None and trials_of is not None:
        assert units.trials_effective is not None
        return EffectiveProportion(units.trials_effective, table)
    if units.task is not None or trials_of is None or not by_weight:
        return table
    by_unit, times = tables.influence(model, _slopes(lambda margins: trials_of(margins)[1], point))
    return EffectiveProportion(units.effective(by_unit, times), table)


def _weighted_f1(
    quantity: Quantity, tables: LabelTables, model: int, predictions: Predictions, table: Table
) -> WeightedF1 | None:
    """Return the effective number of weighted examples behind F1 of one class; None of other metrics, and for 0/0.

    It is the smaller of Kish's number of the examples in TP + FP + FN, d^2 / sum w^2, and of Korn and Graubard's
    J (1 - J) / V, with V = n / (n - 1) sum (w ([in TP] - J [in TP + FP + FN]) / d)^2. J of 0 or 1 has the first alone.
    """
    computation, units = definition(quantity).computation, tables.units
    below = computation.monotone_of if isinstance(computation, ClassCounts) else None
    assert tables.cells is not None
    assert tables.cells.weight is not None
    if below is None or quantity.average is not None or units.n_effective is None:
        return None
    base, counts, point = METRICS[below[0]].computation, counts_of(quantity, predictions), tables.point(model)
    assert isinstance(base, ClassCounts)
    assert base.proportion is not None
    proportion = base.proportion
    right, total = (float(sums) for sums in proportion(counts(point[0])))
    if not total:
        return None
    # Each example's weight where it is counted, else 0.
    of_right = tables.influence(model, _slopes(lambda margins: proportion(counts(margins))[0], point))[0]
    of_total = tables.influence(model, _slopes(lambda margins: proportion(counts(margins))[1], point))[0]
    times, jaccard = tables.cells.counts, right / total
    kish_number = total**2 / float((times * of_total**2).sum())
    n = float(times[tables.cells.weight > 0].sum())
    squares = float((times * ((of_right - jaccard * of_total) / total) ** 2).sum())
    trials = kish_number
    if 0 < jaccard < 1 and n > 1:
        trials = min(kish_number, jaccard * (1 - jaccard) / (n / (n - 1) * squares))
    return WeightedF1(jaccard, trials, units.n_effective, table)


def _table(quantity: Quantity, counts: Floats, predictions: Predictions) -> Table:
    computation = definition(quantity).computation
    rows = labels = tuple(range(len(predictions.classes)))
    if isinstance(computation, ClassCounts) and quantity.average is None:
        code = class_code(quantity, predictions)
        rows = labels = (code, *(other for other in labels if other != code))[:2]
    elif isinstance(computation, Margins) and computation.recall_slope:
        rows = tuple(k for k in rows if counts[k].any())
    return Table(counts, predictions.outside, table_function(quantity, predictions), rows, labels)


def counts_of(quantity: Quantity, predictions: Predictions) -> Callable[[Floats], Counts]:
    """Return the function of margins (..., 3, K) that counts a class against the rest."""
    code = class_code(quantity, predictions)
    negatives = answers_outside(quantity, predictions)
    if negatives:
        return lambda m: two_classes(m, code, by_answer=negatives == "answers")
    return lambda m: Counts(*(part[..., code] for part in one_vs_rest(m)))


def answers_outside(quantity: Quantity, predictions: Predictions) -> Literal["", "truth", "answers"]:
    """Return which negatives a metric of one of two classes counts where some examples have no prediction at all.

    Empty where every example has one, or no true negatives are counted.
    """
    computation = definition(quantity).computation
    outside = predictions.outside > 0 and predictions.task == "binary"
    return computation.negatives if outside and isinstance(computation, ClassCounts) else ""


def _successes_and_trials(
    quantity: Quantity, predictions: Predictions
) -> Callable[[Floats], tuple[Floats, Floats]] | None:
    """Return the function of margins (..., 3, K) that counts successes and trials; None if it is no proportion."""
    computation = definition(quantity).computation
    assert isinstance(computation, ClassCounts | Margins)
    proportion = computation.proportion
    # Every example is one TP, or one FP and one FN: micro precision, recall and F1 are accuracy.
    micro_is_accuracy = isinstance(computation, ClassCounts) and computation.micro_is_accuracy
    if quantity.average == "micro" and micro_is_accuracy:
        return lambda m: (m[..., 0, :].sum(-1), m[..., 1, :].sum(-1))
    if proportion is None or quantity.average is not None:
        return None
    if isinstance(computation, Margins):
        return lambda m: proportion(m[..., 0, :].sum(-1), m[..., 1, :].sum(-1))
    counts = counts_of(quantity, predictions)
    return lambda m: proportion(counts(m))
