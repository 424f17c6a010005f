"""sliced(): every metric on every slice, how the slices differ, and where the order of the models turns round."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from evalreport.assembly import metric_records
from evalreport.config import Options
from evalreport.data.predictions import Predictions
from evalreport.data.slicing import Division
from evalreport.metrics.quantities import Quantity
from evalreport.metrics.sample import Sample
from evalreport.records import (
    ComparisonRecord,
    DisparityRecord,
    FoundRecord,
    MetricRecord,
    WarningRecord,
)
from evalreport.results import Results
from evalreport.slices.asked import quantities_within
from evalreport.slices.cautions import found_of, judged_slices, slice_warnings
from evalreport.slices.disparities import disparity_records, large_enough
from evalreport.slices.groups import Group, Sampler, group_of, rows_by_slice
from evalreport.slices.order import comparisons_within, reversals
from evalreport.slices.sides import Side, compared_quantities, sides_of
from evalreport.texts import Message

Progress = Callable[[float], None]


@dataclass(frozen=True, slots=True)
class Sliced:
    """What a run adds to its results for slices; everything empty where none are asked for."""

    metrics: tuple[MetricRecord, ...] = ()
    comparisons: tuple[ComparisonRecord, ...] = ()
    disparities: tuple[DisparityRecord, ...] = ()
    warnings: tuple[WarningRecord, ...] = ()
    found: tuple[FoundRecord, ...] = ()


def sliced(
    divisions: Sequence[Division],
    predictions: Predictions,
    samples: Sequence[Sample],
    rows: Sequence[ComparisonRecord],
    options: Options,
    sampler: Sampler,
    *,
    progress: Progress,
) -> Sliced:
    """Analyse every slice of every column; nothing where there is none.

    Parameters
    ----------
    divisions
        The rows divided by the columns that ``--slice`` and the gates name.
    predictions
        The rows that metrics are about.
    samples
        The estimates over all of them: one sample, or one a model with test sets apart.
    rows
        The tests over all examples, for the order of the models.
    sampler
        Makes the samples of some of the rows as the run made those of all.
    progress
        Called with the share done.
    """
    if not divisions:
        return Sliced()
    total, done = sum(len(d.values) for d in divisions), 0
    metrics: list[MetricRecord] = []
    within: list[ComparisonRecord] = []
    sides: list[Side] = []
    primary = samples[0].quantities[0]
    for division in divisions:
        quantities = quantities_within(samples[0].quantities, division, predictions, options)
        compared = compared_quantities(quantities, options)
        for value, places in zip(division.values, rows_by_slice(division), strict=True):
            group = group_of(
                predictions, division, value, places,
                quantities=quantities, sampler=sampler, n_resamples=options.resamples,
            )  # fmt: skip
            metrics += _metric_records(group, predictions, quantities, options)
            within += comparisons_within(group, primary, options)
            sides += sides_of(group, samples, compared, predictions, options, sampler)
            done += 1
            progress(done / total)
    sides = large_enough(sides, options)
    disparities = disparity_records(sides, options)
    if any(warning.level == "blocker" for warning in predictions.warnings):
        # What takes the verdict flags no slice either; the numbers stay.
        disparities = tuple(replace(row, flagged=False, text=None) for row in disparities)
    of_primary = [side for side in sides if side.quantity == primary]
    warnings = (
        *slice_warnings(divisions, of_primary, disparities, options),
        *reversals(rows, within, judged_slices(of_primary), primary, options),
    )
    found = tuple(found_of(division) for division in divisions)
    return Sliced(tuple(metrics), tuple(within), disparities, warnings, found)


def with_slices(results: Results, slices: Sliced) -> Results:
    """Return the results with what is said of slices, behind what is said of all examples."""
    return replace(
        results,
        found=(*results.found, *slices.found),
        metrics=(*results.metrics, *slices.metrics),
        disparities=slices.disparities,
        comparisons=(*results.comparisons, *slices.comparisons),
        warnings=tuple(dict.fromkeys((*results.warnings, *slices.warnings))),
    )


def _metric_records(
    group: Group, predictions: Predictions, quantities: Sequence[Quantity], options: Options
) -> list[MetricRecord]:
    found = [
        replace(record, slice=group.name, formula=None)
        for sample in group.samples
        for record in metric_records(sample, options)
    ]
    held = {m.name for s in group.samples for m in s.predictions.models}
    why = Message("too_small.absent")
    found += [
        MetricRecord(m.name, q.metric, q.average, q.label, group.name, None, None, 0, why, ())
        for m in predictions.models
        if m.name not in held
        for q in quantities
    ]
    return found
