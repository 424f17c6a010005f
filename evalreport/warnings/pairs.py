"""Warnings about pairs of models, families of tests and the number of replicates."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence

from evalreport.comparisons.decisions import decided_by_replicates
from evalreport.comparisons.pairs import Comparison
from evalreport.metrics.registry import Quantity, definition, greater_is_better
from evalreport.metrics.sample import Sample
from evalreport.metrics.table_functions import answers_outside
from evalreport.options import Options
from evalreport.schema.comparisons import ComparisonRecord
from evalreport.schema.lookups import tested_pairs
from evalreport.schema.metrics import COMPANIONS
from evalreport.schema.warnings import FEW_RESAMPLES, WarningRecord, warning
from evalreport.texts import Message, shortened
from evalreport.warnings.checks import check
from evalreport.warnings.coverage import phrase_of

Lead = tuple[Quantity, float]
"""A metric on which a model is ahead, and by how much."""

MOST_NAMED = 2
MOST_UNDEFINED = 0.05


@check("metrics_disagree", needs=("models",))
def metrics_disagree(
    sample: Sample, rows: Sequence[ComparisonRecord], options: Options
) -> Iterator[WarningRecord]:
    """Warn of pairs in which each model is ahead on some metric.

    On the primary metric the p-values of the verdicts decide, on the others those of their tests, which are one family
    over all metrics and pairs (Bonferroni).
    """
    compared = [(quantity, row) for quantity, row in _leading(sample, rows) if row.p_value is not None]
    several = sum(row.p_adjusted is None for _, row in compared)
    ahead: dict[tuple[str, str | None], tuple[list[Lead], list[Lead]]] = {}
    for quantity, row in compared:
        if _on_another_scale(quantity, sample.quantities):
            continue
        if answers_outside(quantity, sample.predictions) == "answers":
            continue  # a lead that empty answers make is none
        if row.difference and _adjusted(row, several) <= 1 - options.confidence:
            greater = greater_is_better(quantity, lower_is_better=options.lower_is_better)
            sides = ahead.setdefault((row.a, row.b), ([], []))
            sides[(row.difference > 0) != greater].append((quantity, abs(row.difference)))
    asked_first = COMPANIONS.get(sample.predictions.task, ())
    for (a, b), sides in ahead.items():
        for_a, for_b = (
            _told_once(sorted(side, key=lambda lead: _place(lead[0], sample.quantities[0], asked_first)))
            for side in sides
        )
        if for_a and for_b:
            of_a, of_b = (shortened([phrase_of(q) for q in side], MOST_NAMED) for side in (for_a, for_b))
            shown = (q.spelled for q in (*for_a[:MOST_NAMED], *for_b[:MOST_NAMED]))
            yield warning("metrics_disagree", about=(a, str(b), *shown), a=a, b=b, for_a=of_a, for_b=of_b)


def _leading(sample: Sample, rows: Sequence[ComparisonRecord]) -> Iterator[tuple[Quantity, ComparisonRecord]]:
    """Yield the leading test of each pair on each metric that can tell which model is better.

    Not those of labels that are cut at a threshold that nobody chose; nor of a metric without an honest interval; nor,
    beside the primary metric, of one that is traded against another, as width is against coverage.
    """
    quantities = frozenset(sample.quantities)
    at_half = {model.name for model in sample.predictions.models if model.cut_at_half}
    for row in rows:
        quantity = Quantity.of(row)
        if not row.recommended or row.slice is not None or row.b is None or quantity.label is not None:
            continue
        if quantity not in quantities or not definition(quantity).inference.intervals:
            continue
        if definition(quantity).scale.traded and quantity != sample.quantities[0]:
            continue
        if definition(quantity).needs == "labels" and at_half & {row.a, row.b}:
            continue
        yield quantity, row


def _adjusted(row: ComparisonRecord, several: int) -> float:
    """Return the p-value as the family of the verdicts adjusts it, else times the number of the other tests."""
    assert row.p_value is not None
    return row.p_value * several if row.p_adjusted is None else row.p_adjusted


def _told_once(leads: Sequence[Lead]) -> list[Quantity]:
    """Return the metrics in their order, of several with the same difference the first.

    Micro averages are the accuracy, and the error rate is what it leaves.
    """
    differences: list[float] = []
    quantities = []
    for quantity, difference in leads:
        if not any(math.isclose(difference, other, rel_tol=1e-9) for other in differences):
            differences.append(difference)
            quantities.append(quantity)
    return quantities


def _on_another_scale(quantity: Quantity, computed: Collection[Quantity]) -> bool:
    """Say whether a metric is another one that was computed, on another scale."""
    base = definition(quantity).scale.affine_of
    return base is not None and any(other.metric == base.of for other in computed)


def _place(quantity: Quantity, primary: Quantity, asked_first: Sequence[str]) -> int:
    """Return the place of a metric where a few are named: the primary one, those that readers ask for, the others."""
    if quantity == primary:
        return -1
    return asked_first.index(quantity.metric) if quantity.metric in asked_first else len(asked_first)


@check("no_test", needs=("models",))
def without_a_test(family: Sequence[Comparison]) -> Iterator[WarningRecord]:
    """Warn that no pair is decided, where no test tests for equal values of the primary metric."""
    why = definition(family[0].quantity).untested if family else None
    if why:
        metric = phrase_of(family[0].quantity)
        yield warning("no_test", about=(family[0].quantity.spelled,), metric=metric, why=why)


@check("identical_answers", "few_discordant", needs=("right_or_wrong",))
@check("several_comparisons", needs=("several_pairs",))
def discordant_pairs(
    family: Sequence[Comparison], rows: Sequence[ComparisonRecord], options: Options
) -> Iterator[WarningRecord]:
    """Warn of pairs with the same answers on nearly all examples, and of several comparisons."""
    if not family or definition(family[0].quantity).untested:
        return
    for comparison in family:
        if comparison.pair is None or comparison.pair.difference.agreement is None:
            continue
        _, b, c, _ = comparison.pair.difference.agreement
        about = (comparison.a, comparison.b)
        n = comparison.pair.difference.sampling.n_examples
        if b + c == 0:
            yield warning("identical_answers", about=about, models=about, most=3 / n)
        elif b + c < 5:
            yield warning("few_discordant", about=about, models=about, n=round(b + c))
    n_pairs = len(tested_pairs(rows, family[0].quantity.spelled))
    if n_pairs > 1 and options.correction == "none":
        yield warning("several_comparisons", "unadjusted", pairs=n_pairs)
    elif n_pairs > 1:
        yield warning(
            "several_comparisons",
            "adjusted",
            pairs=n_pairs,
            correction=Message(f"correction.{options.correction}"),
        )


@check("few_resamples_for_family", needs=("models",))
@check("few_resamples", "undefined_replicates")
def too_few_replicates(
    sample: Sample, family: Sequence[Comparison], rows: Sequence[ComparisonRecord], options: Options
) -> Iterator[WarningRecord]:
    """Warn of too few replicates for the family or at all, and of metrics undefined on many replicates."""
    tested = [c for c in family if not definition(c.quantity).untested]
    drawn = [
        len(c.pair.difference.replicates)
        for c in tested
        if decided_by_replicates(c) and c.pair is not None and c.pair.difference.replicates is not None
    ]
    n_pairs = len(tested_pairs(rows, family[0].quantity.spelled)) if family else 0
    alpha = (1 - options.confidence) / (1 if options.correction == "none" else max(n_pairs, 1))
    if drawn and alpha / 2 * (min(drawn) + 1) < 1:
        yield warning(
            "few_resamples_for_family",
            n=n_pairs,
            alpha=alpha,
            replicates=options.resamples,
            enough=_enough(alpha),
        )
    if options.resamples < FEW_RESAMPLES:
        yield warning("few_resamples", n=options.resamples)
    for (model, quantity), estimate in sample.estimates.items():
        if estimate.defined and estimate.undefined_share > MOST_UNDEFINED:
            label: str | Message = definition(quantity).display.label
            if quantity.label is not None:
                label = Message("undefined_share.of_a_class", metric=label, label=quantity.label)
            about = (model, quantity.spelled)
            yield warning(
                "undefined_replicates", about=about, metric=label, model=model, share=estimate.undefined_share
            )


def _enough(alpha: float) -> int:
    """Return the replicates that put ten beyond a two-sided limit, rounded up to thousands."""
    return -(-math.ceil(20 / alpha) // 1000) * 1000
