"""Pairs of models within slices, and where their order turns round against the whole.

For metrics that are means over the same examples the whole is the weighted mean of the slices, so the order cannot
be opposite in all of them; for ratios (AUC, F1, precision ...) and on separate test sets it can: Simpson's paradox.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from evalreport.comparisons.apart import compare_all
from evalreport.comparisons.pairs import leading_record
from evalreport.config import Options
from evalreport.metrics.quantities import Quantity
from evalreport.records import ComparisonRecord, Slice, WarningRecord, warning
from evalreport.slices.disparities import in_words
from evalreport.slices.groups import Group
from evalreport.texts import Message, parts

MOST = 2 / 3
"""From so large a share of the slices on, the order is opposite in most of them."""
LEAST_SLICES = 3
"""Of fewer slices than that none are most."""
FITTED = Message("disparity.fitted")
DESIGNS_OF_FITS = ("cross-validation", "5x2cv", "repeated-holdout")


def comparisons_within(group: Group, primary: Quantity, options: Options) -> tuple[ComparisonRecord, ...]:
    """Run the recommended test of every pair of models on one slice; exploratory, so p-values are not adjusted."""
    samples = group.samples
    if not samples:
        return ()
    names = {m.name for s in samples for m in s.predictions.models}
    if options.baseline is not None and options.baseline not in names:
        return ()
    of_fits = samples[0].predictions.design in DESIGNS_OF_FITS
    found = []
    for comparison in compare_all(samples, (primary,), options):
        record = leading_record(comparison, options)
        caution = parts(record.caution, FITTED) if of_fits and record.caution else record.caution
        found.append(replace(record, slice=group.name, caution=caution))
    return tuple(found)


def reversals(
    rows: Sequence[ComparisonRecord],
    within: Sequence[ComparisonRecord],
    judged: frozenset[Slice],
    primary: Quantity,
    options: Options,
) -> Iterator[WarningRecord]:
    """Warn of pairs of models whose order in every slice, or in most, is opposite to that of the whole.

    Parameters
    ----------
    rows
        Tests over all examples.
    within
        Tests within slices, on the primary metric.
    judged
        Slices that are large enough for every model.
    """
    by_pair: dict[tuple[str, str | None, str], list[float]] = {}
    for row in within:
        if row.slice is not None and row.slice in judged and row.difference is not None:
            by_pair.setdefault((row.a, row.b, row.slice.column), []).append(row.difference)
    if not within:
        return
    about = (primary.metric, primary.average, primary.label)
    for row in rows:
        if not row.recommended or (row.metric, row.average, row.label) != about or not row.difference:
            continue
        for (a, b, column), differences in by_pair.items():
            if (a, b) == (row.a, row.b):
                yield from _turned(row, column, differences, primary, options)


def _turned(
    row: ComparisonRecord, column: str, differences: list[float], primary: Quantity, options: Options
) -> Iterator[WarningRecord]:
    assert row.difference is not None
    opposite = sum(d * row.difference < 0 for d in differences)
    decided = row.p_value is not None and row.p_value <= 1 - options.confidence
    every = opposite == len(differences) >= 2
    most = decided and len(differences) >= LEAST_SLICES and opposite >= MOST * len(differences)
    if not (every or most):
        return
    leader, other = (row.a, row.b) if row.difference > 0 else (row.b, row.a)
    some = Message("division.some", n=opposite, total=len(differences))
    yield warning(
        "order_reversed_in_slices",
        about=(str(row.a), str(row.b), column),
        metric=in_words(primary), leader=leader, other=other, column=column,
        where=Message("division.every") if every else some,
    )  # fmt: skip
