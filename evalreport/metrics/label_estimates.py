"""Estimates of the label metrics: from distinct cells where examples are alike, from rows where they are not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from scipy import sparse

from evalreport.engine.counts import (
    Cells,
    Codes,
    Counts,
    distinct_cells,
    few_a_cell,
    margin_columns,
    margins_of,
)
from evalreport.engine.distributions import Array, slopes_at, slopes_by_each, zero_where_undefined
from evalreport.engine.draws import bootstrap_cells, bootstrap_cells_within, bootstrap_rows
from evalreport.metrics.estimate import Estimate, value_range
from evalreport.metrics.evidence import AtCounts, EffectiveProportion, OfValue, Proportion, Table, WeightedF1
from evalreport.metrics.layout import Parts
from evalreport.metrics.metric import ClassCounts, Margins
from evalreport.metrics.registry import METRICS, Quantity, definition
from evalreport.metrics.table_functions import TableFunctions, by_margins, class_code
from evalreport.predictions.arrays import Floats, required
from evalreport.predictions.table import Predictions
from evalreport.samplings import Influence, Sampling, within

Key = tuple[str, Quantity]

MOST_KEPT = 8
"""Cells of some of the models that are kept at a time."""

Resampled = Callable[[Estimate], bool]
"""Says of an estimate whether it gets bootstrap replicates."""


def everything(_: Estimate) -> bool:
    """Give every estimate its replicates."""
    return True


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
    last
        The cells of the last models asked for, whose quantities follow one another.
    """

    models: tuple[str, ...]
    units: Sampling
    parts: int
    cells: Cells | None
    columns: tuple[sparse.csr_array, ...]
    rows: tuple[sparse.csr_array, ...]
    tables: tuple[Floats, ...]
    last: dict[tuple[str, ...], Cells] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, predictions: Predictions, units: Sampling, parts: Parts) -> LabelTables | None:
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
        by_row = rows if units.knows_examples else ()
        return cls(names, units, parts.count, None, columns, by_row, tables)

    @property
    def n_classes(self) -> int:
        """Number of classes K, and one more where predictions that are missing count as wrong."""
        return len(self.tables[0])

    def draws(self, n_resamples: int, *, seed: int) -> Iterator[Floats]:
        """Yield blocks (b, atoms) of bootstrap multiplicities."""
        if self.cells is not None and self.units.strata is not None:
            return bootstrap_cells_within(self.cells.counts, self.cells.true, n_resamples, seed=seed)
        if self.cells is not None:
            draw = _bootstrap_examples if few_a_cell(self.cells.counts) else bootstrap_cells
            return draw(self.cells.counts, n_resamples, seed=seed)
        return self.units.unit_draws(n_resamples, seed=seed)

    def cells_of(self, models: tuple[str, ...]) -> Cells:
        """Return the distinct cells of some models, where single examples are drawn."""
        cells, kept = self.cells, self.last.get(models)
        assert cells is not None
        if models == self.models:
            return cells
        if kept is None:
            predicted = [cells.predicted[self.models.index(name)] for name in models]
            kept = distinct_cells(cells.true, predicted, cells.counts, cells.weight)
            if len(self.last) >= MOST_KEPT:
                self.last.clear()
            self.last[models] = kept
        return kept

    def margins(self, model: int, multiplicities: Floats) -> Floats:
        """Return the margins (b, parts, 3, K) of one model under multiplicities (b, atoms), laid out by atom."""
        flat: Floats = np.asarray(self.columns[model].T @ multiplicities.T)
        return flat.T.reshape(len(multiplicities), self.parts, 3, self.n_classes)

    def point(self, model: int) -> Floats:
        """Return the margins (parts, 3, K) of one model on the data themselves."""
        whole: Floats = self.margins(model, self.units_an_atom[None, :])[0]
        return whole

    def influence(self, model: int, slopes: Floats) -> Floats:
        """Return derivatives (atoms,) by the multiplicity of a unit, of slopes (parts, 3, K)."""
        by_atom = np.asarray(self.columns[model] @ slopes.ravel())
        if self.cells is None:
            return self.units.centred(by_atom)
        if self.units.strata is not None:
            by_atom = within(by_atom, self.cells.counts, self.cells.true)
        return by_atom

    @property
    def units_an_atom(self) -> Floats:
        """How many units share each derivative, (atoms,)."""
        return np.ones(self.columns[0].shape[0]) if self.cells is None else self.cells.counts

    def by_example(self, model: int, slopes: Floats) -> Floats:
        """Return derivatives (n,) by the weight of one example, where clusters are drawn."""
        return np.asarray(self.rows[model] @ slopes.ravel())

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
    starts = np.cumsum(counts[:-1].astype(np.int64), dtype=np.int64)
    for weights in bootstrap_rows(n, n_resamples, seed=seed):
        yield np.add.reduceat(weights, np.concatenate([[0], starts]), axis=1)


def counted(true: Codes, predicted: Codes, weights: Floats, n_classes: int) -> Floats:
    """Count a K x K confusion table, rows true, columns predicted."""
    table = np.zeros((n_classes, n_classes))
    np.add.at(table, (true, predicted), weights)
    return table


def label_estimates(
    predictions: Predictions,
    units: Sampling,
    parts: Parts,
    quantities: Sequence[Quantity],
    n_resamples: int,
    seed: int,
    resampled: Resampled = everything,
) -> tuple[LabelTables | None, dict[Key, Estimate]]:
    """Count the models' predictions, and estimate every label quantity of every label model from one set of draws.

    Parameters
    ----------
    resampled
        Says of an estimate whether it gets bootstrap replicates.
    """
    tables = LabelTables.of(predictions, units, parts) if quantities else None
    if tables is None:
        return None, {}
    estimates: dict[Key, Estimate] = {}
    for j, name in enumerate(tables.models):
        of_model = _OfModel.of(predictions, tables, j)
        estimates |= {(name, quantity): of_model.estimate(quantity) for quantity in quantities}
    drawn: dict[Key, list[Floats]] = {key: [] for key, e in estimates.items() if resampled(e)}
    for multiplicities in map(np.asfortranarray, tables.draws(n_resamples, seed=seed) if drawn else ()):
        for j, name in enumerate(tables.models):
            functions = TableFunctions(tables.margins(j, multiplicities), predictions)
            for key in [(name, quantity) for quantity in quantities if (name, quantity) in drawn]:
                values = functions.value(key[1])
                # What counts 0 in the data by convention does so in every replicate; else one of 0/0 is left out.
                by_convention = estimates[key].reason is not None
                drawn[key].append((zero_where_undefined(values) if by_convention else values).mean(axis=1))
    return tables, {
        key: replace(e, replicates=np.concatenate(drawn[key])) if key in drawn else e
        for key, e in estimates.items()
    }


@dataclass(frozen=True, slots=True)
class _OfModel:
    """One model's counts and what the estimates of its quantities share.

    Attributes
    ----------
    at
        Values and derivatives at the margins (parts, 3, K) of the data.
    held
        The classes that the truth holds.
    """

    predictions: Predictions
    tables: LabelTables
    model: int
    at: TableFunctions
    held: tuple[int, ...]

    @classmethod
    def of(cls, predictions: Predictions, tables: LabelTables, model: int) -> _OfModel:
        """Take one model's counts."""
        counts = tables.tables[model]
        held = tuple(k for k in range(len(predictions.classes)) if counts[k].any())
        at = TableFunctions(tables.point(model), predictions)
        return cls(predictions, tables, model, at, held)

    def estimate(self, quantity: Quantity) -> Estimate:
        """Estimate a quantity, without replicates."""
        tables, model, metric = self.tables, self.model, definition(quantity)
        values = self.at.value(quantity)
        low, high = value_range(metric, self.predictions)
        value = min(max(float(zero_where_undefined(values).mean()), low), high)  # sums of weights are rounded
        slopes = self._slopes(quantity)
        # Within strata each true class is centred by itself, and all others but one are one class here.
        by_outcome = self._apart(quantity) and tables.units.strata is None
        return Estimate(
            model=tables.models[model],
            quantity=quantity,
            value=value,
            reason=metric.scale.undefined if np.isnan(values).any() else None,
            range=(low, high),
            sampling=tables.units,
            evidence=self._evidence(quantity, value),
            influence=Influence(
                # Of single classes there may be very many, and few are compared.
                tables.influence(model, slopes())
                if quantity.label is None
                else lambda: tables.influence(model, slopes()),
                tables.units_an_atom,
                (lambda: tables.by_part(model, slopes())) if self.predictions.design == "seeds" else None,
                (lambda: tables.by_example(model, slopes())) if tables.rows else None,
                partial(self._by_outcome, quantity) if by_outcome else None,
            ),
        )

    def _apart(self, quantity: Quantity) -> bool:
        """Say whether a quantity is of one of several classes, whose examples are a TP, FP, FN or TN each."""
        return quantity.label is not None and self.tables.units.plain and self.tables.parts == 1

    def _by_outcome(self, quantity: Quantity) -> tuple[Floats, Floats]:
        """Return the derivatives (4,) of a single class's quantity by its TP, FP, FN and TN, and their numbers (4,)."""
        return self.at.by_count(quantity)[0], np.array([float(count[0]) for count in self._counted(quantity)])

    def _slopes(self, quantity: Quantity) -> Callable[[], Floats]:
        """Return a function that makes the derivatives (parts, 3, K) of the mean over the parts."""
        parts = self.tables.parts
        if quantity.label is None:
            slopes = self.at.slopes(quantity) / parts
            return lambda: slopes
        by_count = self.at.by_count(quantity) / parts
        code = class_code(quantity, self.predictions)
        return lambda: by_margins(by_count[..., None, :], self.at.margins, slice(code, code + 1))

    def _evidence(self, quantity: Quantity, value: float) -> OfValue:
        """Return the counts of a proportion or of weighted F1, effective trials, or the table alone."""
        tables, units, table = self.tables, self.tables.units, self._table(quantity)
        shares = _successes_and_trials(quantity)
        if units.plain and tables.parts == 1:
            if shares is None:
                return table
            successes, trials = (float(count[0]) for count in shares(*self._counted(quantity)))
            return Proportion(successes, trials, table)
        weighted_f1 = self._weighted_f1(quantity, table)
        if weighted_f1 is not None or shares is None:
            return weighted_f1 or table
        counted_trials = units.trials_of_share(
            value,
            lambda: self._influence_of(quantity, lambda *counted: shares(*counted)[1]),
            tables.units_an_atom,
        )
        return table if counted_trials is None else EffectiveProportion(counted_trials, table)

    def _counted(self, quantity: Quantity) -> tuple[Array, ...]:
        """Return what a proportion is counted from, (parts,) each: TP, FP, FN, TN of the class, else right and n."""
        if _is_of_a_class(quantity):
            return tuple(self.at.of_class(quantity))
        return self.at.margins[:, 0].sum(-1), self.at.margins[:, 1].sum(-1)

    def _influence_of(self, quantity: Quantity, function: Callable[..., Array]) -> Floats:
        """Return derivatives (atoms,) of a function of what a proportion is counted from."""
        if quantity.label is None and _is_of_a_class(quantity):
            # Of two classes there may be answers outside both.
            def of_margins(m: Array) -> Array:
                return function(*TableFunctions(m, self.predictions).of_class(quantity))

            return self.tables.influence(self.model, slopes_at(of_margins, self.at.margins, 2))
        slopes = slopes_by_each(function, self._counted(quantity))
        if quantity.label is not None:
            code = class_code(quantity, self.predictions)
            by_margin = by_margins(slopes[:, None, :], self.at.margins, slice(code, code + 1))
        else:
            by_margin = np.zeros_like(self.at.margins)
            by_margin[:, :2] = slopes[:, :, None]
        return self.tables.influence(self.model, by_margin)

    def _weighted_f1(self, quantity: Quantity, table: Table) -> WeightedF1 | None:
        """Return the effective number of weighted examples behind F1 of one class; None of other metrics, and for 0/0.

        It is the smaller of Kish's number of the examples in TP + FP + FN, d^2 / sum w^2, and of Korn and Graubard's
        J (1 - J) / V, with V = n / (n - 1) sum (w ([in TP] - J [in TP + FP + FN]) / d)^2. J of 0 or 1 has the first
        alone.
        """
        computation, units, cells = definition(quantity).computation, self.tables.units, self.tables.cells
        below = computation.monotone_of if isinstance(computation, ClassCounts) else None
        if below is None or quantity.average is not None or units.n_effective is None or cells is None:
            return None
        proportion = required(METRICS[below[0]].of(ClassCounts).proportion)

        def of_counts(*counts: Array, which: int) -> Array:
            return np.asarray(proportion(Counts(*counts))[which])

        right, total = (float(of_counts(*self._counted(quantity), which=which)[0]) for which in (0, 1))
        if not total:
            return None
        # Each example's weight where it is counted, else 0.
        of_right, of_total = (
            self._influence_of(quantity, partial(of_counts, which=which)) for which in (0, 1)
        )
        times, jaccard = cells.counts, right / total
        kish_number = total**2 / float((times * of_total**2).sum())
        n = float(times[cells.weighed > 0].sum())
        squares = float((times * ((of_right - jaccard * of_total) / total) ** 2).sum())
        trials = kish_number
        if 0 < jaccard < 1 and n > 1:
            trials = min(kish_number, jaccard * (1 - jaccard) / (n / (n - 1) * squares))
        return WeightedF1(jaccard, trials, units.n_effective, table)

    def _table(self, quantity: Quantity) -> Table:
        """Return the table of counts; of one of several classes that of the class against the rest, where it serves."""
        computation, predictions = definition(quantity).computation, self.predictions
        if self._apart(quantity):
            tp, fp, fn, tn = (float(count[0]) for count in self._counted(quantity))
            alone = partial(_at, quantity=quantity, predictions=predictions, collapsed=True)
            counts, code = np.array([[tp, fn], [fp, tn]]), class_code(quantity, predictions)
            return Table(counts, 0, alone, (0, 1), (0, 1), code=0, collapsed=code)
        rows = labels = tuple(range(len(predictions.classes)))
        code_of_all = None
        if isinstance(computation, ClassCounts) and quantity.average is None:
            code_of_all = class_code(quantity, predictions)
            rows = labels = (code_of_all, *(other for other in labels if other != code_of_all))[:2]
        elif isinstance(computation, Margins) and computation.recall_slope:
            rows = self.held
        at = partial(_at, quantity=quantity, predictions=predictions)
        return Table(self.tables.tables[self.model], predictions.outside, at, rows, labels, code_of_all)


def _at(counts: Floats, *, quantity: Quantity, predictions: Predictions, collapsed: bool = False) -> AtCounts:
    """Return a quantity at a table of counts (K, K)."""
    at = TableFunctions(margins_of(counts), predictions, collapsed)
    return AtCounts(float(at.value(quantity)), *at.slopes(quantity))


def _is_of_a_class(quantity: Quantity) -> bool:
    """Say whether a quantity is of one class against the rest, and no average."""
    return quantity.average is None and isinstance(definition(quantity).computation, ClassCounts)


def _successes_and_trials(quantity: Quantity) -> Callable[..., tuple[Array, Array]] | None:
    """Return the function that gives successes and trials; None if the quantity is no proportion.

    It is of the counts TP, FP, FN and TN of one class, else of the right answers and n.
    """
    computation = definition(quantity).computation
    assert isinstance(computation, ClassCounts | Margins)
    # Every example is one TP, or one FP and one FN: micro precision, recall and F1 are accuracy.
    if quantity.average == "micro" and isinstance(computation, ClassCounts) and computation.micro_is_accuracy:
        return lambda right, n: (right, n)
    proportion = computation.proportion
    if proportion is None or quantity.average is not None:
        return None
    if isinstance(computation, Margins):
        return proportion
    return lambda *counts: proportion(Counts(*counts))
