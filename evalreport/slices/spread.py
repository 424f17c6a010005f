"""How far a slice's value may lie from that of all examples, or of the other ones: sums of influence values.

A slice's value is a function of the same example weights as the whole's, and does not depend on the weights outside
it. So the derivative of (a slice - b whole) by one unit's weight is a D_s - b D inside the slice and - b D outside,
and the variance is the sum of its squares: what the slice shares with the whole is counted once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evalreport.engine.portable import dot
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.quantities import Quantity
from evalreport.metrics.sample import Sample
from evalreport.metrics.units import Units

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Contrast:
    """Variance of a weighted difference of two values, and the degrees of freedom that its estimate has."""

    variance: float
    df: float


@dataclass(frozen=True, slots=True)
class Shares:
    """Sums over units of squared influence on one quantity: of the slice, of a reference, and of both.

    Each side's derivatives bear the factors of its own units (``engine.effective``): u / (u - 1), of clusters CR2.

    Attributes
    ----------
    own, shared, inside
        Over the slice's units: D_s^2, D_s D, D^2; D is the reference's derivative.
    outside
        D^2 over the reference's other units.
    df, df_outside
        Degrees of freedom of the slice's units and of those of the other examples; None for fewer than two.
    apart
        Whether no unit has examples both inside the slice and outside it, so that the two vary independently.
    """

    own: float
    shared: float
    inside: float
    outside: float
    df: float | None
    df_outside: float | None
    apart: bool

    def contrast(self, a: float = 1.0, b: float = 1.0) -> Contrast | None:
        """Return the variance of a (slice) - b (reference); None where there are too few units for one.

        The degrees of freedom are Welch's and Satterthwaite's: for two means this is Welch's t. Where units lie on
        both sides, the fewer of the two sides'.
        """
        within = max(a * a * self.own - 2 * a * b * self.shared + b * b * self.inside, 0.0)
        outside = b * b * self.outside
        if self.df is None or self.df_outside is None:
            return None
        if not self.apart:
            return Contrast(within + outside, min(self.df, self.df_outside))
        return _welch(within, outside, self.df, self.df_outside)

    def predicted(self) -> Contrast | None:
        """Return the variance of slice - reference that the reference alone predicts, as if the slice were like it.

        None where units lie on both sides.
        """
        if not self.apart or self.df is None or self.df_outside is None:
            return None
        ratio = (self.df_outside + 1) / (self.df + 1)
        return Contrast((self.inside + self.outside) * (1 + ratio), self.df_outside)


def independent_errors(errors: tuple[float, float], df: tuple[float, float], *, apart: bool) -> Contrast:
    """Return the variance of the difference of two slices' values, of which neither slice holds the other.

    Where units reach over both, the standard errors are added as if both varied against each other.

    Parameters
    ----------
    errors, df
        Standard errors, each with the factors of its own units, and their degrees of freedom.
    """
    first, second = errors
    if apart:
        return _welch(first**2, second**2, *df)
    return Contrast((first + second) ** 2, min(df))


def _welch(first: float, second: float, df_first: float, df_second: float) -> Contrast:
    total = first + second
    if total <= 0:
        return Contrast(0.0, min(df_first, df_second))
    return Contrast(total, total**2 / (first**2 / df_first + second**2 / df_second))


# --- a slice against the whole --------------------------------------------------------------------------------------


def shares_of_whole(
    part: Sample, whole: Sample, places: Indices, model: str, quantity: Quantity
) -> Shares | None:
    """Sum the influence values of a slice and of all examples; None where a value has no derivative.

    Parameters
    ----------
    places
        The rows of ``part`` in ``whole``.
    """
    own, other = part.estimates[model, quantity], whole.estimates[model, quantity]
    if own.derivative is None or other.derivative is None:
        return None
    if _by_cells(part, own) and _by_cells(whole, other):
        return _from_cells(part, whole, model, quantity)
    units, n_units = unit_codes(whole, other)
    mine = _in_units(part, own, units[places], n_units)
    reference = by_row(whole, other) if _by_cells(whole, other) else other.derivative
    outside = np.ones(whole.predictions.n, dtype=bool)
    outside[places] = False
    sides = _sides(whole, other, (places, np.flatnonzero(outside)))
    of_slice, of_others, of_all = sides.roots
    roots = np.where(sides.touched, of_slice, of_others) if sides.apart else of_all
    return _summed(sides, mine, reference * roots)


def shares_of_rest(
    part: Sample,
    rest: Sample,
    whole: Sample,
    places: tuple[Indices, Indices],
    model: str,
    quantity: Quantity,
) -> Shares | None:
    """Sum the influence values of a slice and of the examples outside it.

    Parameters
    ----------
    places
        The rows of ``part`` and of ``rest`` in ``whole``.
    """
    own, other = part.estimates[model, quantity], rest.estimates[model, quantity]
    if own.derivative is None or other.derivative is None:
        return None
    of_all = whole.estimates[model, quantity]
    units, n_units = unit_codes(whole, of_all)
    mine = _in_units(part, own, units[places[0]], n_units)
    theirs = _in_units(rest, other, units[places[1]], n_units)
    sides = _sides(whole, of_all, places)
    return _summed(sides, mine, theirs * sides.roots[1])


@dataclass(frozen=True, slots=True)
class _Sides:
    """The units of a slice and of the other examples, and what makes variances of their derivatives.

    Attributes
    ----------
    touched
        Which units have examples in the slice, (units,).
    apart
        Whether no unit has examples on both sides.
    roots
        What derivatives (units,) are multiplied by: of the slice, of the others, of all examples.
    df
        Degrees of freedom of the slice's units and of the others'; None for fewer than two.
    """

    touched: npt.NDArray[np.bool_]
    apart: bool
    roots: tuple[Floats, Floats, Floats]
    df: tuple[float | None, float | None]


def _sides(whole: Sample, estimate: Estimate, places: tuple[Indices, Indices]) -> _Sides:
    units, n_units = unit_codes(whole, estimate)
    base, drawn = whole.units.base, whole.units
    inside, outside = (
        np.bincount(units[rows], base[rows], minlength=n_units).astype(np.float64) for rows in places
    )
    if estimate.over_datasets:
        inside, outside = ((size > 0).astype(np.float64) for size in (inside, outside))
        drawn = Units(n_units)
    found = [drawn.freedom(size) for size in (inside, outside, inside + outside)]
    first, second, both = (np.sqrt(np.full(n_units, 1.0 if f is None else f.factors)) for f in found)
    df, df_outside, _ = (None if f is None else f.df for f in found)
    apart = not bool(((inside > 0) & (outside > 0)).any())
    return _Sides(inside > 0, apart, (first, second, both), (df, df_outside))


def _summed(sides: _Sides, mine: Floats, theirs: Floats) -> Shares:
    """Add up squares and products; the reference's derivatives bear their factors already."""
    mine, inside = mine * sides.roots[0], sides.touched
    return Shares(
        own=dot(mine, mine),
        shared=dot(mine, theirs),
        inside=dot(theirs[inside], theirs[inside]),
        outside=dot(theirs[~inside], theirs[~inside]),
        df=sides.df[0],
        df_outside=sides.df[1],
        apart=sides.apart,
    )


def unit_codes(sample: Sample, estimate: Estimate) -> tuple[Indices, int]:
    """Return which unit each row of a sample belongs to, and how many units there are."""
    if estimate.over_datasets:
        parts = sample.rows.layout.pooled
        return parts.codes, parts.count
    if sample.units.cluster is not None:
        return sample.units.cluster, sample.units.count
    return np.arange(sample.predictions.n), sample.predictions.n


def _in_units(part: Sample, estimate: Estimate, units: Indices, n_units: int) -> Floats:
    """Return a slice's derivatives by the units of the whole, (n_units,); ``units``: that of each row of the slice."""
    codes, count = unit_codes(part, estimate)
    derivative = by_row(part, estimate) if _by_cells(part, estimate) else estimate.derivative
    assert derivative is not None
    place = np.empty(count, dtype=np.int64)
    place[codes] = units
    return np.bincount(place, weights=derivative, minlength=n_units).astype(np.float64)


def by_row(sample: Sample, estimate: Estimate) -> Floats:
    """Return the derivatives of a label metric by row, (n,): rows of one true and predicted class share theirs."""
    model = next(m for m in sample.predictions.models if m.name == estimate.model)
    assert sample.predictions.y_true is not None
    assert model.y_pred is not None
    return np.asarray(_matrix(sample, estimate)[sample.predictions.y_true, model.y_pred])


def _by_cells(sample: Sample, estimate: Estimate) -> bool:
    """Say whether the derivatives are by distinct cell of the label models' tables."""
    return estimate.table is not None and sample.tables is not None and sample.tables.cells is not None


def _matrix(sample: Sample, estimate: Estimate) -> Floats:
    """Return the derivatives by (true, predicted), (K, K); 0 where no example is."""
    tables = sample.tables
    assert tables is not None
    assert tables.cells is not None
    assert estimate.derivative is not None
    found = np.zeros((tables.n_classes, tables.n_classes))
    predicted = tables.cells.predicted[tables.models.index(estimate.model)]
    found[tables.cells.true, predicted] = estimate.derivative
    return found


def _from_cells(part: Sample, whole: Sample, model: str, quantity: Quantity) -> Shares:
    """Sum over the cells of the model's own table: examples of one cell have the same influence."""
    own, other = part.estimates[model, quantity], whole.estimates[model, quantity]
    mine, theirs = _matrix(part, own), _matrix(whole, other)
    counts, all_counts = own.table, other.table
    assert counts is not None
    assert all_counts is not None
    n, others = part.predictions.n, whole.predictions.n - part.predictions.n
    factor, factor_outside = (u / (u - 1) if u > 1 else 1.0 for u in (n, others))
    return Shares(
        own=factor * float((counts * mine * mine).sum()),
        shared=factor * float((counts * mine * theirs).sum()),
        inside=factor * float((counts * theirs * theirs).sum()),
        outside=factor_outside * float(((all_counts - counts) * theirs * theirs).sum()),
        df=n - 1 if n > 1 else None,
        df_outside=others - 1 if others > 1 else None,
        apart=True,
    )
