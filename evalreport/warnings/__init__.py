"""Warnings about results that may mislead a reader: one function under ``@check`` for each fact that may.

Those about files are raised where ``loading`` finds the fault, those about the answer to a question in its room.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from evalreport.extensions import files_of_rooms
from evalreport.schema.results import Results
from evalreport.schema.warnings import CheckRecord, WarningRecord
from evalreport.warnings import coverage, elsewhere, layout, pairs, rare_outcomes, repeats, values  # noqa: F401 - each registers its checks
from evalreport.warnings.checks import CHECKS, Check, check_records, raised_by
from evalreport.warnings.needs import Facts

FIRST = (
    *(
        "ids_repeat",
        "like_percent",
        "few_of_a_class",
        "not_better_than_majority",
        "undefined_value",
        "groups_without_interval",
        "few_flagged",
    ),
    *("constant_scores", "worse_than_mean", "no_test", "identical_answers", "few_resamples_for_family"),
    *("few_large_losses", "short_interval", "short_difference_interval", "gap_may_be_larger"),
    *("many_small_classes", "small_folds", "few_replicates", "few_clusters", "unequal_weights"),
    "few_in_time",
    *("random_split_in_time", "calibration_not_tested", "metrics_disagree", "curves_cross"),
    *("threshold_chosen_here", "suspicious_threshold", "prevalence_of_this_set"),
)
"""Checks whose warnings are shown first, each by its first code, in this order; then the others, room by room."""


def warnings_of(facts: Facts, of_samples: Sequence[Facts]) -> Iterator[WarningRecord]:
    """Yield the warnings of every check, those of the rooms included.

    Parameters
    ----------
    facts
        What is known of the run, by the names of the checks' parameters.
    of_samples
        What is known of each sample beside.
    """
    yield from raised_by(all_checks(), facts, of_samples, FIRST)


def states_of(
    facts: Facts, of_samples: Sequence[Facts], raised: Sequence[WarningRecord]
) -> tuple[CheckRecord, ...]:
    """Return the state of every check, after all warnings were raised."""
    return check_records(all_checks(), facts, of_samples, raised)


def all_checks() -> Sequence[Check]:
    """Return every check, those of the rooms included."""
    for _ in files_of_rooms("warnings"):
        pass  # each registers its checks
    return CHECKS


def with_warnings(
    results: Results, raised: Sequence[WarningRecord], *, looked: Sequence[str], first: bool = True
) -> Results:
    """Return results with warnings that were raised after the run, before or behind its own.

    Parameters
    ----------
    looked
        The codes that were looked for: those that were not raised passed.
    """
    about = {
        w.code: tuple(dict.fromkeys(n for o in raised if o.code == w.code for n in o.about)) for w in raised
    }
    checks = tuple(
        replace(c, state="fired" if c.code in about else "passed", reason=None, about=about.get(c.code, ()))
        if c.code in looked
        else c
        for c in results.checks
    )
    warnings = (*raised, *results.warnings) if first else (*results.warnings, *raised)
    return replace(results, warnings=warnings, checks=checks)
