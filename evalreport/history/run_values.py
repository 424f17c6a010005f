"""A model's values night by night: what the runs kept, and how they vary."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import special

from evalreport.engine import distributions
from evalreport.engine.distributions import normal_tail
from evalreport.errors import UsageError
from evalreport.history.connection import History
from evalreport.history.past import Fresh, Past, accepted_with, reference_predictions
from evalreport.history.store import Run
from evalreport.metrics.estimation import estimate_table
from evalreport.metrics.fits import each_apart
from evalreport.metrics.registry import Quantity
from evalreport.options import Options
from evalreport.predictions.arrays import Floats, Indices, Mask
from evalreport.predictions.subsets import subset
from evalreport.predictions.table import Predictions
from evalreport.schema.audit import EvidenceRecord
from evalreport.schema.inputs import JsonObject
from evalreport.texts import Message, Text

HORIZON = 365
"""Nights since the accepted ones at which a drop may begin; a later one is seen as if it had begun earlier."""
AT_ONCE = 0.25
"""Share of the stake for a drop right after the accepted nights; the rest is spread evenly over the horizon."""
SHORTEST = 3
"""Nights that a drop must have lasted: with fewer, single nights far out raise false alarms."""
PRIOR_VARIANCE = 1.0
"""Of the size of a drop, in standard deviations of a night (a half-normal prior)."""
FRACTIONS = (0.05, 0.1, 0.2, 0.4, 0.8)
"""Shares of the stake that are bet against a floor, mixed evenly."""
LEAST_CORRELATED = 4
"""Nights below which their correlation has no test: the statistic has too few values."""


def drop_evidence(accepted: Floats, nights: Floats, errors: Floats | None = None) -> tuple[Floats, Indices]:
    """Return the logarithm of the evidence that later nights lie lower than the accepted ones, and since which night.

    For a drop that began after tau nights, B is the likelihood ratio of the values' location and scale invariants, with
    a half-normal prior on the drop in standard deviations of a night. With a nights before and b since, D the
    difference of their means, SS the pooled sum of squares within, n_e = ab / (a + b) and k = 1 + n_e g::

        B = k^(-1/2) ((SS + n_e D^2) / Q)^((nu + 1) / 2) 2 T_(nu + 1)(-D n_e sqrt(g / k) sqrt((nu + 1) / Q))

    with nu = a + b - 2 and Q = SS + n_e D^2 / k. The evidence is the mean of B over tau, with a quarter of the weight
    on tau = 0. For independent normal nights of one level and one spread, whatever these are, its mean is at most 1.

    Parameters
    ----------
    accepted, nights
        (..., A) and (..., t) values, greater is better; A at least 1.
    errors
        (..., A + t) standard errors of these values by their examples alone. SS is then not believed to be smaller than
        they explain, nor D to be more certain: values of few examples or few mistakes are neither normal nor of one
        spread. That makes the evidence smaller, never larger.

    Returns
    -------
    tuple
        (...) log e, and (...) the nights before the likeliest beginning of a drop; 0 where there is nothing to say.
    """
    before, t = accepted.shape[-1], nights.shape[-1]
    values, variances = _scaled(np.concatenate([accepted, nights], axis=-1), errors)
    starts = np.arange(min(t - SHORTEST + 1, HORIZON))
    reserve = (1 - AT_ONCE) * max(HORIZON - t, 0) / HORIZON
    if before + t < SHORTEST or not len(starts):
        e = reserve if t and before + t >= SHORTEST else 1.0
        return np.full(values.shape[:-1], math.log(e)), np.zeros(values.shape[:-1], dtype=np.int64)
    a, b = before + starts, t - starts
    weights = np.full(len(starts), (1 - AT_ONCE) / HORIZON)
    weights[0] += AT_ONCE
    early, late = _split(values, a)
    difference = late / b - early / a
    within = np.sum(values * values, axis=-1, keepdims=True) - early * early / a - late * late / b
    within = np.maximum(within, 0.0) + 1e-14
    if variances is not None:
        explained, uncertain = _by_sampling(variances, a, b)
        careful = np.maximum(within, explained) + np.maximum(uncertain - explained, 0.0)
        within = np.where(difference < 0, careful, within)
    ratios = _log_ratio(difference, within, a, b)
    log_e = np.logaddexp.reduce(ratios + distributions.log(weights), axis=-1)
    if reserve > 0:
        log_e = np.logaddexp(log_e, math.log(reserve))
    return np.asarray(log_e), np.asarray(np.argmax(ratios, axis=-1))


def _scaled(values: Floats, errors: Floats | None) -> tuple[Floats, Floats | None]:
    """Centre values at the first and divide them by the largest: no unit matters, and no digit of a level is lost."""
    centred = values - values[..., :1]
    size = np.max(np.abs(centred), axis=-1, keepdims=True)
    size = np.where(size > 0, size, 1.0)
    return centred / size, None if errors is None else (errors / size) ** 2


def _split(values: Floats, a: Indices) -> tuple[Floats, Floats]:
    """Return the sums of the first a values and of the rest, for every a."""
    sums = np.cumsum(values, axis=-1)
    early = sums[..., a - 1]
    return early, sums[..., -1:] - early


def _by_sampling(variances: Floats, a: Indices, b: Indices) -> tuple[Floats, Floats]:
    """Return what the nights' own standard errors make of SS, and what SS they make of D's variance."""
    early, late = _split(variances, a)
    explained = early * (1 - 1 / a) + late * (1 - 1 / b)
    of_difference = early / a**2 + late / b**2
    return explained, (a + b - 2) * (a * b / (a + b)) * of_difference


def _log_ratio(difference: Floats, within: Floats, a: Indices, b: Indices) -> Floats:
    """Return log B; see ``drop_evidence``."""
    n_e, df = a * b / (a + b), a + b - 1.0
    k = 1 + n_e * PRIOR_VARIANCE
    q = within + n_e * difference**2 / k
    place = -difference * n_e * np.sqrt(PRIOR_VARIANCE / k) * np.sqrt(df / q)
    ratio = distributions.log((within + n_e * difference**2) / q) * (df / 2) - distributions.log(k) / 2
    with np.errstate(divide="ignore"):  # far above the earlier nights there is no evidence at all
        return np.asarray(ratio + math.log(2) + distributions.log(special.stdtr(df, place)))


def floor_evidence(nights: Floats, floor: float, best: float) -> float:
    """Return the logarithm of the evidence that nights lie below a floor, whatever their distribution or dependence.

    The mean over f of the products of 1 + f (floor - x) / (best - floor): a fair game or worse for whoever bets, as
    long as every night's expectation, given all nights before, is at least the floor.

    Parameters
    ----------
    nights
        (t,) values; of a loss ``best`` lies below the floor.
    floor, best
        The declared floor, and the best value that there is.
    """
    loss = (floor - nights) / (best - floor)
    logs = distributions.log1p(np.outer(FRACTIONS, loss)).sum(axis=1)
    return float(np.logaddexp.reduce(logs)) - math.log(len(FRACTIONS))


def mean_limits(nights: Floats, alpha: float) -> tuple[float, float] | None:
    """Return limits of the mean of independent normal nights that hold at every night at once; None: too few nights.

    The means whose likelihood ratio (a normal prior on the distance in standard deviations, nothing assumed of these)
    stays below 1 / alpha: with k = 1 + n and c = (sqrt(k) / alpha)^(2 / n), mean -+ sqrt(SS / n (c - 1) / (1 - c / k)).

    Examples
    --------
    >>> low, high = mean_limits(np.array([0.84, 0.85, 0.86, 0.85, 0.84, 0.86, 0.85]), 0.05)
    >>> round(low, 3), round(high, 3)
    (0.836, 0.864)
    """
    n = len(nights)
    k = 1 + n * PRIOR_VARIANCE
    c = (math.sqrt(k) / alpha) ** (2 / n) if n else math.inf
    if c >= k:
        return None
    mean = float(nights.mean())
    squares = float(((nights - mean) ** 2).sum())
    half = math.sqrt(squares / n * (c - 1) / (1 - c / k))
    return mean - half, mean + half


def serial_correlation(nights: Floats) -> tuple[float, float] | None:
    """Return the correlation of each night with the next, and p of a positive one; None: too few nights, or all equal.

    r = sum d_i d_(i+1) / sum d_i^2 with d = x - mean; of n independent normal values it has mean -1/n and variance
    (n - 2)^2 / (n^2 (n - 1)) (Moran 1948, Biometrika 35:255), and is taken as normal, which 4 values nearly justify.

    Examples
    --------
    >>> r, p = serial_correlation(np.array([1.0, 2, 3, 4, 5, 6, 7]))
    >>> round(r, 3), round(p, 3)
    (0.571, 0.007)
    """
    n, apart = len(nights), nights - nights.mean() if len(nights) else nights
    squares = distributions.dot(apart, apart)
    if n < LEAST_CORRELATED or squares <= 1e-24 * distributions.dot(nights, nights):
        return None
    r = distributions.dot(apart[1:], apart[:-1]) / squares
    return r, normal_tail((r + 1 / n) * n * math.sqrt(n - 1) / (n - 2))


SAMPLE = 64
"""Digests of ids that a run keeps, evenly spaced among them: a window that shares 1/64 of it is always found."""
LEAST_NEW = 10
"""New examples below which a run is no night of its own: its value says next to nothing of the night."""
DIVISIBLE = frozenset({"test-set", "seeds"})
"""The designs of which some examples can be taken without the others; of the others, a night is new as a whole."""


def fresh(predictions: Predictions, options: Options, history: History, past: Past) -> Fresh | None:
    """Find out which examples are new since the accepted runs; None where none is accepted.

    Of the runs since only those are read whose kept digests meet an example that still seems new.

    Raises
    ------
    HistoryError
        The history cannot be read.
    """
    if not past.nights:
        return None
    since = compared_with(past.runs, past)
    look = 1 + max((look_of(run) for run in since), default=0)
    keys, _ = unit_keys(predictions, options)
    found = Fresh(np.ones(len(keys), dtype=bool), look, _accepted(past, options))
    if options.cluster is None and _row_numbers(predictions):
        return replace(found, taken=True)
    new = found.new
    if options.cluster is None and any(own is not None and _row_numbers(own) for _, own in past.nights):
        found = replace(found, taken=True)
    for _, kept in past.nights:
        new = new if kept is None else new & ~_among(keys, kept, options)
    unkept = [run for run, kept in past.nights if kept is None]
    digests = _digests(keys) if since or unkept else np.zeros(len(keys), dtype=np.uint64)
    unseen = np.sort(digests[new])
    for run in (*unkept, *reversed(since)):
        if not len(unseen) or (_kept(run) and not _holds_any(unseen, _ids_of(run))):
            continue
        earlier = reference_predictions(history, run)
        if earlier is None:
            why = Message("night.not_kept", run=run.id)
            return replace(found, new=np.zeros(len(keys), dtype=bool), reason=why)
        new = new & ~_among(keys, earlier, options)
        unseen = np.sort(digests[new])
    places = np.flatnonzero(new)
    chosen = places[np.unique(np.linspace(0, len(places) - 1, min(SAMPLE, len(places))).astype(np.int64))]
    return replace(found, new=new, sample=tuple(digest_of(keys[int(place)].as_py()) for place in chosen))


def _accepted(past: Past, options: Options) -> tuple[Mask | None, ...]:
    """Say of each accepted run which of its units no accepted run before it held."""
    masks: list[Mask | None] = []
    before: list[Predictions] = []
    for _, own in past.nights:
        if own is None or not _has_units(own, options):
            masks.append(None)
            continue
        keys, _ = unit_keys(own, options)
        mask = np.ones(len(keys), dtype=bool)
        if options.cluster is not None or not _row_numbers(own):
            for earlier in before:
                mask &= ~_among(keys, earlier, options)
        masks.append(mask)
        before.append(own)
    return tuple(masks)


def compared_with(runs: Iterable[Run], past: Past) -> list[Run]:
    """Return the runs that were compared with the accepted runs, all of them and no others, in order."""
    accepted = tuple(run.id for run, _ in past.nights)
    return [run for run in runs if accepted_with(run) == accepted]


def look_of(run: Run) -> int:
    """Return which look at its accepted runs a run was; 0 where it kept none."""
    return int(_kept(run).get("look", 0))


@dataclass(frozen=True, slots=True)
class Night:
    """A metric's value on the examples of one night, its standard error (0: unknown), and their number."""

    value: float
    error: float
    n: int


def kept_night(run: Run, model: str, quantity: Quantity) -> Night | None:
    """Return what a run kept of a model's value on new examples; None where there were none."""
    found = _kept(run).get("models", {}).get(model)
    return None if found is None or found[0] != quantity.spelled else Night(*found[1:])


def kept_of(records: Sequence[EvidenceRecord]) -> JsonObject:
    """Return what runs to come need of a run's evidence, as it stands in the run's summary."""
    if not records:
        return {}
    first = records[0]
    models = {r.model: [r.metric, r.value, r.standard_error or 0.0, r.n_new] for r in records if r.n_new}
    return {
        "look": first.look,
        "accepted": list(first.accepted),
        "ids": list(first.id_sample),
        "models": models,
    }


def night_of(
    predictions: Predictions, model: str, quantity: Quantity, options: Options, new: Mask
) -> Night | Text:
    """Return a model's value on the units that are new; or why there is none."""
    if not new.all() and predictions.design not in DIVISIBLE:
        return Message("night.indivisible", design=predictions.design)
    outputs = next((m for m in predictions.models if m.name == model), None)
    if outputs is None:
        return Message("night.no_model", model=model)
    _, code = unit_keys(predictions, options)
    inside = new[code] if outputs.present is None else new[code] & outputs.present
    n = len(np.unique(code[inside]))
    if n < LEAST_NEW:
        return Message("night.too_few", n=n, least=LEAST_NEW)
    part = each_apart(subset(replace(predictions, models=(outputs,)), np.flatnonzero(inside)))[0]
    try:
        # A value and its standard error need no replicates, and one is the least that there are.
        sample = estimate_table(part, [quantity], replace(options, resamples=1), seed=options.seed)
    except UsageError as error:
        return Message("night.refused", why=str(error))
    estimate = sample.estimates[model, quantity]
    if not math.isfinite(estimate.value):
        return estimate.reason or Message("night.undefined", metric=quantity.spelled)
    return Night(float(estimate.value), estimate.standard_error or 0.0, n)


def unit_keys(predictions: Predictions, options: Options) -> tuple[Any, Indices]:
    """Return the names (an Arrow array) of what is independent, examples or clusters, and each row's code (n,)."""
    import pyarrow as pa

    if options.cluster is None:
        return predictions.ids.cast(pa.large_string()), predictions.example
    column = predictions.metadata.get(options.cluster) or predictions.keys[options.cluster]
    values, code = np.unique(column.values, return_inverse=True)
    names = [str(v) if column.categories is None else column.categories[v] if v >= 0 else "" for v in values]
    return pa.array(names, pa.large_string()), code.astype(np.int64)


def digest_of(key: str) -> str:
    """Return a short digest of an id: enough to suspect that two are the same, and no id itself."""
    return hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def _kept(run: Run) -> JsonObject:
    found: JsonObject = run.summary.get("evidence") or {}
    return found


def _digests(keys: Any) -> npt.NDArray[np.uint64]:
    return np.array([int(digest_of(key), 16) for key in keys.to_pylist()], dtype=np.uint64)


def _ids_of(run: Run) -> npt.NDArray[np.uint64]:
    return np.array([int(digest, 16) for digest in _kept(run).get("ids", ())], dtype=np.uint64)


def _holds_any(rising: npt.NDArray[np.uint64], wanted: npt.NDArray[np.uint64]) -> bool:
    if not len(rising):
        return False
    places = np.minimum(np.searchsorted(rising, wanted), len(rising) - 1)
    return bool((rising[places] == wanted).any())


def _among(keys: Any, earlier: Predictions, options: Options) -> Mask:
    """Say which keys an earlier run held: all, where it kept no column that would say so; none, of row numbers."""
    import pyarrow.compute as pc

    if not _has_units(earlier, options):
        return np.ones(len(keys), dtype=bool)
    if options.cluster is None and _row_numbers(earlier):
        return np.zeros(len(keys), dtype=bool)
    known = unit_keys(earlier, options)[0]
    return np.asarray(pc.is_in(keys, value_set=known).to_numpy(zero_copy_only=False), dtype=np.bool_)


def _has_units(predictions: Predictions, options: Options) -> bool:
    return options.cluster is None or options.cluster in {*predictions.metadata, *predictions.keys}


def _row_numbers(predictions: Predictions) -> bool:
    return any((record.what, record.value) == ("ids", "row numbers") for record in predictions.found)
