"""Effect sizes of a pair: how large a difference is.

A p-value shrinks as the test set grows; these do not. Signs: Cohen's d and the counts per 1,000 cases are a - b;
Cohen's g, the odds ratio, the rank-biserial correlation and the probability of superiority favour a where they
are large.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from evalreport.comparisons.pairs import MOST_PAIRS, Comparison
from evalreport.comparisons.registry import Pair
from evalreport.engine.distributions import Array, t_quantile
from evalreport.engine.ranks import equalised, mid_ranks
from evalreport.intervals.proportions import newcombe_paired_limits, wilson_limits
from evalreport.metrics.sample import Sample
from evalreport.predictions.arrays import Floats, Indices, Mask, required
from evalreport.predictions.table import ModelOutputs, Predictions
from evalreport.schema.comparisons import AgreementRecord, DisagreementRecord, EffectRecord, UnanimityRecord
from evalreport.schema.metrics import Interval
from evalreport.texts import Message, Value, parts

MOST_EXAMPLES = 20


def disagreements(predictions: Predictions) -> tuple[DisagreementRecord, ...]:
    """Return the examples with the widest spread of answers, the widest first; nothing where all answers agree.

    Classes: pairs of models with different labels, then the spread of the probability given to the true class.
    Numbers and outcomes: the largest minus the smallest. Ties go by id.

    Parameters
    ----------
    predictions
        One test set on which every model predicts every example; nothing is returned for other designs, nor for
        counts, whose examples have no ids.
    """
    identified = predictions.n == len(predictions.ids) and predictions.multiplicity is None
    if predictions.design != "test-set" or not identified:
        return ()
    models = [m for m in predictions.models if m.present is None and _answers(m, predictions) is not None]
    if len(models) < 2:
        return ()
    spread = _spread(predictions, models)
    chosen = _widest(spread, MOST_EXAMPLES)
    return tuple(
        DisagreementRecord(
            id=str(predictions.ids[int(predictions.example[row])]),
            truth=_truth(predictions, row),
            model=model.name,
            answer=_answer(model, predictions, row),
            correct=_correct(model, predictions, row),
            spread=float(spread.size[row]),
            measure=spread.measure,
        )
        for row in chosen
        for model in models
    )


def _answers(model: ModelOutputs, predictions: Predictions) -> Array | None:
    if predictions.task == "clustering":
        return None  # names of groups: no two models' are about the same group
    return model.outcome if predictions.task in ("outcome", "scores") else model.y_pred


@dataclass(frozen=True, slots=True)
class Spread:
    """The spread of the answers to each example, (n,), the order of ties (None: by id), and the name of the measure.

    ``kinds``: a code (n,) for each combination of the true and the predicted labels; of ties every kind has its turn.
    """

    size: Array
    then: Floats | None
    measure: Message
    kinds: Array | None = None


def _spread(predictions: Predictions, models: Sequence[ModelOutputs]) -> Spread:
    answers = [np.asarray(_answers(m, predictions)) for m in models]
    if not predictions.classes:
        spread = np.ptp(np.stack(answers).astype(np.float64), axis=0)
        return Spread(spread, None, Message("spread.range"))
    size = np.zeros(predictions.n, dtype=np.int32)
    for first, second in combinations(answers, 2):
        size += first != second
    kinds = np.zeros(predictions.n, dtype=np.uint32)
    truth = [] if predictions.y_true is None else [np.asarray(predictions.y_true)]
    for answer in [*truth, *answers]:
        kinds *= np.uint32(1_000_003)  # wraps
        kinds += answer.astype(np.uint32)
    return Spread(size, _probability_spread(predictions, models), Message("spread.disagreeing_pairs"), kinds)


def _probability_spread(predictions: Predictions, models: Sequence[ModelOutputs]) -> Floats | None:
    """Return the largest minus the smallest probability given to the true class; None where less than two give one."""
    given = [m.proba for m in models if m.proba is not None]
    if len(given) < 2 or predictions.y_true is None:
        return None
    true_class = predictions.y_true[:, None].astype(np.intp)
    return np.asarray(np.ptp([np.take_along_axis(p, true_class, axis=1)[:, 0] for p in given], axis=0))


def _widest(spread: Spread, most: int) -> list[int]:
    """Return the rows with the widest spread; of those alike one of each kind first, the second measure's greatest."""
    apart = np.flatnonzero(spread.size > 0)
    # Rows are in the order of their ids, and the sort is stable.
    then = np.zeros(len(apart)) if spread.then is None else -spread.then[apart]
    turn = (
        np.zeros(len(apart))
        if spread.kinds is None
        else _turns(spread.size[apart], spread.kinds[apart], then)
    )
    order = np.lexsort((then, turn, -spread.size[apart]))
    return [int(row) for row in apart[order][:most]]


def _turns(size: Array, kinds: Array, then: Floats) -> Indices:
    """Return each row's place among the rows of its size and kind."""
    order = np.lexsort((then, kinds, size))
    new = np.ones(len(order), dtype=bool)
    new[1:] = (np.diff(size[order]) != 0) | (kinds[order][1:] != kinds[order][:-1])
    places = np.arange(len(order))
    turn = np.empty(len(order), dtype=np.intp)
    turn[order] = places - np.maximum.accumulate(np.where(new, places, 0))
    return turn


def unanimity(predictions: Predictions) -> tuple[UnanimityRecord, ...]:
    """Count on how many examples all models are right, all are wrong, or some of each: over all, and by true class.

    Nothing where the answers are neither right nor wrong, or where `disagreements` gives nothing.
    """
    models = [m for m in predictions.models if m.present is None and _answers(m, predictions) is not None]
    if predictions.design != "test-set" or predictions.n != len(predictions.ids) or len(models) < 2:
        return ()
    truth = predictions.y_true if predictions.classes else None
    answers = [np.asarray(_answers(m, predictions)) for m in models]
    if truth is None and (
        predictions.task != "outcome" or not all(np.isin(a, (0, 1)).all() for a in answers)
    ):
        return ()
    right = np.stack([a == (1 if truth is None else truth) for a in answers])
    every, none = right.all(axis=0), ~right.any(axis=0)
    parts: list[tuple[str | None, Mask]] = [(None, np.ones(predictions.n, dtype=bool))]
    parts += [] if truth is None else [(name, truth == code) for code, name in enumerate(predictions.classes)]
    return tuple(
        UnanimityRecord(
            label=label,
            n=predictions.number(part),
            all_right=predictions.number(every & part),
            all_wrong=predictions.number(none & part),
        )
        for label, part in parts
    )


def _truth(predictions: Predictions, row: int) -> str | None:
    if predictions.y_true is None:
        return None
    value = predictions.y_true[row]
    return predictions.classes[int(value)] if predictions.classes else f"{float(value):.6g}"


def _answer(model: ModelOutputs, predictions: Predictions, row: int) -> str:
    answers = required(_answers(model, predictions))
    if not predictions.classes:
        return f"{float(answers[row]):.6g}"
    code = int(answers[row])
    return predictions.answers[code] if code >= 0 else ""


def _correct(model: ModelOutputs, predictions: Predictions, row: int) -> bool | None:
    if not predictions.classes or predictions.y_true is None or model.y_pred is None:
        return None
    return bool(model.y_pred[row] == predictions.y_true[row])


Limits = tuple[float | None, float | None]
Sized = tuple[str, float | None, Limits, Message]
"""Effect, value, its limits, what it says."""

NO_LIMITS: Limits = (None, None)
CASES = 1000


def effects(
    sample: Sample, family: Sequence[Comparison], level: float, one: Mapping[tuple[str, str], Interval | None]
) -> tuple[EffectRecord, ...]:
    """Return the effect sizes of every pair on the primary metric, and the errors per 1,000 cases.

    Of very many pairs each has the first of its sizes alone.

    Parameters
    ----------
    family
        The primary metric's comparisons, one a pair.
    level
        Confidence of the limits. They are None where examples are not independent units or no honest interval
        is known.
    one
        The pair's one interval: sizes that are the difference itself on another scale take theirs from it.
    """
    sizes_of_effect = []
    for c in family:
        if c.pair is None:
            continue
        own = one.get((c.a, c.b))
        sizes = [*_of_agreement(c, c.pair, own, level), *_of_losses(c, c.pair, level)]
        if len(family) > MOST_PAIRS:
            sizes_of_effect += [_record(c, c.quantity.spelled, size) for size in sizes[:1]]
            continue
        sizes_of_effect += [_record(c, c.quantity.spelled, size) for size in sizes]
        fits = c.pair.difference.fits
        unit = "example" if fits is None else fits.kind.removesuffix("s")
        sizes_of_effect += [_record(c, c.quantity.spelled, size, unit) for size in _of_fits(c, c.pair)]
        sizes_of_effect += [_record(c, "error_rate", size) for size in _per_cases(sample, c, own, level)]
    return tuple(sizes_of_effect)


def agreement_records(family: Sequence[Comparison]) -> tuple[AgreementRecord, ...]:
    """Return the 2 x 2 tables of right and wrong answers of each pair."""
    cells = ("both", "only_a", "only_b", "neither")
    return tuple(
        AgreementRecord(
            a=c.a,
            b=c.b,
            metric=c.quantity.spelled,
            **dict(zip(cells, c.pair.difference.agreement, strict=True)),
        )
        for c in family
        if c.pair is not None and c.pair.difference.agreement is not None
    )


def _record(comparison: Comparison, metric: str, size: Sized, unit: str = "example") -> EffectRecord:
    effect, value, (low, high), text = size
    return EffectRecord(
        a=comparison.a,
        b=comparison.b,
        metric=metric,
        effect=effect,
        value=value,
        low=low,
        high=high,
        text=text,
        unit=unit,
    )


# --- right or wrong -------------------------------------------------------------------------------------------------


def _of_agreement(comparison: Comparison, pair: Pair, one: Interval | None, level: float) -> Iterator[Sized]:
    """Yield the effects of the discordant examples: only these distinguish the models."""
    for size in _of_discordant(comparison, pair, one, level):
        # Answers of several fits share their training data: the sizes hold, binomial limits do not.
        yield size if pair.difference.fits is None else (size[0], size[1], NO_LIMITS, size[3])


def _of_discordant(comparison: Comparison, pair: Pair, one: Interval | None, level: float) -> Iterator[Sized]:
    if pair.difference.agreement is None:
        return
    a, b = comparison.a, comparison.b
    both, only_a, only_b, neither = _favourable(pair.difference.agreement, pair.greater_is_better)
    n, discordant = both + only_a + only_b + neither, only_a + only_b
    if discordant:
        share = only_a / discordant
        low, high = wilson_limits(only_a, discordant, level)
        params: dict[str, Value] = {"discordant": discordant, "a": a, "right": only_a}
        odds = only_a / only_b if only_a and only_b else None
        text = Message("effect.odds", only_a=only_a, only_b=only_b, a=a)
        yield "odds_ratio_discordant", odds, (_odds(low), _odds(high)), text
        yield "cohen_g", share - 0.5, (low - 0.5, high - 0.5), Message("effect.share_about_half", **params)
        yield (
            "rank_biserial",
            2 * share - 1,
            (2 * low - 1, 2 * high - 1),
            Message("effect.share_from_minus_one", **params),
        )
    low, high = newcombe_paired_limits((both, only_a, only_b, neither), level)
    if one is not None and one.low is not None and one.high is not None:
        low, high = (one.low, one.high) if pair.greater_is_better else (-one.high, -one.low)
    superiority = 0.5 + (only_a - only_b) / (2 * n)
    text = Message("effect.superiority", a=a, b=b)
    yield "probability_of_superiority", superiority, (0.5 + low / 2, 0.5 + high / 2), text


Table = tuple[float, float, float, float]


def _favourable(table: Table, greater_is_better: bool) -> Table:
    """Turn a table of outcomes so that its first cells count successes, where a 1 is a failure."""
    both, only_a, only_b, neither = table
    return table if greater_is_better else (neither, only_b, only_a, both)


def _odds(share: float) -> float | None:
    return share / (1 - share) if share < 1 else None


# --- losses, example by example -------------------------------------------------------------------------------------


def _of_losses(comparison: Comparison, pair: Pair, level: float) -> Iterator[Sized]:
    """Yield Cohen's d, the rank-biserial correlation and the probability of superiority over the examples."""
    delta = pair.difference
    plain = delta.sampling.alike and delta.fits is None
    if pair.by_example is None or delta.agreement is not None or not plain:
        return
    losses = pair.losses
    differences = losses[:, 0] - losses[:, 1]
    gains = differences if pair.greater_is_better else -differences
    yield from _standardised(differences, level)
    compared = float(np.abs(losses).max(initial=0.0))
    yield from _by_ranks(gains, compared, comparison.a, comparison.b, "example")


def _of_fits(comparison: Comparison, pair: Pair) -> Iterator[Sized]:
    """Yield the same over folds, replicates, seeds or data sets; folds share data, so nothing has limits."""
    fits = pair.difference.fits
    if fits is None or np.isnan(fits.values).any() or len(fits.values) < 2:
        return
    gains = fits.values if pair.greater_is_better else -fits.values
    yield from _standardised(fits.values, None)
    rows = pair.difference.rows
    compared = 0.0 if rows is None else rows.compared
    yield from _by_ranks(gains, compared, comparison.a, comparison.b, fits.kind.removesuffix("s"))


def _standardised(differences: Floats, level: float | None) -> Iterator[Sized]:
    """Yield the mean difference in units of the differences' own standard deviation (divisor n - 1)."""
    if len(differences) < 2:
        return
    spread = float(differences.std(ddof=1))
    mean = float(differences.mean())
    if spread <= 1e-12 * abs(mean) or spread == 0:
        return
    d = mean / spread
    limits = NO_LIMITS if level is None else standardised_limits(differences, level)
    yield ("cohen_d", d, limits, Message("effect.standardised", d=d, decimals=2))


LEAST_STANDARDISED = 100
"""With fewer differences Cohen's d has no limits: their skewness and kurtosis are not known well enough."""


def standardised_limits(differences: Floats, level: float) -> Limits:
    """Return the confidence limits of Cohen's d of paired differences, of any distribution with four moments.

    d -+ t(n - 1) sqrt((1 - d skewness + d^2 (kurtosis - 1) / 4) / n), the delta method on the mean and the standard
    deviation; normal differences have kurtosis 3, hence the textbook variance (1 + d^2 / 2) / n. How often they hold is
    in docs/effect-sizes.csv.

    Parameters
    ----------
    differences
        (n,), of independent examples.
    level
        Confidence.

    Returns
    -------
    tuple
        Lower and upper limit; None, None with fewer than 100 differences, and where the variance is 0.

    Examples
    --------
    >>> standardised_limits(np.arange(99.0), 0.95)
    (None, None)
    >>> [round(limit, 3) for limit in standardised_limits(np.tile([-1.0, 0.0, 0.0, 2.0], 50), 0.95)]
    [0.099, 0.359]
    """
    n = len(differences)
    if n < LEAST_STANDARDISED:
        return NO_LIMITS
    centred = differences - differences.mean()
    centred = centred / np.sqrt((centred**2).mean())
    d = float(differences.mean() / differences.std(ddof=1))
    variance = 1 - d * float((centred**3).mean()) + d * d * (float((centred**4).mean()) - 1) / 4
    if variance <= 1e-12:  # two values alone may make it 0
        return NO_LIMITS
    half = t_quantile((1 + level) / 2, n - 1) * math.sqrt(variance / n)
    return d - half, d + half


def _by_ranks(gains: Floats, compared: float, a: str, b: str, unit: str) -> Iterator[Sized]:
    """Yield the matched-pairs rank-biserial correlation (Kerby 2014) and wins plus half the ties."""
    gains = equalised(gains, compared)
    moved = gains[gains != 0]
    if len(moved):
        ranks = mid_ranks(np.abs(moved))
        favourable = float(ranks[moved > 0].sum() / ranks.sum())
        text = Message("effect.rank_shares", a=a, b=b)
        yield "rank_biserial", 2 * favourable - 1, NO_LIMITS, text
    wins, losses = int((gains > 0).sum()), int((gains < 0).sum())
    ties = len(gains) - wins - losses
    text = Message(f"effect.wins_by_{unit}", a=a, b=b, wins=wins, losses=losses)
    if ties:
        text = parts(text, Message("effect.ties", n=ties))
    yield "probability_of_superiority", (wins + ties / 2) / len(gains), NO_LIMITS, text


# --- errors per 1,000 cases -----------------------------------------------------------------------------------------


def _per_cases(sample: Sample, comparison: Comparison, own: Interval | None, level: float) -> Iterator[Sized]:
    """Yield by how many errors a differs from b in 1,000 cases like these; misses and false alarms apart."""
    predictions, a, b = sample.predictions, comparison.a, comparison.b
    labels = {m.name: m.y_pred for m in predictions.models if m.present is None}
    if (
        not predictions.classes
        or predictions.y_true is None
        or labels.get(a) is None
        or labels.get(b) is None
    ):
        return
    true, first, second = predictions.y_true, np.asarray(labels[a]), np.asarray(labels[b])
    if predictions.task == "binary":
        positive = true == predictions.positive_code
        kinds = [("misses_per_1000", positive), ("false_alarms_per_1000", ~positive)]
    else:
        kinds = [("errors_per_1000", np.ones(len(true), dtype=bool))]
    for effect, counted in kinds:
        wrong_a, wrong_b = (first != true) & counted, (second != true) & counted
        difference, limits = _difference_per_cases(sample, predictions, wrong_a, wrong_b, level)
        of_all = counted.all() and comparison.pair is not None and comparison.pair.difference.agreement
        if (
            of_all
            and limits != NO_LIMITS
            and own is not None
            and own.low is not None
            and own.high is not None
        ):
            limits = (-CASES * own.high, -CASES * own.low)  # errors are the answers that are not right
        yield effect, difference, limits, _per_1000(effect, difference, a, b)


def _difference_per_cases(
    sample: Sample, predictions: Predictions, wrong_a: Mask, wrong_b: Mask, level: float
) -> tuple[float, Limits]:
    units = sample.units
    weight = units.base
    more = float(weight[wrong_a].sum()) - float(weight[wrong_b].sum())
    difference = CASES * more / float(weight.sum())
    independent = units.plain and predictions.n == len(predictions.ids)
    if not independent or predictions.design != "test-set":
        return difference, NO_LIMITS
    cells = (wrong_a & wrong_b, wrong_a & ~wrong_b, ~wrong_a & wrong_b, ~wrong_a & ~wrong_b)
    both, only_a, only_b, neither = (float(predictions.number(cell)) for cell in cells)
    low, high = newcombe_paired_limits((both, only_a, only_b, neither), level)
    return difference, (CASES * low, CASES * high)


def _per_1000(effect: str, difference: float, a: str, b: str) -> Message:
    size = abs(difference)
    decimals = 0 if size >= 10 else 1
    if not round(size, decimals):
        return Message(f"effect.{effect}.as_many", a=a, b=b)
    how = "fewer" if difference < 0 else "more"
    return Message(f"effect.{effect}.{how}", a=a, b=b, size=size, decimals=decimals)
