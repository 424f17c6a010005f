"""The value of a quantity on each single fit: fold, repeat, replicate, seed or data set."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import product

import numpy as np

from evalreport.engine.distributions import Array
from evalreport.engine.draws import bootstrap_rows
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.evidence import OverDatasets
from evalreport.metrics.label_estimates import LabelTables
from evalreport.metrics.layout import FOLDED, Layout, Parts
from evalreport.metrics.metric import ClassCounts, Margins, Ranks, RowWise
from evalreport.metrics.registry import Quantity, definition, of_family
from evalreport.metrics.replicates import UnitColumns, by_part
from evalreport.metrics.row_data import RowData, all_finite
from evalreport.metrics.sample import Sample, prepare_rows
from evalreport.metrics.table_functions import TableFunctions
from evalreport.predictions.arrays import Floats, Indices
from evalreport.predictions.subsets import alone
from evalreport.predictions.table import Notes, Predictions
from evalreport.samplings import DataSets, Fits, Influence

Key = tuple[str, Quantity]

KINDS = {"bootstrap": "replicates", "seeds": "seeds", "datasets": "datasets"}
"""What the single fits are, by design; else folds."""


@dataclass(frozen=True, slots=True)
class FitSizes:
    """Test and training examples of each fit, (J,) each; training sizes are nan where the files do not say."""

    n_test: Floats
    n_train: Floats


def with_fits(sample: Sample) -> Sample:
    """Add to every estimate its values on the single fits, where the design has several."""
    layout = sample.rows.layout
    design = sample.predictions.design
    if layout.fits.count == 1 and design != "seeds":
        return sample
    # What the values over all fits needed of each is prepared; fits of one example each were left out of it.
    several = int(np.bincount(layout.ranked.codes).max()) > 1
    prepared = sample.rows if several and layout.ranked.count > 1 else None
    values = fit_values(sample, layout.ranked, prepared)
    undefined = {key: np.isnan(labels) for key, labels in _of_labels(sample, layout.ranked).items()}
    if layout.ranked.count > layout.fits.count:
        # Several training seeds on the same folds: the value of a fold is the mean over them.
        owner = np.array([layout.fits.codes[rows[0]] for rows in layout.ranked.rows()])
        seeds = np.bincount(owner)
        values = {key: np.bincount(owner, weights=labels) / seeds for key, labels in values.items()}
        undefined = {key: np.bincount(owner, weights=labels) > 0 for key, labels in undefined.items()}
    sizes = fit_sizes(sample.predictions, layout.fits)
    kind = KINDS.get(design, "folds")
    if kind == "folds" and sizes.n_test.max() <= 1:
        # On one example F1 is whether it was found, and RMSE the absolute error: the mean over folds is another metric.
        for key in [key for key in values if not definition(key[1]).is_mean]:
            values[key] = np.full(layout.fits.count, np.nan)
    repeat, fold = (_coded(layout.fits, column) for column in ("repeat", "fold"))
    names = tuple(dict(name).get("seed", "") for name in layout.fits.names) if kind == "seeds" else ()
    fits_of = partial(
        Fits, repeat=repeat, fold=fold, n_test=sizes.n_test, n_train=sizes.n_train, kind=kind, names=names
    )
    estimates = {
        key: replace(
            e, fits=fits_of(values[key], by_convention=int(undefined[key].sum()) if key in undefined else 0)
        )
        if key in values
        else e
        for key, e in sample.estimates.items()
    }
    return replace(sample, estimates=estimates)


def _coded(parts: Parts, column: str) -> Indices:
    """Return each part's code in one key column, in the order of the names; 0 where the column is not held."""
    values_of_column = [dict(name).get(column, "") for name in parts.names]
    return np.unique(values_of_column, return_inverse=True)[1].astype(np.int64)


def fit_sizes(predictions: Predictions, parts: Parts) -> FitSizes:
    """Count the examples that each fit was tested on, and those it was trained on.

    ``train_size`` says the latter; else they are the other ids of its repeat (cross-validation). With several training
    seeds an example of a fold counts once. Scores instead of examples count as one each, unless ``test_size`` says how
    many examples they are of.
    """
    n_test = np.bincount(parts.codes, minlength=parts.count).astype(np.float64)
    if predictions.design in FOLDED and "seed" in predictions.keys:
        n_test /= len(np.unique(predictions.keys["seed"].values))
    n_train = np.full(parts.count, np.nan)
    size, tested = (predictions.keys.get(name) for name in ("train_size", "test_size"))
    first = [int(rows[0]) for rows in parts.rows()]
    if tested is not None and predictions.task == "scores":
        n_test = np.asarray(tested.values, dtype=np.float64)[first]
    if size is not None:
        n_train = np.asarray(size.values, dtype=np.float64)[first]
    elif predictions.design in ("cross-validation", "5x2cv"):
        repeats = _coded(parts, "repeat")
        n_train = np.bincount(repeats, weights=n_test)[repeats] - n_test
    return FitSizes(n_test, np.where(n_train > 0, n_train, np.nan))  # nothing is trained on no example


def fit_values(sample: Sample, parts: Parts, prepared: RowData | None = None) -> dict[Key, Floats]:
    """Evaluate every quantity of every model on each part: (J,), nan where it is undefined there.

    ``prepared``: what the rows of these parts give; None: it is prepared here.
    """
    found: dict[Key, Floats] = {}
    found |= {key: np.nan_to_num(values) for key, values in _of_labels(sample, parts).items()}
    layout = Layout(parts, parts, parts)
    rows = prepared or prepare_rows(sample.predictions, sample.quantities, sample.units, layout)
    ones = np.ones((1, sample.units.count))
    for key, columns in rows.columns.items():
        if all_finite(columns):
            sums = UnitColumns.of(columns, sample.units, layout).sums(ones)
            found[key] = rows.function(key[1])(sums)[0]
    by_row = [*rows.states, *product(rows.orders, of_family(sample.quantities, Ranks))]
    return found | {key: values[:, 0] for key, values in by_part(rows, by_row, ones).items()}


def _of_labels(sample: Sample, parts: Parts) -> Mapping[Key, Floats]:
    labelled = of_family(sample.quantities, ClassCounts, Margins)
    tables = LabelTables.of(sample.predictions, sample.units, parts) if labelled else None
    if tables is None:
        return {}
    at = [TableFunctions(tables.point(j), sample.predictions) for j in range(len(tables.models))]
    return {
        (name, quantity): of_model.value(quantity)
        for name, of_model in zip(tables.models, at, strict=True)
        for quantity in labelled
    }


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
            pools = key in pooled and not isinstance(definition(key[1]).computation, Ranks | RowWise)
            values = pooled[key] if pools else _mean_by(owner, values)
        none = np.zeros(len(values), dtype=np.int64)
        fits = Fits(values, none, none, sizes.n_test, sizes.n_train, "datasets")
        estimates[key] = _of_datasets(estimate, fits, draws)
    return replace(sample, estimates=estimates)


def _mean_by(owner: Indices, values: Floats) -> Floats:
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
    weights = draws @ defined
    replicates = np.where(weights > 0, (draws @ values) / np.maximum(weights, 1), np.nan)
    return replace(
        estimate,
        value=mean,
        fits=fits,
        influence=Influence(np.where(defined, (values - mean) / m, 0.0), np.ones(len(values))),
        replicates=replicates,
        sampling=DataSets(len(values), examples=estimate.sampling.n_examples, defined=defined),
        evidence=OverDatasets(estimate.table),
    )


def each_apart(predictions: Predictions) -> list[Predictions]:
    """Divide the table by model: each one's rows, without those of the others.

    Returns
    -------
    list of Predictions
        One a model, in their order; ``ids`` are the model's own.
    """
    return [_of_one(predictions, position) for position in range(len(predictions.models))]


def _of_one(predictions: Predictions, position: int) -> Predictions:
    outputs = predictions.models[position]
    rows = np.arange(predictions.n) if outputs.present is None else np.flatnonzero(outputs.present)
    part = alone(replace(predictions, models=(outputs,)), rows.astype(np.int64))
    return replace(part, models=(replace(part.models[0], present=None),), notes=Notes(part.found))


def sampled_apart(
    predictions: Predictions, seed: int, sampled: Callable[[Predictions, int], Sample]
) -> list[Sample]:
    """Sample every model on its own test set with independent draws.

    Parameters
    ----------
    seed
        The run's seed. Each model's own follows from it and from the model's rows, not from its name or place, so
        that swapped or renamed models keep their replicates.
    sampled
        Makes the sample of one table under one seed.
    """
    seen: Counter[bytes] = Counter()
    samples = []
    for part in each_apart(predictions):
        digest = _digest(part)
        own = hashlib.sha256(digest + f"{seed} {seen[digest]}".encode()).digest()
        seen[digest] += 1
        samples.append(sampled(part, int.from_bytes(own[:8], "big")))
    return samples


def _digest(predictions: Predictions) -> bytes:
    """Return a digest of the rows that neither another unit of measurement nor other names of the classes change."""
    hashed = hashlib.sha256(
        "\n".join(map(str, predictions.ids.to_pylist())).encode("utf-8", "backslashreplace")
    )
    model = predictions.models[0]
    outputs = (predictions.y_true, model.y_pred, model.score, model.proba, model.outcome, model.gold)
    for values in (*outputs, *model.numbers.values()):
        if values is not None:
            columns = values if values.ndim == 2 else values[:, None]
            hashed.update(b"".join(sorted(_pattern(column) for column in columns.T)))
    return hashed.digest()


def _pattern(values: Array) -> bytes:
    """Return a digest of how values (n,) are ordered; of codes, which are equal."""
    _, first, places = np.unique(values, return_index=True, return_inverse=True)
    if np.issubdtype(values.dtype, np.integer):
        places = np.argsort(np.argsort(first))[places]
    return hashlib.sha256(places.astype(np.int64).tobytes()).digest()
