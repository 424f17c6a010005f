"""Values over many data sets: the data sets are the units, since the question is about others like them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from evalreport.engine.draws import bootstrap_rows
from evalreport.engine.portable import weighted_sums
from evalreport.metrics.estimate import Estimate, Fits
from evalreport.metrics.fits import fit_sizes, fit_values
from evalreport.metrics.quantities import definition
from evalreport.metrics.sample import Sample

Floats = npt.NDArray[np.float64]


def over_datasets(sample: Sample, *, n_resamples: int, seed: int) -> Sample:
    """Make every estimate the mean of its values on the data sets, with the data sets as the units.

    Where a data set has folds of its own, rank metrics are averaged over them first: scores of different folds have
    no common scale.

    Parameters
    ----------
    sample
        With its values on the single fits; in any other design it is returned as it is.
    """
    layout = sample.rows.layout
    if sample.predictions.design != "datasets" or layout.pooled.count < 2:
        return sample
    by_fit = sample.estimates
    pooled = fit_values(sample, layout.pooled) if layout.fits.count > layout.pooled.count else {}
    # The first row of each fit says which data set it belongs to.
    owner = np.array([layout.pooled.codes[rows[0]] for rows in layout.fits.rows()])
    sizes = fit_sizes(sample.predictions, layout.pooled)
    blocks = list(bootstrap_rows(layout.pooled.count, n_resamples, seed=seed))
    draws = np.concatenate(blocks)
    estimates = dict(by_fit)
    for key, estimate in by_fit.items():
        if estimate.fits is None or np.isnan(estimate.value):
            continue
        values = estimate.fits.values
        if pooled:
            pools = definition(key[1]).family not in ("ranking", "rows") and key in pooled
            values = pooled[key] if pools else _mean_by(owner, values)
        none = np.zeros(len(values), dtype=np.int64)
        fits = Fits(values, none, none, sizes.n_test, sizes.n_train, "datasets")
        estimates[key] = _of_datasets(estimate, fits, draws)
    return replace(sample, estimates=estimates)


def _mean_by(owner: npt.NDArray[np.int64], values: Floats) -> Floats:
    """Average the values (J,) by data set, leaving out undefined ones; nan where none is defined."""
    defined = ~np.isnan(values)
    counts = np.bincount(owner, weights=defined)
    sums = np.bincount(owner, weights=np.where(defined, values, 0.0))
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def _of_datasets(estimate: Estimate, fits: Fits, draws: Floats) -> Estimate:
    defined = ~np.isnan(fits.values)
    values = np.where(defined, fits.values, 0.0)
    m = int(defined.sum())
    if m == 0:
        return replace(estimate, fits=fits)
    mean = float(values.sum()) / m
    weights = weighted_sums(draws, defined)
    replicates = np.where(weights > 0, weighted_sums(draws, values) / np.maximum(weights, 1), np.nan)
    return replace(
        estimate,
        value=mean,
        fits=fits,
        derivative=np.where(defined, (values - mean) / m, 0.0),
        counts=np.ones(len(values)),
        replicates=replicates,
        sizes=defined.astype(np.float64),
        n_effective=None,
        trials_effective=None,
        successes=None,
        trials=None,
        jaccard=None,
        positive=None,
        rarest=None,
    )
