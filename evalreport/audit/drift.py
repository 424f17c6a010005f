"""Changes of the data since the accepted run: labels, classes, predictions, scores, missing answers, number of rows.

Each has an effect size and, where the examples of both runs are independent, a test. All p-values of a run are adjusted
together, and for every look at the same accepted run.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace

import numpy as np

from evalreport.audit.past import Past, runs_with_same_accepted
from evalreport.audit.sequential_test import share_of_look
from evalreport.comparisons.adjustment import adjust
from evalreport.engine.distributions import Array, chi2_tail, dot, exp, log, log_choose
from evalreport.engine.ranks import mid_ranks, signed_rank_tail
from evalreport.history.run_differences import Present, Reference
from evalreport.predictions.arrays import Floats, Indices, Mask
from evalreport.predictions.table import ModelOutputs, Predictions
from evalreport.schema.audit import AuditRecord
from evalreport.schema.results import Results
from evalreport.texts import Message, Text, parts

LEAST_EXPECTED = 5.0
"""Smallest expected count for chi-square (Cochran 1954); rarer values are counted together."""
BINS = 10
"""Bins of the population stability index: deciles of the reference."""
SMOOTHING = 0.5
"""Added to each count of the stability index, which is infinite for a count of 0."""
HALF = 0.5
"""A run with less than this share of the usual number of rows raises an alarm: the usual sign of a broken export."""
MOST_VALUES = 1000
MOST_LISTED = 5


@dataclass(frozen=True, slots=True)
class Drift:
    """The test and effect size of two samples; ``reason`` says why there is no test.

    ``effect`` names ``effect_size``; ``details`` holds further sizes by name.
    """

    test: str | None = None
    statistic: float | None = None
    p_value: float | None = None
    effect: str | None = None
    effect_size: float | None = None
    details: Mapping[str, float] = field(default_factory=dict)
    reason: Text | None = None


def drift_of_counts(then: Array, now: Array) -> Drift:
    """Compare two samples of categories by their counts (k,): chi-square, or Fisher's exact test of two categories.

    Cramer's V is sqrt(chi2 / n) of the 2 x k table: 0.1 is small, 0.3 medium, 0.5 large (Cohen 1988). Categories with
    small expected counts are counted together; if only two are left and one is still small, the test is exact.

    Examples
    --------
    >>> found = drift_of_counts(np.array([50, 50]), np.array([30, 70]))
    >>> found.test, round(found.statistic, 3), round(found.p_value, 4), round(found.effect_size, 3)
    ('chi_square', 8.333, 0.0039, 0.204)
    """
    then, now = np.asarray(then, dtype=np.float64), np.asarray(now, dtype=np.float64)
    there = then + now > 0
    then, now = then[there], now[there]
    if not then.sum() or not now.sum():
        return Drift(reason=Message("drift.empty"))
    if len(then) < 2:
        return Drift(effect="cramers_v", effect_size=0.0, reason=Message("drift.one_value"))
    whole = _chi_square(then, now)
    v = math.sqrt(whole / (then.sum() + now.sum()))
    sizes = {"psi": stability_index(then, now), **noise_of_index(len(then), then.sum(), now.sum())}
    then, now = _pooled(then, now)
    if len(then) < 2:
        return Drift(effect="cramers_v", effect_size=v, details=sizes, reason=Message("drift.too_few"))
    if len(then) == 2 and _expected(then, now).min() < LEAST_EXPECTED:
        return Drift("fisher_exact", None, fisher_exact(then, now), "cramers_v", v, sizes)
    statistic = _chi_square(then, now)
    p = chi2_tail(statistic, len(then) - 1)
    return Drift("chi_square", statistic, _never_zero(p), "cramers_v", v, sizes)


def drift_of_numbers(then: Floats, now: Floats) -> Drift:
    """Compare two samples of numbers: Kolmogorov-Smirnov; the Wasserstein distance in standard deviations of the first.

    The p-value is Stephens' (1970, J R Stat Soc B 32:115) form of the limit; with ties it is too large.
    """
    then, now = np.sort(then[np.isfinite(then)]), np.sort(now[np.isfinite(now)])
    if not len(then) or not len(now):
        return Drift(reason=Message("drift.empty"))
    every = np.concatenate([then, now])
    at_then = np.searchsorted(then, every, side="right") / len(then)
    at_now = np.searchsorted(now, every, side="right") / len(now)
    statistic = float(np.abs(at_then - at_now).max())
    spread, distance = float(then.std()), wasserstein(then, now)
    bins = len(np.unique(np.quantile(then, np.arange(1, BINS) / BINS))) + 1
    sizes = {"wasserstein": distance, "psi": stability_of_numbers(then, now)}
    sizes |= noise_of_index(bins, len(then), len(now))
    size, reason = (distance / spread, None) if spread > 0 else (None, Message("drift.no_spread"))
    p = _never_zero(kolmogorov_tail(statistic, len(then), len(now)))
    return Drift("kolmogorov_smirnov", statistic, p, "wasserstein_sd", size, sizes, reason)


def drift_of_pairs(then: Floats, now: Floats) -> Drift:
    """Compare numbers of the same examples: Wilcoxon's signed ranks, zeros dropped."""
    difference = now - then
    difference = difference[np.isfinite(difference) & (difference != 0)]
    spread = float(np.nanstd(then))
    size = float(np.nanmean(np.abs(now - then))) / spread if spread > 0 else None
    if not len(difference):
        return Drift("wilcoxon", 0.0, 1.0, "mean_change_sd", 0.0)
    above = float(mid_ranks(np.abs(difference))[difference > 0].sum())
    p = min(1.0, 2 * min(signed_rank_tail(difference), signed_rank_tail(-difference)))
    return Drift("wilcoxon", above, _never_zero(p), "mean_change_sd", size)


def fisher_exact(then: Floats, now: Floats) -> float:
    """Return the two-sided p-value of Fisher's exact test of a 2 x 2 table: the tables that are no more likely."""
    (a, b), (c, d) = then, now
    row, column, n = a + b, a + c, a + b + c + d
    k = np.arange(max(0, row + column - n), min(row, column) + 1)
    logs = log_choose(column, k) + log_choose(n - column, row - k) - log_choose(n, row)
    chances = exp(logs)
    return float(min(1.0, chances[chances <= chances[k == a][0] * (1 + 1e-7)].sum()))


def kolmogorov_tail(statistic: float, n: int, m: int) -> float:
    """Return P(D >= statistic) of two samples of the same continuous distribution."""
    from scipy.special import kolmogorov

    effective = math.sqrt(n * m / (n + m))
    return float(kolmogorov((effective + 0.12 + 0.11 / effective) * statistic))


def wasserstein(then: Floats, now: Floats) -> float:
    """Return the area between two distribution functions, from sorted samples: the first Wasserstein distance."""
    every = np.sort(np.concatenate([then, now]))
    left = every[:-1]
    at_then = np.searchsorted(then, left, side="right") / len(then)
    at_now = np.searchsorted(now, left, side="right") / len(now)
    return dot(np.abs(at_then - at_now), np.diff(every))


def stability_index(then: Floats, now: Floats) -> float:
    """Return the population stability index of counts: sum (q - p) ln(q / p), with 0.5 added to each count.

    By convention, below 0.1 is negligible and above 0.25 is another population. It grows by chance in small samples, so
    it is an effect size and not a test.
    """
    p, q = then + SMOOTHING, now + SMOOTHING
    p, q = p / p.sum(), q / q.sum()
    return dot(q - p, log(q / p))


def stability_of_numbers(then: Floats, now: Floats) -> float:
    """Return the population stability index over the deciles of the reference, from sorted samples."""
    edges = np.unique(np.quantile(then, np.arange(1, BINS) / BINS))
    places = (np.searchsorted(edges, sample, side="left") for sample in (then, now))
    p, q = (np.bincount(place, minlength=len(edges) + 1).astype(np.float64) for place in places)
    return stability_index(p, q)


def noise_of_index(categories: int, n: float, m: float) -> dict[str, float]:
    """Return what the stability index is on average, and at most in 95 % of cases, where nothing but chance differs.

    PSI is nearly (1 / n + 1 / m) times a chi-square variable with one degree of freedom less than categories (Yurdakul
    and Naranjo 2020, Journal of Risk Model Validation 14(4):1).

    Examples
    --------
    >>> {name: round(value, 4) for name, value in noise_of_index(10, 1000, 500).items()}
    {'psi_by_noise': 0.027, 'psi_by_noise_95': 0.0508}
    """
    from scipy.special import chdtri

    scale, df = 1 / n + 1 / m, categories - 1
    return {"psi_by_noise": scale * df, "psi_by_noise_95": scale * float(chdtri(df, 0.05))}


def _psi_text(found: Drift) -> tuple[Message, ...]:
    """Say the stability index beside what noise alone gives."""
    if "psi_by_noise_95" not in found.details:
        return ()
    known = {"psi": found.details["psi"], "noise": found.details["psi_by_noise_95"]}
    return (Message("drift.psi", decimals=3, **known),)


def _expected(then: Floats, now: Floats) -> Floats:
    totals = np.array([then.sum(), now.sum()])
    return np.asarray(np.outer(totals, then + now) / totals.sum(), dtype=np.float64)


def _chi_square(then: Floats, now: Floats) -> float:
    expected = _expected(then, now)
    return float(((np.stack([then, now]) - expected) ** 2 / expected).sum())


def _pooled(then: Floats, now: Floats) -> tuple[Floats, Floats]:
    """Count categories with small expected counts together, adding the next rarest until the sum is large enough."""
    order = np.argsort(then + now, kind="stable")
    then, now = then[order], now[order]
    least = _expected(then, now).min(axis=0)
    k = int((least < LEAST_EXPECTED).sum())
    while 0 < k < len(then) - 1 and least[:k].sum() < LEAST_EXPECTED:
        k += 1
    if k < 2 or len(then) == 2:
        return then, now
    k = min(k, len(then) - 1)
    return np.append(then[:k].sum(), then[k:]), np.append(now[:k].sum(), now[k:])


def _never_zero(p: float) -> float:
    return max(float(p), math.ulp(0.0))


def _answer(question: str, about: str, drift: Drift, text: Text, *, alarm: bool = False) -> AuditRecord:
    """Return the record of one question about the data, which is not of a run yet.

    Parameters
    ----------
    about
        The model or the kind of values; empty: the whole run.
    alarm
        Whether it is alarming, if no p-value decides that.
    """
    facts = {entry.name: getattr(drift, entry.name) for entry in fields(Drift)}
    return AuditRecord(question=question, about=about, run=0, look=0, alarm=alarm, text=text, **facts)


def data_changed(now: Present, past: Past) -> Results:
    """Answer how the data differ from those of the accepted run."""
    reference, new = past.references.get("accepted"), past.new_examples
    if reference is None or new is None or reference.predictions is None:
        return now.results
    paired = any(row.paired for row in now.results.history if row.reference == reference.name)
    answers = [_number_of_rows(now, past, reference)]
    answers += _differences(now, reference.predictions, paired=paired)
    if not _independent(now.predictions, now) or not _independent(reference.predictions, now):
        answers = [_untested(answer, answer.reason or Message("drift.dependent")) for answer in answers]
    rows = _records(answers, reference.run.id, new.look, alpha=1 - now.options.confidence)
    return replace(now.results, audit=(*now.results.audit, *rows))


def _differences(now: Present, then: Predictions, *, paired: bool) -> Iterator[AuditRecord]:
    today = now.predictions
    unlike = today.y_true is not None and then.y_true is None
    if bool(today.classes) != bool(then.classes) or unlike:
        text = Message("drift.other_task_said", now=today.task, then=then.task)
        yield _answer("labels", "truth", Drift(reason=Message("drift.other_task")), text, alarm=True)
        return
    # The groups of a clustering have no names that could be compared between runs.
    if today.y_true is not None and then.y_true is not None and today.task != "clustering":
        yield from _truths(then, today, paired=paired)
    if now.options.grade is not None:
        yield from _grades(then, today, now.options.grade)
    for outputs in today.models:
        earlier = next((m for m in then.models if m.name == outputs.name), None)
        if earlier is not None:
            yield from _of_model((then, earlier), (today, outputs), paired=paired)


def _number_of_rows(now: Present, past: Past, reference: Reference) -> AuditRecord:
    """Compare with the median of the runs since, because the accepted run may be larger than usual."""
    before = [run.summary["n"] for run in runs_with_same_accepted(past)]
    usual = float(np.median(before)) if before else float(reference.results.n)
    ratio = now.results.n / usual if usual > 0 else math.inf  # a damaged history may hold any number
    few = bool(before) and ratio < HALF
    name = "fewer_than_half" if few else "rows_usual" if before else "rows"
    text = Message(f"drift.number.{name}", n=now.results.n, usual=usual)
    return _answer("examples", "", Drift(effect="ratio", effect_size=ratio), text, alarm=few)


def _truths(then: Predictions, today: Predictions, *, paired: bool) -> Iterator[AuditRecord]:
    assert then.y_true is not None
    assert today.y_true is not None
    if paired:
        yield _answer("labels", "truth", Drift(reason=Message("drift.same")), Message("drift.not_asked"))
        return
    first, second = (p.y_true[_once(p)] for p in (then, today) if p.y_true is not None)
    if not today.classes:
        drift = drift_of_numbers(first.astype(np.float64), second.astype(np.float64))
        yield _answer("labels", "truth", drift, _numbers_text(drift))
        return
    labels, old, new = _counts((first, then.classes), (second, today.classes))
    drift = drift_of_counts(old, new)
    if today.positive is not None and today.positive == then.positive:
        place = labels.index(today.positive)
        then_, now_ = (100 * float(c[place] / c.sum()) for c in (old, new))
        text = Message("drift.positive", label=today.positive, now=now_, then=then_, decimals=1)
    else:
        text = _mix_text(labels, old, new)
    yield _answer("labels", "truth", drift, text)
    yield _classes(labels, old, new)


def _classes(labels: list[str], old: Floats, new: Floats) -> AuditRecord:
    """Test new and missing classes: their smallest Fisher p-value, times the number of all classes."""
    changed = np.flatnonzero((old > 0) != (new > 0))
    came = [labels[k] for k in changed if new[k] > 0]
    gone = [labels[k] for k in changed if new[k] == 0]
    if not len(changed):
        known = int(((old > 0) & (new > 0)).sum())
        same = Message("drift.same_classes", n=known)
        return _answer("classes", "truth", Drift(effect="changed_classes", effect_size=0.0), same)
    p = min(fisher_exact(*(np.array([c.sum() - c[k], c[k]]) for c in (old, new))) for k in changed)
    by_change = {"new": came, "gone": gone}
    sentences = [
        Message(f"drift.classes.{change}", names=_listed(names))
        for change, names in by_change.items()
        if names
    ]
    drift = Drift("fisher_exact", None, min(1.0, p * len(labels)), "changed_classes", float(len(changed)))
    return _answer("classes", "truth", drift, parts(*sentences))


def _grades(then: Predictions, today: Predictions, column: str) -> Iterator[AuditRecord]:
    """Compare the mix of rating grades."""
    own, old = today.metadata.get(column), then.metadata.get(column)
    if own is None or old is None or own.categories is None or old.categories is None:
        return
    labels, before, after = _counts((old.values, old.categories), (own.values, own.categories))
    drift = drift_of_counts(before, after)
    yield _answer("column", column, drift, parts(_mix_text(labels, before, after), *_psi_text(drift)))


def _of_model(
    then: tuple[Predictions, ModelOutputs], today: tuple[Predictions, ModelOutputs], *, paired: bool
) -> Iterator[AuditRecord]:
    """Compare one model's predicted labels, scores and missing answers."""
    name = today[1].name
    if today[0].classes and then[1].y_pred is not None and today[1].y_pred is not None and not paired:
        first, second = (_labels(*side) for side in (then, today))
        labels, old, new = _counts((first, then[0].answers), (second, today[0].answers))
        drift = drift_of_counts(old, new)
        yield _answer("predicted_labels", name, drift, _mix_text(labels, old, new))
    scores = [_scores(*side) for side in (then, today)]
    same_scale = (then[0].task, then[0].positive) == (today[0].task, today[0].positive)
    if scores[0] is not None and scores[1] is not None and same_scale:
        drift = drift_of_pairs(scores[0], scores[1]) if paired else drift_of_numbers(scores[0], scores[1])
        yield _answer("scores", name, drift, _numbers_text(drift))
    gaps = [_missing(*side) for side in (then, today)]
    old_gaps, new_gaps = (np.array([n - lacking, lacking], dtype=np.float64) for lacking, n in gaps)
    text = Message("drift.missing", n=gaps[1][0], rows=gaps[1][1], then=gaps[0][0])
    none = Drift(reason=Message("drift.none_missing"))
    drift = drift_of_counts(old_gaps, new_gaps) if gaps[0][0] or gaps[1][0] else none
    answer = _answer("missing", name, drift, text)
    yield _untested(answer, Message("drift.same")) if paired else answer


def _records(answers: list[AuditRecord], run: int, look: int, *, alpha: float) -> list[AuditRecord]:
    """Adjust all p-values of the run by Holm, and for the share of the error that this look may spend."""
    tested = [answer.p_value for answer in answers if answer.p_value is not None]
    adjusted = iter(adjust(tested, "holm"))
    share = share_of_look(look)
    rows = []
    for answer in answers:
        p = None if answer.p_value is None else min(1.0, next(adjusted) / share)
        alarm = answer.alarm if p is None else p <= alpha
        rows.append(replace(answer, run=run, look=look, p_adjusted=p, alarm=alarm))
    return rows


def _untested(answer: AuditRecord, reason: Text) -> AuditRecord:
    return replace(answer, test=None, statistic=None, p_value=None, reason=reason)


def _independent(predictions: Predictions, now: Present) -> bool:
    once = predictions.design == "test-set" and len(predictions.ids) == predictions.n
    return once and now.options.cluster is None


def _mix_text(labels: list[str], old: Floats, new: Floats) -> Message:
    """Say which value's share changed most."""
    shares = old / max(old.sum(), 1), new / max(new.sum(), 1)
    k = int(np.abs(shares[1] - shares[0]).argmax())
    then, now = (100 * float(share[k]) for share in shares)
    key = "drift.mix" if len(labels) == 2 else "drift.mix_of_many"
    return Message(key, label=labels[k], now=now, then=then, decimals=1)


def _numbers_text(found: Drift) -> Text:
    if found.effect_size is None:
        return Message("drift.as_distributions")
    if found.effect == "mean_change_sd":
        return Message("drift.mean_change", size=found.effect_size)
    return parts(Message("drift.distance", size=found.effect_size), *_psi_text(found))


def _listed(names: list[str]) -> str | Message:
    first, more = ", ".join(names[:MOST_LISTED]), len(names) - MOST_LISTED
    return Message("list.more", names=first, n=more) if more > 0 else first


def _once(predictions: Predictions) -> Indices:
    """Return one row of each example."""
    if len(predictions.ids) == predictions.n:
        return np.arange(predictions.n)
    return np.unique(predictions.example, return_index=True)[1]


def _present(predictions: Predictions, outputs: ModelOutputs) -> Mask:
    return np.ones(predictions.n, dtype=bool) if outputs.present is None else outputs.present


def _labels(predictions: Predictions, outputs: ModelOutputs) -> Array:
    assert outputs.y_pred is not None
    return outputs.y_pred[_present(predictions, outputs)]


def _scores(predictions: Predictions, outputs: ModelOutputs) -> Floats | None:
    """Return a model's scores, largest probabilities or predicted values; None: it has none."""
    there = _present(predictions, outputs)
    if outputs.score is not None:
        return outputs.score[there]
    if outputs.proba is not None:
        return np.asarray(outputs.proba[there].max(axis=1))
    if predictions.task == "regression" and outputs.y_pred is not None:
        return outputs.y_pred[there].astype(np.float64)
    return None


def _missing(predictions: Predictions, outputs: ModelOutputs) -> tuple[int, int]:
    """Return the number of rows without an answer, and of all rows."""
    there = _present(predictions, outputs)
    answered = np.zeros(int(there.sum()), dtype=bool)
    for values in (outputs.y_pred, outputs.score, outputs.outcome, *outputs.numbers.values()):
        if values is not None:
            known = values[there]
            answered |= known >= 0 if known.dtype.kind == "i" else np.isfinite(known)
    return int((~answered).sum()), len(answered)


def _counts(
    then: tuple[Array, tuple[str, ...]], today: tuple[Array, tuple[str, ...]]
) -> tuple[list[str], Floats, Floats]:
    """Count each label in both samples; beyond ``MOST_VALUES`` labels the rarest are counted together."""
    labels = [*dict.fromkeys((*then[1], *today[1]))]
    place = {label: k for k, label in enumerate(labels)}
    counts = []
    for codes, names in (then, today):
        found = np.zeros(len(labels))
        own = np.bincount(codes[codes >= 0], minlength=len(names))
        found[[place[name] for name in names]] = own
        counts.append(found)
    if len(labels) > MOST_VALUES:
        kept = np.argsort(-(counts[0] + counts[1]), kind="stable")[: MOST_VALUES - 1]
        rest = [float(c.sum() - c[kept].sum()) for c in counts]
        labels = [*(labels[k] for k in kept), "(all others)"]
        counts = [np.append(c[kept], r) for c, r in zip(counts, rest, strict=True)]
    return labels, counts[0], counts[1]
