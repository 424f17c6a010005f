"""Warnings about intervals that were measured to hold too seldom."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, partial

import numpy as np

from evalreport.engine.parallel import mapped
from evalreport.intervals import INTERVALS, recommended
from evalreport.intervals.shortfalls import Shortfall, shortfall_of, shortfalls
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.evidence import PredictionPowered, Proportion
from evalreport.metrics.metric import ClassCounts, Contingency, Margins, Moments, PredictionPoweredMean
from evalreport.metrics.registry import METRICS, Quantity, definition
from evalreport.metrics.sample import Sample
from evalreport.predictions.arrays import Floats, Indices
from evalreport.predictions.table import ModelOutputs
from evalreport.schema.comparisons import ComparisonRecord
from evalreport.schema.warnings import WarningRecord, warning
from evalreport.texts import Message, sentences, shortened
from evalreport.warnings.checks import check
from evalreport.warnings.score_tails import heavy_tails

OF_ONE, OF_FEW, OF_SMALL_SAMPLES = 0.1, 0.2, 9.0
"""More than 0.1 + 9/n of the sum in one loss, or 0.2 + 9/n in the largest sqrt(n)/3 of them, is much.

Set by the study of coverage: heavy tails (squares of t with 3 degrees of freedom) are over it in nine of ten samples
from n = 100 on, squares of normal errors in none of ten. Of 30 squares no share tells the two apart.
"""

OF_ONE_PROBABILITY = 0.5
"""Losses of probabilities are nearly 0 on most examples: a few carry much of them where intervals hold, too."""

MOST_IDS = MOST_MODELS = 5


Largest = tuple[Indices, float, bool]
"""The examples with the largest losses, the share of the sum that they carry, and whether that is much."""


def largest_losses(losses: Floats, n: int, *, of_probabilities: bool = False) -> Largest | None:
    """Return the few largest losses, or the largest alone where that one is already much; None where all are 0.

    Parameters
    ----------
    losses
        One by code of the example, none negative; 0 where an example does not occur.
    n
        How many examples there are.
    of_probabilities
        Whether the losses are those of probabilities.
    """
    total = float(losses.sum())
    if not 0 < total < math.inf:
        return None
    few = math.ceil(math.sqrt(n) / 3)
    # The value alone: which of several equal losses a partition puts first depends on the processor.
    least = np.partition(losses, len(losses) - few)[len(losses) - few]
    largest = np.flatnonzero(losses >= least)
    largest = largest[np.argsort(-losses[largest], kind="stable")][:few]
    alone, together = float(losses[largest[0]]) / total, float(losses[largest].sum()) / total
    if alone > (OF_ONE_PROBABILITY if of_probabilities else OF_ONE + OF_SMALL_SAMPLES / n):
        return largest[:1], alone, True
    much = together > OF_FEW + OF_SMALL_SAMPLES / n and not of_probabilities
    return largest, together, much


def largest_of(sample: Sample, model: str, quantity: Quantity) -> Largest | None:
    """Return the largest of the losses that a metric is made of, times their weights; None where it is made of none.

    An example that is predicted repeatedly has the sum of its losses.
    """
    columns = sample.rows.columns.get((model, quantity))
    if not definition(quantity).losses or columns is None or sample.predictions.design == "datasets":
        return None
    weighted = columns[1] * sample.units.base
    losses = np.bincount(sample.predictions.example, weights=weighted).astype(np.float64)
    of_probabilities = definition(quantity).needs == "probabilities"
    return largest_losses(losses, sample.predictions.n_examples, of_probabilities=of_probabilities)


@check("few_large_losses", needs=("losses",), of_models=True)
def large_losses(sample: Sample) -> Iterator[WarningRecord]:
    """Warn of models with few examples that make up much of the sum of squared (absolute ...) losses."""

    def of_model(model: ModelOutputs) -> list[WarningRecord]:
        by_losses: dict[str, list[Quantity]] = {}
        for quantity in sample.quantities:
            if definition(quantity).losses and sample.estimates[model.name, quantity].defined:
                by_losses.setdefault(str(definition(quantity).losses), []).append(quantity)
        largest = [(alike, largest_of(sample, model.name, alike[0])) for alike in by_losses.values()]
        return [
            _few_large(sample, model.name, alike, *found[:2])
            for alike, found in largest
            if found is not None and found[2]
        ]

    for warnings in mapped(of_model, sample.predictions.models):
        yield from warnings


def _few_large(
    sample: Sample, model: str, quantities: Sequence[Quantity], examples: Indices, share: float
) -> WarningRecord:
    first, n = definition(quantities[0]), sample.predictions.n_examples
    ids = [str(sample.predictions.ids[code]) for code in examples]
    text = Message(
        "warning.few_large_losses",
        n=len(examples),
        examples=n,
        losses=first.losses,
        model=model,
        ids=shortened(ids, MOST_IDS),
        share=share,
        what=Message("large_losses.metrics", n=len(quantities), metrics=tuple(map(phrase_of, quantities))),
    )
    methods = {q: recommended(sample.estimates[model, q]) for q in quantities}
    measured = [
        row for q in quantities if (row := shortfalls().get(("value", q.spelled, methods[q], "losses")))
    ]
    notes = [Message("large_losses.measured", held=_span(measured))] if measured else []
    less_moved = first.computation.less_moved if isinstance(first.computation, Moments) else ""
    if less_moved:
        notes.append(Message("large_losses.less_moved", metric=METRICS[less_moved].display.label))
    about = (model, *(q.spelled for q in quantities))
    return WarningRecord(code="few_large_losses", text=sentences(text, *notes), about=about)


OfTails = tuple[Quantity, Shortfall, str]
"""A metric, how its interval held for scores with heavy tails, and a model that has such scores."""
Short = tuple[Quantity, Shortfall]
"""A metric, and how its interval held for so few examples."""


@check("short_interval", needs=("examples_alone",))
def short_intervals(sample: Sample) -> Iterator[WarningRecord]:
    """Warn of metrics whose leading intervals were measured to be short for so few examples, or for such scores."""
    if sample.predictions.n_examples == 1:
        return  # which another caution is about
    leading = [
        (quantity, recommended(estimate), (model,))
        for (model, quantity), estimate in sample.estimates.items()
        if estimate.defined and _plain(estimate) and quantity.label is None
    ]
    of_tails, short = _measured("value", sample, leading)
    if of_tails:
        text = Message("warning.short_interval_of_tails", **_tails(of_tails))
        yield WarningRecord(code="short_interval", text=text, about=_spelled(of_tails))
    if short:
        text = Message("warning.short_interval", few=_sample_size(sample), held=_by_metric(short))
        of_squares = any(definition(quantity).from_squares for quantity, _ in short)
        notes = [Message("short.tail")] if of_squares else []
        yield WarningRecord(code="short_interval", text=sentences(text, *notes), about=_spelled(short))
    near = tuple(dict.fromkeys(q for (_, q), estimate in sample.estimates.items() if _near_an_end(estimate)))
    if near:
        about = tuple(quantity.spelled for quantity in near)
        text = Message("warning.short_interval_near_an_end", metrics=tuple(map(phrase_of, near)))
        yield WarningRecord(code="short_interval", text=text, about=about, level="info")


def _measured(
    kind: str, sample: Sample, leading: Iterable[tuple[Quantity, str, Sequence[str]]]
) -> tuple[list[OfTails], list[Short]]:
    """Return the metrics whose leading intervals were short for such scores, and the others for so few examples.

    Parameters
    ----------
    kind
        ``value`` or ``difference``.
    leading
        Metrics with the method of their leading interval and the models that it is about.
    """
    n, rarest, heavy = sample.predictions.n_examples, _rarest(sample), cache(partial(heavy_tails, sample))
    of_tails: list[OfTails] = []
    short: list[Short] = []
    for quantity, method, models in leading:
        tails = shortfalls().get((kind, quantity.spelled, method, "tails"))
        of_tails += [(quantity, tails, model) for model in models if tails and heavy(model, quantity)]
        row = shortfall_of(kind, quantity.spelled, method, n=n, rarest=rarest)
        short += [] if row is None else [(quantity, row)]
    said = {quantity for quantity, *_ in of_tails}
    return of_tails, [(quantity, row) for quantity, row in short if quantity not in said]


FEW_FAILURES, NEAR_AN_END = 4, 0.05
"""With so few failures (or successes), as this share of the trials at the most, Wilson's limits cover by jumps."""


def _near_an_end(estimate: Estimate) -> bool:
    """Whether the leading interval is that of a share with one to four failures, or successes, in many trials."""
    evidence = estimate.evidence
    if not isinstance(evidence, Proportion) or Proportion not in INTERVALS[recommended(estimate)].of:
        return False
    fewer = min(evidence.successes, evidence.trials - evidence.successes)
    return 1 <= fewer <= min(FEW_FAILURES, NEAR_AN_END * evidence.trials) and estimate.quantity.label is None


@check("short_difference_interval", needs=("models", "test_set", "examples_alone"))
def short_difference_intervals(sample: Sample, rows: Sequence[ComparisonRecord]) -> Iterator[WarningRecord]:
    """Warn of differences whose intervals were measured to be short for the number of examples."""
    rows_that_lead = list(_leading_differences(sample, rows))
    leading = [(q, str(r.interval_method), [r.a] if r.b is None else [r.a, r.b]) for q, r in rows_that_lead]
    of_tails, short = _measured("difference", sample, leading)
    decide = {quantity for quantity, row in rows_that_lead if row.test == "interval"}
    if of_tails:
        text = Message("warning.short_difference_interval_of_tails", **_tails(of_tails))
        if all(quantity in decide for quantity, *_ in of_tails):
            text = sentences(text, Message("short.equal_models_decided"))
        yield WarningRecord(code="short_difference_interval", text=text, about=_spelled(of_tails))
    if short:
        few, held = _sample_size(sample), _by_metric(short)
        text = Message("warning.short_difference_interval", few=few, held=held)
        rest = tuple(dict.fromkeys(phrase_of(quantity) for quantity, _ in short if quantity in decide))
        key = "short.rests_on_intervals" if rest else "short.rests_on_test"
        text = sentences(text, Message(key, metrics=rest))
        yield WarningRecord(code="short_difference_interval", text=text, about=_spelled(short))


def _leading_differences(
    sample: Sample, rows: Sequence[ComparisonRecord]
) -> Iterator[tuple[Quantity, ComparisonRecord]]:
    """Yield the rows that lead, of all examples and classes, between models of the sample.

    Agreements of clusterings were measured by themselves (docs/clustering.md), and what few people say has a warning
    of its own.
    """
    quantities = {quantity for quantity in sample.quantities if quantity.label is None}
    here = {model.name for model in sample.predictions.models}
    for row in rows:
        quantity = Quantity.of(row)
        leads = row.recommended and {row.a, row.b} <= here and row.low is not None and row.slice is None
        if quantity not in quantities or not leads or row.interval_method is None:
            continue
        if not isinstance(definition(quantity).computation, Contingency | PredictionPoweredMean):
            yield quantity, row


FEW_LOSSES = 30
"""Up to so many examples the largest difference of two losses may well not be among them."""


@check("gap_may_be_larger", needs=("models", "test_set", "examples_alone", "losses"))
def gaps_may_be_larger(sample: Sample, rows: Sequence[ComparisonRecord]) -> Iterator[WarningRecord]:
    """Warn of differences of unbounded losses on few examples, or where few large losses carry a model's sum."""
    here = {model.name for model in sample.predictions.models}
    gaps: dict[Quantity, None] = {}
    for row in rows:
        quantity = Quantity.of(row)
        if row.slice is not None or row.low is None or not {row.a, row.b} <= here:
            continue
        if not _of_unbounded_losses(row, quantity):
            continue
        few = sample.predictions.n_examples <= FEW_LOSSES
        if few or any(_carried_by_few(sample, name, quantity) for name in (row.a, row.b)):
            gaps[quantity] = None
    if gaps:
        metrics = tuple(map(phrase_of, gaps))
        yield warning("gap_may_be_larger", about=tuple(q.spelled for q in gaps), metrics=metrics)


def _of_unbounded_losses(row: ComparisonRecord, quantity: Quantity) -> bool:
    """Whether a difference of means of losses without an upper bound has the interval that is made for such ones."""
    metric, method = definition(quantity), row.interval_method
    unbounded = not all(map(math.isfinite, metric.scale.range)) and not metric.root_of
    return unbounded and method is not None and "its_difference" in INTERVALS[method].needs


def _carried_by_few(sample: Sample, model: str | None, quantity: Quantity) -> bool:
    largest = None if model is None else largest_of(sample, model, quantity)
    return largest is not None and largest[2]


MANY_CLASSES, FEW_OF_EACH = 20, 6
"""With so many classes, and fewer examples than this of one on average, macro averages were measured to be short."""


@check("many_small_classes", needs=("classes", "examples_alone"))
def many_small_classes(sample: Sample) -> Iterator[WarningRecord]:
    """Warn of averages over many classes of which few examples are there."""
    classes, n = len(sample.predictions.classes), sample.predictions.n_examples
    if classes < MANY_CLASSES or n >= FEW_OF_EACH * classes:
        return
    over_classes = [quantity for quantity in sample.quantities if _averages_classes(quantity)]
    if over_classes and sample.label_models:
        about = tuple(quantity.spelled for quantity in over_classes)
        yield warning("many_small_classes", about=about, classes=classes, n=n)


def _averages_classes(quantity: Quantity) -> bool:
    """Whether a metric of labels is a mean over the classes, each counting the same."""
    computation = definition(quantity).computation
    if isinstance(computation, Margins):
        return bool(computation.recall_slope)
    return isinstance(computation, ClassCounts) and quantity.average == "macro"


def _plain(estimate: Estimate) -> bool:
    """Say whether examples are drawn one by one from one test set and weigh the same, as the study drew them.

    Few rows with gold have a warning of their own.
    """
    alone = not isinstance(estimate.evidence, PredictionPowered) and estimate.fits is None
    return alone and {"independent", "equal_weights"} <= estimate.sampling.meets


def _rarest(sample: Sample) -> int | None:
    """Return how many examples the rarest class has that the truth holds; None where there are no classes."""
    predictions = sample.predictions
    if not predictions.classes or predictions.y_true is None:
        return None
    counts = predictions.class_counts
    return int(counts[counts > 0].min())


def _sample_size(sample: Sample) -> Message:
    rarest = _rarest(sample)
    if rarest is None:
        return Message("short.examples", n=sample.predictions.n_examples)
    return Message("short.rarest_class", n=rarest)


def _tails(found: Sequence[OfTails]) -> dict[str, object]:
    """Return whose scores have heavy tails, of which metrics, and what was held of such scores."""
    return {
        "models": shortened(list(dict.fromkeys(model for *_, model in found)), MOST_MODELS),
        "metrics": tuple(dict.fromkeys(phrase_of(quantity) for quantity, *_ in found)),
        "held": _by_metric([(quantity, row) for quantity, row, _ in found]),
    }


def _by_metric(found: Sequence[Short]) -> tuple[Message, ...]:
    """Say of each metric, once, what its interval was measured to hold; those with the same figures together."""
    by_span: dict[tuple[Message, bool], list[Quantity]] = {}
    for quantity, row in dict.fromkeys(found):
        by_span.setdefault((_span([row]), row.metric == "*"), []).append(quantity)
    return tuple(
        Message(
            "short.held_of_others" if others else "short.held",
            metrics=tuple(map(phrase_of, quantities)),
            span=span,
            n=len(quantities),
        )
        for (span, others), quantities in by_span.items()
    )


def _span(rows: Sequence[Shortfall]) -> Message:
    low, high = round(100 * min(r.lowest for r in rows)), round(100 * max(r.highest for r in rows))
    return Message("short.percent", low=low) if low == high else Message("short.range", low=low, high=high)


def phrase_of(quantity: Quantity) -> str:
    """Name a metric inside a sentence, with its average."""
    return definition(quantity).display.phrase + (f" ({quantity.average})" if quantity.average else "")


def _spelled(found: Sequence[Short] | Sequence[OfTails]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(quantity.spelled for quantity, *_ in found))
