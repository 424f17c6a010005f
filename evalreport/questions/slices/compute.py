"""Every metric on every slice, how the slices differ, and where the order of the models turns round."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from evalreport.comparisons.decisions import decisions_of
from evalreport.comparisons.pairs import Comparison, compare_all, leading_record
from evalreport.comparisons.verdicts import verdict
from evalreport.intervals.records import GateLevel, metric_records
from evalreport.metrics.evidence import Proportion
from evalreport.metrics.registry import Quantity, definition
from evalreport.options import Options
from evalreport.predictions.column_names import TASK
from evalreport.predictions.slicing import Division
from evalreport.predictions.table import Predictions
from evalreport.questions.calibration.compute import calibration_records
from evalreport.questions.calibration.records import CalibrationRecord
from evalreport.questions.question import Run, question
from evalreport.questions.slices.disparities import disparity_records, in_words, large_enough
from evalreport.questions.slices.group_ratios import ratio_records
from evalreport.questions.slices.group_spread import Shares, spread_records
from evalreport.questions.slices.records import DisparityRecord, SliceLists, distinct_tests
from evalreport.questions.slices.slice_estimates import (
    Group,
    Side,
    direction,
    quantities_within,
    rows_by_slice,
    sampled_alone,
    sides_of,
)
from evalreport.schema.comparisons import ComparisonRecord
from evalreport.schema.decisions import TaskVerdictRecord
from evalreport.schema.inputs import FoundRecord
from evalreport.schema.metrics import MetricRecord, Slice
from evalreport.schema.warnings import WarningRecord, warning
from evalreport.texts import Message, Text, parts

MOST_NAMED = 8


def slice_warnings(
    divisions: Sequence[Division], sides: Sequence[Side], rows: Sequence[DisparityRecord], options: Options
) -> Iterator[WarningRecord]:
    """Yield the warnings of every column: slices that are worse first, then those that could not be tested."""
    # That a slice is better is no caution.
    worse = [r for r in rows if r.text and r.flagged]
    worse = [r for r in worse if direction(Quantity.of(r), options) * (r.difference or 0.0) <= 0]
    for division in divisions:
        flagged = [r for r in worse if r.slice.column == division.column]
        if flagged:
            yield _flagged(division, flagged, rows, options)
    for division in divisions:
        column = division.column
        if len(division.values) == 1:
            yield warning("one_slice", about=(column,), value=division.values[0], column=column)
        else:
            yield from _small(division, [s for s in sides if s.name.column == column])


def _flagged(
    division: Division, flagged: Sequence[DisparityRecord], rows: Sequence[DisparityRecord], options: Options
) -> WarningRecord:
    # The widest first: a long list is cut.
    ordered = sorted(flagged, key=lambda r: -abs(r.difference or 0.0))
    tests = distinct_tests(rows)
    sentences = [r.text for r in ordered[:3]]
    if len(ordered) > 3:
        sentences.append(Message("disparity.more", n=len(ordered) - 3, column=division.column))
    if tests > 1 and options.correction != "none":
        correction = Message(f"correction.{options.correction}")
        sentences.append(Message("disparity.adjusted", correction=correction, n=tests))
    elif tests > 1:
        sentences.append(Message("disparity.not_adjusted", n=tests))
    about = tuple(dict.fromkeys([division.column, *(r.slice.value for r in ordered)]))
    return warning("slice_differs", about=about, said=tuple(sentences))


def _small(division: Division, sides: Sequence[Side]) -> Iterator[WarningRecord]:
    reasons: dict[str, Text] = {}
    for side in sides:
        if side.small is not None:
            reasons.setdefault(side.name.value, side.small)
    if not reasons:
        return
    about, column = (division.column, *reasons), division.column
    by_reason: dict[Text, list[str]] = {}
    for value, reason in list(reasons.items())[:MOST_NAMED]:
        by_reason.setdefault(reason, []).append(value)
    shown = tuple(Message("too_small.listed", values=tuple(v), reason=why) for why, v in by_reason.items())
    more = len(reasons) - MOST_NAMED
    if len(reasons) == len({side.name.value for side in sides}) >= LEAST_SLICES:
        first, why = next(iter(reasons.items()))
        listed = Message("too_small.listed", values=(first,), reason=why)
        yield warning("small_slices", "every", about=about, column=column, listed=listed, n=len(reasons))
    elif more > 0:
        yield warning("small_slices", "more", about=about, column=column, listed=shown, n=more)
    else:
        yield warning("small_slices", "all", about=about, column=column, listed=shown)


def tested_slices(sides: Sequence[Side]) -> frozenset[Slice]:
    """Return the slices that are large enough for every model."""
    small = {side.name for side in sides if not side.large}
    return frozenset({side.name for side in sides} - small)


def found_of(division: Division) -> FoundRecord:
    """Say how a column was divided."""
    n = len(division.values)
    values = Message("division.values", names=division.values[:MOST_NAMED])
    if n > MOST_NAMED:
        values = Message("division.values_more", names=division.values[:MOST_NAMED], n=n - MOST_NAMED)
    why = division.how or Message("sliceable.values", n=n)
    return FoundRecord(what=f"slices of {division.column}", value=values, why=why)


MOST = 2 / 3
"""From so large a share of the slices on, the order is opposite in most of them."""
LEAST_SLICES = 3
"""Of fewer slices than that none are most."""
FITTED = Message("disparity.fitted")
DESIGNS_OF_FITS = ("cross-validation", "5x2cv", "repeated-holdout")


Within = tuple[Comparison, ComparisonRecord]
"""One pair of models on one slice, and what its recommended test found."""


def comparisons_within(group: Group, primary: Quantity, options: Options) -> tuple[Within, ...]:
    """Run the recommended test of every pair of models on one slice; exploratory, so p-values are not adjusted."""
    samples = group.samples
    if not samples:
        return ()
    names = {m.name for s in samples for m in s.predictions.models}
    if options.baseline is not None and options.baseline not in names:
        return ()
    of_fits = samples[0].predictions.design in DESIGNS_OF_FITS
    comparisons = []
    for comparison in compare_all(samples, (primary,), options):
        record = leading_record(comparison, options)
        caution = parts(record.caution, FITTED) if of_fits and record.caution else record.caution
        comparisons.append((comparison, replace(record, slice=group.name, caution=caution)))
    return tuple(comparisons)


def reversals(
    rows: Sequence[ComparisonRecord],
    within: Sequence[ComparisonRecord],
    tested: frozenset[Slice],
    primary: Quantity,
    options: Options,
) -> Iterator[WarningRecord]:
    """Warn of pairs of models whose order in every slice, or in most, is opposite to that of the whole.

    At least one slice must decide it, at alpha over the slices of all pairs (Bonferroni).

    Parameters
    ----------
    rows
        Tests over all examples.
    within
        Tests within slices, on the primary metric.
    tested
        Slices that are large enough for every model.
    """
    by_pair: dict[tuple[str, str | None, str], list[ComparisonRecord]] = {}
    for row in within:
        if row.slice is not None and row.slice in tested and row.difference is not None:
            by_pair.setdefault((row.a, row.b, row.slice.column), []).append(row)
    if not within:
        return
    alpha = (1 - options.confidence) / max(sum(map(len, by_pair.values())), 1)
    for row in rows:
        if not row.recommended or Quantity.of(row) != primary or not row.difference:
            continue
        for (a, b, column), slices in by_pair.items():
            differences = [one.difference or 0.0 for one in slices]
            p_values = [1.0 if one.p_value is None else one.p_value for one in slices]
            turned = zip(differences, p_values, strict=True)
            if (a, b) == (row.a, row.b) and any(d * row.difference < 0 and p <= alpha for d, p in turned):
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


def task_verdicts(within: Sequence[Within], options: Options) -> tuple[TaskVerdictRecord, ...]:
    """Decide every pair within every task of a suite, by the task's own recommended test, as one family.

    On a metric without a test there is nothing to decide.
    """
    within = [(comparison, row) for comparison, row in within if row.test is not None]
    decisions = decisions_of([pair for pair, _ in within], [row.p_value for _, row in within], options)
    verdicts = []
    for decision, (_, row) in zip(decisions, within, strict=True):
        record = verdict(decision, options)
        assert row.slice is not None
        assert row.test is not None
        verdicts.append(
            TaskVerdictRecord(
                task=row.slice.value, about=record.about, metric=record.metric, verdict=record.verdict,
                difference=row.difference, level=record.level, low=record.low, high=record.high, method=record.method,
                test=row.test, p_value=row.p_value, p_adjusted=decision.p_adjusted, correction=options.correction,
                text=Message("suite.verdict", task=row.slice.value, verdict=record.text),
            )
        )  # fmt: skip
    return tuple(verdicts)


@dataclass(frozen=True, kw_only=True)
class Sliced(SliceLists):
    """The records that slices add to the results, and the warnings about them."""

    metrics: tuple[MetricRecord, ...] = ()
    comparisons: tuple[ComparisonRecord, ...] = ()
    raised: tuple[WarningRecord, ...] = ()
    found: tuple[FoundRecord, ...] = ()
    task_verdicts: tuple[TaskVerdictRecord, ...] = ()
    calibration: tuple[CalibrationRecord, ...] = ()


@question("slices", applies=lambda run: bool(run.data.divisions))
def slices(run: Run) -> Sliced:
    """Analyse every slice of every column that ``--slice`` and the gates name."""
    data, predictions, options, deciding = run.data, run.predictions, run.options, run.data.deciding
    total, done = sum(len(d.values) for d in data.divisions), 0
    of_gates = None if deciding is options else (deciding.confidence, data.within_slices)
    metrics: list[MetricRecord] = []
    within: list[ComparisonRecord] = []
    of_tasks: list[Within] = []
    calibrated: list[CalibrationRecord] = []
    of_groups: list[Shares] = []
    sides: list[Side] = []
    # Tasks of a suite are not compared with each other unless requested: one is harder than another.
    compared_with = [
        d for d in data.divisions if d.column != TASK or predictions.tasks is None or TASK in options.slices
    ]
    for division in data.divisions:
        quantities = quantities_within(data.quantities, division, predictions, options, data.within_slices)
        shares: dict[tuple[str, Quantity], list[tuple[str, float, float]]] = {}
        for value, rows in zip(division.values, rows_by_slice(division), strict=True):
            place = Slice(column=division.column, value=value)
            group = Group(place, rows, sampled_alone(predictions, rows, quantities, options))
            metrics += _metric_records(group, predictions, quantities, options, of_gates)
            _keep_shares(shares, group, predictions, quantities)
            for sample in group.samples:
                calibrated += calibration_records(sample, options, within=place).calibration
            pairs = comparisons_within(group, data.primary, deciding)
            within += [record for _, record in pairs]
            if division.column == TASK:
                of_tasks += pairs
            if division in compared_with:
                sides += sides_of(group, run.samples, data.primary, predictions, options)
            done += 1
            run.progress("slices", 0.5 + 0.4 * done / total)
        of_groups += _by_group(shares, division.column)
    sides = large_enough(sides, options)
    disparities = disparity_records(sides, options)
    if blocked := any(warning.level == "blocker" for warning in predictions.warnings):
        # With a blocker no slice is flagged either; the numbers stay.
        disparities = tuple(replace(row, flagged=False, text=None) for row in disparities)
    warnings = (
        *slice_warnings(compared_with, sides, disparities, options),
        *reversals(run.pairs.rows, within, tested_slices(sides), data.primary, deciding),
    )
    return Sliced(
        metrics=tuple(metrics),
        comparisons=tuple(within),
        disparities=disparities,
        raised=warnings,
        found=tuple(map(found_of, compared_with)),
        task_verdicts=() if blocked or predictions.tasks is None else task_verdicts(of_tasks, deciding),
        calibration=tuple(calibrated),
        group_spread=spread_records(of_groups, options.confidence, options.seed),
        group_ratios=ratio_records(of_groups, options.confidence),
    )


def _by_group(
    shares: Mapping[tuple[str, Quantity], Sequence[tuple[str, float, float]]], column: str
) -> Iterator[Shares]:
    """Yield the shares of all groups of a column, by model and metric."""
    for (model, quantity), groups in shares.items():
        names, successes, trials = zip(*groups, strict=True)
        yield Shares(model, quantity.metric, column, names, np.array(successes), np.array(trials))


def _keep_shares(
    shares: dict[tuple[str, Quantity], list[tuple[str, float, float]]],
    group: Group,
    predictions: Predictions,
    quantities: Sequence[Quantity],
) -> None:
    """Add one slice's successes and trials of every metric whose spread between groups is described."""
    for model in predictions.models:
        for quantity in quantities:
            if quantity.label is not None or quantity.average is not None or not spread_of(quantity):
                continue
            estimate = group.estimate(model.name, quantity)
            if estimate is None:
                continue
            counts = (0.0, float("nan"))
            if isinstance(estimate.evidence, Proportion):
                counts = (estimate.evidence.successes, estimate.evidence.trials)
            elif estimate.sampling.alike and not estimate.defined:
                # Without a trial, as one without a positive has no recall, it is too small.
                counts = (0.0, 0.0)
            shares.setdefault((model.name, quantity), []).append((group.name.value, *counts))


def spread_of(quantity: Quantity) -> bool:
    """Say whether the spread of a metric between groups is described."""
    return definition(quantity).display.between_groups


def _metric_records(
    group: Group,
    predictions: Predictions,
    quantities: Sequence[Quantity],
    options: Options,
    of_gates: GateLevel | None,
) -> list[MetricRecord]:
    records = [
        record
        for sample in group.samples
        for record in metric_records(sample, options, within=group.name, of_gates=of_gates)
    ]
    held = {m.name for s in group.samples for m in s.predictions.models}
    why = Message("too_small.absent")
    records += [
        MetricRecord(model=m.name, **q.fields, slice=group.name, n=0, reason=why)
        for m in predictions.models
        if m.name not in held
        for q in quantities
    ]
    return records
