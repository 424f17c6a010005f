"""The needs of each test; where the data do not meet them it is refused, with the remedy."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from evalreport.comparisons.registry import MOST_UNITS, OF_UNITS, TESTS, Pair
from evalreport.comparisons.score_tests import has_pooled_variance
from evalreport.intervals import INTERVALS
from evalreport.intervals.registry import lacks as interval_lacks
from evalreport.metrics.difference import Difference
from evalreport.metrics.evidence import TwoProportions
from evalreport.texts import Message, Text


def lacks(pair: Pair, test: str) -> Text | None:
    """Return the unmet need of a test and its remedy; None where nothing is missing."""
    needs = TESTS[test].needs
    if pair.independent and needs not in ("independent", "interval", "replicates", "margin", *OF_UNITS):
        return Message("test_lacks.same_examples")
    if _other_seeds(pair) and needs not in ("interval", "replicates", "margin", *OF_UNITS):
        return Message("test_lacks.same_seeds")
    if needs in OF_UNITS:
        return interval_lacks(INTERVALS[test], pair.difference)
    return _WHAT_IS_MISSING[needs](pair)


def _other_seeds(pair: Pair) -> bool:
    """Say whether the two models have training seeds of their own."""
    return pair.difference.of_seeds and pair.difference.fits is None


def _not_plain(delta: Difference, elsewhere: str = "plain_examples") -> Text | None:
    """Say why a test of independent, equally weighted examples does not hold, with the remedy; None where it may."""
    if "one_task" not in delta.sampling.meets:
        return Message("test_lacks.one_task")
    return None if delta.sampling.alike else Message(f"test_lacks.{elsewhere}")


def _of_plain(what: str, has: Callable[[Pair], bool]) -> Callable[[Pair], Text | None]:
    """Return what a test of plain examples lacks of a pair that does not have the counts it is about."""
    return lambda pair: None if has(pair) else _not_plain(pair.difference) or Message(f"test_lacks.{what}")


def _decided_by(who: str) -> Callable[[Pair], bool]:
    return lambda pair: pair.trials is not None and pair.trials.decided_by == who


def _no_overlap(pair: Pair) -> Text | None:
    missing = _of_plain("overlap", _decided_by("either"))(pair)
    if missing is not None or pair.trials is None:
        return missing
    return None if has_pooled_variance(pair.trials) else Message("test_lacks.pooled_variance")


def _no_losses(pair: Pair) -> Text | None:
    return _not_plain(pair.difference, "plain_examples_use_t") or _unless(pair.by_example, "losses")


def _no_mean_losses(pair: Pair) -> Text | None:
    """Of data sets and of sums the mean difference and its error are known without the losses."""
    delta = pair.difference
    sums = delta.sampling.only_sums and delta.metric.per_example is not None
    return None if delta.over_datasets or sums else _no_losses(pair)


def _no_replicates(pair: Pair) -> Text | None:
    metric = pair.difference.metric
    if not metric.inference.replicates_hold:
        return metric.inference.no_interval or Message("test_lacks.varied_replicates")
    if "any_order" not in pair.difference.sampling.meets:
        return Message("test_lacks.no_order")
    if pair.difference.sampling.n_units < 2:
        return Message("test_lacks.several_examples")
    return None


def _no_inversion(pair: Pair) -> Text | None:
    in_time = "any_order" not in pair.difference.sampling.meets
    return Message("test_lacks.blocks_in_time") if in_time and pair.decided_by_replicates else None


def _no_swaps(pair: Pair) -> Text | None:
    if "any_order" not in pair.difference.sampling.meets:
        return Message("test_lacks.no_order")
    units = pair.difference.sampling.n_units
    if pair.swapped is not None and units > MOST_UNITS:
        return Message("test_lacks.fewer_units", n=units, most=MOST_UNITS)
    return _unless(pair.swapped, "swaps")


def _no_horizon(pair: Pair) -> Text | None:
    if "time_order" not in pair.difference.sampling.meets or pair.horizon < 2:
        return Message("test_lacks.horizon")
    return _unless(pair.by_example if pair.difference.metric.per_example is not None else None, "losses")


def _unless(held: object | None, what: str) -> Text | None:
    """Say that a pair lacks something where it is None."""
    return Message(f"test_lacks.{what}") if held is None else None


def _no_fits(pair: Pair) -> Text | None:
    fits = pair.difference.fits
    if fits is None:
        return Message("test_lacks.folds_or_datasets")
    undefined = int(np.isnan(fits.values).sum())
    if fits.of_one_example:
        return Message("test_lacks.larger_folds")
    if undefined:
        return Message(f"test_lacks.defined_{fits.kind}", undefined=undefined, total=len(fits.values))
    return None


def _no_folds(pair: Pair) -> Text | None:
    if pair.difference.fits is None or not pair.difference.of_folds:
        return Message("test_lacks.folds_or_repeats")
    return _no_fits(pair)


def _no_trained_folds(pair: Pair) -> Text | None:
    missing = _no_folds(pair)
    if missing is not None:
        return missing
    assert pair.difference.fits is not None
    if np.isnan(pair.difference.fits.test_train_ratio):
        return Message("test_lacks.train_size")
    return None


def _no_halves(pair: Pair) -> Text | None:
    fits = pair.difference.fits
    if pair.design != "5x2cv" or fits is None or len(fits.values) != 10:
        return Message("test_lacks.halves")
    return _no_fits(pair)


def _no_blocks(pair: Pair) -> Text | None:
    if pair.difference.rows is not None:
        return None
    if pair.difference.fits is not None:
        return _no_fits(pair)
    return _not_plain(pair.difference, "plain_examples_or_folds") or Message("test_lacks.blocks")


def _no_few_blocks(pair: Pair) -> Text | None:
    missing = _no_fits(pair)
    return missing or (None if pair.difference.rows is not None else _no_blocks(pair))


def _not_independent(pair: Pair) -> Text | None:
    if not pair.independent:
        return Message("test_lacks.own_test_sets")
    if not isinstance(pair.difference.evidence, TwoProportions):
        return Message("test_lacks.proportions")
    return None


_WHAT_IS_MISSING: Mapping[str, Callable[[Pair], Text | None]] = {
    "agreement": _of_plain("right_and_wrong", lambda pair: pair.agreement is not None),
    "losses": _no_losses,
    "mean_losses": _no_mean_losses,
    "labels": _of_plain("labels", lambda pair: pair.labels is not None),
    "trials": _of_plain("trials", _decided_by("answers")),
    "overlap": _no_overlap,
    "recalls": _of_plain("recalls", lambda pair: pair.recalls is not None),
    "horizon": _no_horizon,
    "placements": lambda pair: _unless(
        pair.difference.delong_error if pair.difference.metric.is_auc else None, "placements"
    ),
    "replicates": _no_replicates,
    "interval": _no_inversion,
    "swaps": _no_swaps,
    "folds": _no_folds,
    "trained_folds": _no_trained_folds,
    "halves": _no_halves,
    "blocks": _no_blocks,
    "few_blocks": _no_few_blocks,
    "independent": _not_independent,
    "ranked": lambda pair: _unless(pair.ranked, "ranked"),
    "margin": lambda pair: _unless(pair.margin, "margin"),
}
