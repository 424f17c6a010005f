"""Estimate every quantity of every model, on all rows and on every single fit."""

from __future__ import annotations

from collections.abc import Sequence

from evalreport.metrics.fits import each_apart, over_datasets, sampled_apart, with_fits
from evalreport.metrics.label_estimates import Resampled, everything
from evalreport.metrics.registry import Quantity
from evalreport.metrics.sample import Sample, estimate_all
from evalreport.options import Options
from evalreport.predictions.table import Predictions
from evalreport.samplings import sampling_of_run


def estimate_models(
    predictions: Predictions,
    quantities: Sequence[Quantity],
    options: Options,
    resampled: Resampled = everything,
) -> list[Sample]:
    """Return one sample of all models; one a model where each has its own rows.

    On test sets of their own the draws of each model are its own; with training seeds of their own the examples are the
    same, and so are the draws.

    Parameters
    ----------
    resampled
        Says of an estimate whether it gets bootstrap replicates.
    """
    if options.join == "independent":
        return sampled_apart(
            predictions,
            options.seed,
            lambda part, seed: estimate_table(part, quantities, options, resampled, seed=seed),
        )
    parts = each_apart(predictions) if predictions.apart else [predictions]
    return [estimate_table(part, quantities, options, resampled, seed=options.seed) for part in parts]


def estimate_table(
    predictions: Predictions,
    quantities: Sequence[Quantity],
    options: Options,
    resampled: Resampled = everything,
    *,
    seed: int,
) -> Sample:
    """Estimate every quantity of every model of one table, on all rows and on every single fit."""
    units = sampling_of_run(predictions, options)
    sample = estimate_all(
        predictions,
        quantities,
        units=units,
        n_resamples=options.resamples,
        seed=seed,
        average=options.average,
        resampled=resampled,
        of_rows=bool(options.metrics)
        or any(name.startswith("bootstrap_") for name in (*options.intervals, *options.tests)),
    )
    return over_datasets(with_fits(sample), n_resamples=options.resamples, seed=seed)
