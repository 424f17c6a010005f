"""How far a slice's value may lie from that of all examples, or of the other ones: sums of influence values.

A slice's value is a function of the same example weights as the whole's, and does not depend on the weights outside
it. So the derivative of (a slice - b whole) by one unit's weight is a D_s - b D inside the slice and - b D outside,
and the variance is the sum of its squares: what the slice shares with the whole is counted once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evalreport.metrics.estimate import Estimate
from evalreport.metrics.quantities import Quantity
from evalreport.metrics.sample import Sample

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

    Attributes
    ----------
    own, shared, inside
        Over the slice's units: D_s^2, D_s D, D^2; D is the reference's derivative.
    everywhere
        D^2 over all units of the reference.
    units, all_units
        Units with an example in the slice, and in the slice or the reference.
    apart
        Whether no unit has examples both inside the slice and outside it, so that the two vary independently.
    """

    own: float
    shared: float
    inside: float
    everywhere: float
    units: int
    all_units: int
    apart: bool

    def contrast(self, a: float = 1.0, b: float = 1.0) -> Contrast | None:
        """Return the variance of a (slice) - b (reference); None where there are too few units for one.

        Each side's squares have the factor u / (u - 1) of its own number of units, the degrees of freedom are
        Welch's and Satterthwaite's: for two means this is Welch's t. Where units lie on both sides, those of the
        slice less one.
        """
        others = self.all_units - self.units
        within = a * a * self.own - 2 * a * b * self.shared + b * b * self.inside
        outside = b * b * (self.everywhere - self.inside)
        if not self.apart:
            if self.units < 2:
                return None
            total = max(within + outside, 0.0) * self.all_units / (self.all_units - 1)
            return Contrast(total, self.units - 1)
        if self.units < 2 or others < 2:
            return None
        first, second = (
            max(part, 0.0) * u / (u - 1) for part, u in ((within, self.units), (outside, others))
        )
        return _welch(first, second, self.units - 1, others - 1)


def independent_errors(errors: tuple[float, float], units: tuple[int, int], *, apart: bool) -> Contrast:
    """Return the variance of the difference of two slices' values, of which neither slice holds the other.

    Where units reach over both, the standard errors are added as if both varied against each other.

    Parameters
    ----------
    errors, units
        Standard errors, each with the factor of its own number of units, and these numbers (at least 2).
    """
    first, second = errors
    if apart:
        return _welch(first**2, second**2, units[0] - 1, units[1] - 1)
    return Contrast((first + second) ** 2, min(units) - 1)


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
    touched = np.bincount(units[places], minlength=n_units)
    inside = touched > 0
    spanning = (touched < np.bincount(units, minlength=n_units)) & inside
    return Shares(
        own=float(mine @ mine),
        shared=float(mine @ reference),
        inside=float(reference[inside] @ reference[inside]),
        everywhere=float(reference @ reference),
        units=int(inside.sum()),
        all_units=n_units,
        apart=not spanning.any(),
    )


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
    units, n_units = unit_codes(whole, whole.estimates[model, quantity])
    mine = _in_units(part, own, units[places[0]], n_units)
    theirs = _in_units(rest, other, units[places[1]], n_units)
    inside, outside = (np.bincount(units[rows], minlength=n_units) > 0 for rows in places)
    return Shares(
        own=float(mine @ mine),
        shared=float(mine @ theirs),
        inside=float(theirs[inside] @ theirs[inside]),
        everywhere=float(theirs @ theirs),
        units=int(inside.sum()),
        all_units=int((inside | outside).sum()),
        apart=not (inside & outside).any(),
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
    return Shares(
        own=float((counts * mine * mine).sum()),
        shared=float((counts * mine * theirs).sum()),
        inside=float((counts * theirs * theirs).sum()),
        everywhere=float((all_counts * theirs * theirs).sum()),
        units=part.predictions.n,
        all_units=whole.predictions.n,
        apart=True,
    )
