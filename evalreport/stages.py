"""The stages of an analysis: what is analysed, estimated, decided and warned of, and what makes it reproducible."""

from __future__ import annotations

import dataclasses
import hashlib
import platform
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from importlib.metadata import version
from pathlib import PurePath
from typing import TypeVar

import numpy as np

from evalreport.algorithms.decomposition import decomposition_records, replicate_curves
from evalreport.algorithms.error_estimators import chosen_records
from evalreport.algorithms.estimates import algorithm_cautions, criterion_choices, error_estimate_records
from evalreport.algorithms.learning_curves import (
    at_one_point,
    chosen_points,
    curve_fits,
    curve_points,
    decomposed_points,
    family_points,
)
from evalreport.assembly import bands_found, metric_records
from evalreport.comparisons.all_models import rank, variance_records
from evalreport.comparisons.attempt_variance import attempt_variance_records, few_passes
from evalreport.comparisons.cautions import alike_in_tasks, cautions, of_direction
from evalreport.comparisons.cautions_of_tests import NOT_RANDOM, with_gold_checked
from evalreport.comparisons.judges import judge_fields, judge_warnings
from evalreport.comparisons.pairs import Comparison, compare_all, draws_for
from evalreport.comparisons.registry import TESTS
from evalreport.comparisons.verdicts import (
    Decision,
    decisions_of,
    family_records,
    one_intervals,
    verdict,
    withheld,
)
from evalreport.errors import UsageError, without_login
from evalreport.gates.conditions import Term, terms_of
from evalreport.metrics.criteria import criteria_records
from evalreport.metrics.fits import each_apart, over_datasets, sampled_apart, with_fits
from evalreport.metrics.registry import JUDGED, PRIMARY, Quantity, definition
from evalreport.metrics.sample import Sample, estimate_all, parse, said_of_histograms
from evalreport.metrics.units import units_of
from evalreport.options import Options
from evalreport.predictions.possible_analyses import why_not_analysed
from evalreport.predictions.series import series_of
from evalreport.predictions.slicing import Division
from evalreport.predictions.subsets import one_value_a_dataset, test_rows
from evalreport.predictions.table import Predictions
from evalreport.registry import unknown_name
from evalreport.schema.comparisons import ComparisonRecord, RankingRecord
from evalreport.schema.decisions import VerdictRecord
from evalreport.schema.inputs import FoundRecord, JsonObject
from evalreport.schema.metrics import COMPANIONS, MetricRecord
from evalreport.schema.results import ResultFields
from evalreport.schema.warnings import WarningRecord
from evalreport.slices.analysis import Sliced, sliced
from evalreport.slices.slice_estimates import divisions_asked
from evalreport.texts import Message
from evalreport.version import __version__

T = TypeVar("T")
Progress = Callable[[str, float], None]


def analysed(loaded: Predictions, options: Options | None = None) -> Predictions:
    """Return the rows that metrics and comparisons are about: test predictions, one value a data set.

    With options it is checked whether people judged a random part of them, where they judged some.
    """
    found = one_value_a_dataset(test_rows(at_one_point(loaded)))
    return found if options is None else with_gold_checked(found, options)


MOST_WEIGHTS = 2e9
"""Rows times replicates that are drawn anew at most, a minute's work; beyond it a warning names --resamples."""


def family_of(
    compared: Sequence[Comparison], primary: Quantity, predictions: Predictions, options: Options
) -> list[Comparison]:
    """Return the primary metric's comparisons, which the verdict is about.

    They are drawn anew where p-values are shares of replicates that are too few for so many pairs.
    """
    family = [c for c in compared if c.quantity == primary]
    enough = draws_for(len(family), options)
    few = options.resamples < enough and predictions.n * enough <= MOST_WEIGHTS
    if not few or all(TESTS[c.recommended_test].needs != "replicates" for c in family):
        return family
    more = replace(options, resamples=enough)
    return compare_all(all_sampled(predictions, [primary], more), [primary], options)


def decide(
    family: Sequence[Comparison], predictions: Predictions, options: Options
) -> tuple[list[ComparisonRecord], list[Decision]]:
    """Return the family's rows and decisions; a blocker leaves the numbers and takes the decisions.

    Where people judged no random part of the answers every pair is undecided, for that reason.
    """
    rows, decisions = family_records(family, options)
    blockers = {warning.code for warning in predictions.warnings if warning.level == "blocker"}
    if blockers == {NOT_RANDOM}:
        why = Message("reason.gold_not_random")
        return rows, [withheld(decision, why) for decision in decisions]
    return rows, [] if blockers else decisions


def second_verdicts(
    compared: Sequence[Comparison],
    rows: Sequence[ComparisonRecord],
    decisions: Sequence[Decision],
    task: str,
    options: Options,
) -> tuple[VerdictRecord, ...]:
    """Decide the pairs on the metric that a reader asks for next, as a family of its own; nothing under a blocker."""
    primary = decisions[0].comparison.quantity if decisions else None
    own = replace(options, margin=None)  # a margin is in the primary metric's units
    p_values = {
        (row.a, row.b, Quantity.of(row)): row.p_value for row in rows if row.recommended and row.slice is None
    }
    for name in COMPANIONS.get(task, ()) if decisions else ():
        family = [
            c
            for c in compared
            if c.quantity != primary
            and c.quantity.metric == name
            and c.quantity.average in (None, "macro")
            and definition(c.quantity).headline
        ]
        if family:
            found = decisions_of(family, [p_values.get((c.a, c.b, c.quantity)) for c in family], own)
            return tuple(verdict(decision, own) for decision in found)
    return ()


def all_sampled(predictions: Predictions, quantities: Sequence[Quantity], options: Options) -> list[Sample]:
    """Return one sample of all models; one a model where each has its own rows.

    On test sets of their own the draws are each model's own; with seeds of their own the examples are the same, and so
    are their draws.
    """

    def own(part: Predictions, seed: int) -> Sample:
        return sampled(part, quantities, options, seed=seed)

    if options.join == "independent":
        return sampled_apart(predictions, options.seed, own)
    parts = each_apart(predictions) if predictions.apart else [predictions]
    return [own(part, options.seed) for part in parts]


def gate_terms(predictions: Predictions, options: Options) -> tuple[tuple[str, Term], ...]:
    """Return the terms of all gates that can be read, each with its gate's text."""
    models = [model.name for model in predictions.models]
    return tuple((gate, term) for gate in options.gates for term in terms_of(gate, models=models))


def all_divisions(predictions: Predictions, options: Options) -> tuple[Division, ...]:
    """Divide the rows by every column that ``--slice`` or a gate names.

    Raises
    ------
    UsageError
        A column that cannot be sliced by, or a gate that names one.
    """
    in_gates: dict[tuple[str, ...], str] = {}
    for gate, term in gate_terms(predictions, options):
        if term.slices:
            in_gates.setdefault(tuple(column for column, _ in term.slices), gate)
    return divisions_asked(predictions, options.slices, in_gates)


def _quantities_in_gates(predictions: Predictions, options: Options) -> frozenset[Quantity]:
    """Return the quantities that gates ask for within slices."""
    found = set()
    for _, term in gate_terms(predictions, options):
        if term.slices:
            with suppress(UsageError):  # the gate's decision says what is wrong with it
                found.add(parse(term.spelling, predictions.task, predictions.classes))
    return frozenset(found)


def all_sliced(
    divisions: Sequence[Division],
    predictions: Predictions,
    samples: Sequence[Sample],
    rows: Sequence[ComparisonRecord],
    options: Options,
    say: Progress,
) -> Sliced:
    """Analyse every slice as the whole was analysed, with the run's seed."""

    def sampler(part: Predictions, quantities: Sequence[Quantity], n_resamples: int) -> list[Sample]:
        own = replace(options, resamples=n_resamples)
        return all_sampled(part, quantities, own)

    def progress(done: float) -> None:
        say("slices", 0.5 + 0.4 * done)

    in_gates = _quantities_in_gates(predictions, options)
    return sliced(
        divisions, predictions, samples, rows, options, sampler, in_gates=in_gates, progress=progress
    )


def sampled(
    predictions: Predictions, quantities: Sequence[Quantity], options: Options, *, seed: int
) -> Sample:
    """Estimate every quantity of every model, on the whole and on every single fit."""
    units = units_of(
        predictions,
        cluster=options.cluster,
        weight=options.weight,
        fixed_class_counts=options.fixed_class_counts,
    )
    sample = estimate_all(
        predictions,
        quantities,
        units=units,
        n_resamples=options.resamples,
        seed=seed,
        exact=options.exact,
        average=options.average,
    )
    return over_datasets(with_fits(sample), n_resamples=options.resamples, seed=seed)


def of_each(
    samples: Sequence[Sample], records_of: Callable[..., tuple[T, ...]], *args: object
) -> tuple[T, ...]:
    """Return the records of every sample, one after the other."""
    return tuple(record for sample in samples for record in records_of(sample, *args))


def all_metrics(samples: Sequence[Sample], loaded: Predictions, options: Options) -> tuple[MetricRecord, ...]:
    """Return the values of every metric, and the criteria of training rows."""
    return (
        *of_each(samples, metric_records, options),
        *criteria_records(loaded, options.metrics, options.confidence),
    )


def all_further(
    whole: Predictions,
    loaded: Predictions,
    samples: Sequence[Sample],
    compared: Sequence[Comparison],
    decisions: Sequence[Decision],
    options: Options,
) -> ResultFields:
    """Return the fields of the results about algorithms, and about a judge, by name."""
    return {
        **about_algorithms(whole, loaded, samples, options),
        **judge_fields(samples, compared, one_intervals(decisions), options),
    }


def all_found(
    predictions: Predictions,
    samples: Sequence[Sample],
    thresholds: ResultFields,
    options: Options,
) -> tuple[FoundRecord, ...]:
    """Return what was found in the files, and what was decided on the way."""
    of_ranks = of_each(samples, ranks_found)
    return (*predictions.found, *of_ranks, *bands_found(thresholds["curves"], options))


def variance_fields(samples: Sequence[Sample], options: Options) -> ResultFields:
    """Return how much values vary with training again, and with the questions and the attempts at them."""
    return {
        "variance": of_each(samples, variance_records),
        "attempt_variance": of_each(samples, attempt_variance_records, options.baseline),
    }


def ranks_found(sample: Sample) -> tuple[FoundRecord, ...]:
    """Say how the ranks of very many rows were resampled."""
    said = said_of_histograms(sample.rows, sample.estimates)
    return () if said is None else (said,)


def ranked(
    samples: Sequence[Sample], decisions: Sequence[Decision], primary: Quantity, options: Options
) -> tuple[RankingRecord, ...]:
    """Rank the models on the primary metric; letters follow the decisions."""
    pairs = {frozenset((d.comparison.a, d.comparison.b)): d.decided for d in decisions if d.family}
    decided = [pair for pair, told_apart in pairs.items() if told_apart]
    estimates = {m.name: s.estimates[m.name, primary] for s in samples for m in s.predictions.models}
    return rank(estimates, pairs, decided, lower_is_better=options.lower_is_better)


def all_cautions(
    predictions: Predictions,
    samples: Sequence[Sample],
    family: Sequence[Comparison],
    options: Options,
    further: ResultFields,
    rows: Sequence[ComparisonRecord],
    thresholds: ResultFields,
) -> tuple[WarningRecord, ...]:
    """Return the warnings of loading, of every sample and about algorithms; those about pairs once."""
    raised = [*predictions.warnings, *of_direction(predictions, options)]
    for place, sample in enumerate(samples):
        of_pairs = family if place == 0 else ()
        raised += cautions(sample, of_pairs, options, rows=rows, thresholds=thresholds)
        raised += few_passes(sample)
        raised += alike_in_tasks(sample)
    raised += algorithm_cautions(further, predictions.design)
    raised += judge_warnings(further, options)
    return tuple(dict.fromkeys(raised))


def require_one_clustering(predictions: Predictions, options: Options) -> None:
    """Refuse what the agreement of groups is not defined for: weights, and several fits of a model.

    Raises
    ------
    UsageError
        With the reason.
    """
    if options.weight is not None:
        raise UsageError(
            "--weight: the agreement of groups counts pairs of examples, and no pair has a weight; leave it out"
        )
    if predictions.design != "test-set":
        raise UsageError(
            f"--task clustering: the design is {predictions.design} ({', '.join(predictions.keys)}), but groups of"
            " several fits have no names in common; give one grouping of all examples for each model (name the fits"
            " in the column model to compare them)"
        )


def require_analysable(predictions: Predictions, options: Options) -> None:
    """Refuse, with the reason, what this version cannot analyse: never silently ignore an option or a column.

    Raises
    ------
    UsageError
        A design, a task or an option that is not served yet, or a baseline that is no model.
    """
    names = [m.name for m in predictions.models]
    if options.baseline is not None and options.baseline not in names:
        raise UsageError(unknown_name("baseline", options.baseline, names))
    if options.lower_is_better and predictions.task not in ("outcome", "scores"):
        raise UsageError(
            f"--lower-is-better is about outcomes and values; these data are {predictions.task}, whose metrics have a"
            " direction of their own: leave it out"
        )
    if options.average == "examples" and predictions.design == "datasets":
        raise UsageError(
            "--average examples is about a suite (column task); these are data sets (column dataset), whose values are"
            " averaged: leave it out, or rename the column to task if exactly these are of interest"
        )
    if predictions.task == "scores" and options.join == "independent":
        raise UsageError(
            "--join independent is about separate test sets of examples; these are scores on data sets, which are only"
            " comparable data set by data set: leave it out, or use --join intersect for those that all models have"
        )
    if options.weight is not None and predictions.judged and JUDGED in (options.metrics or (JUDGED,)):
        raise UsageError(
            f"--weight and the column gold: {JUDGED} is for answers that count the same; leave --weight out, or name"
            f" other metrics, such as --metric {PRIMARY[predictions.task]}"
        )
    if predictions.task == "clustering":
        require_one_clustering(predictions, options)
    require_decomposable(predictions, options)
    why_not = why_not_analysed(predictions)
    if why_not is not None:
        raise UsageError(
            f"{why_not}: this version reads and checks such data, but analyses one test set only (one prediction"
            " for each example and model); `evalreport check` says what was found"
        )


def about_algorithms(
    whole: Predictions, loaded: Predictions, samples: Sequence[Sample], options: Options
) -> ResultFields:
    """Return the fields of the results that are about algorithms; nothing for independent test sets.

    Parameters
    ----------
    whole
        The whole table, with every point of learning and complexity curves.
    loaded
        The same at one point of each curve, with training rows and rows in the bag.
    samples
        The estimates on its test rows; several where the models have test sets of their own.
    """
    if len(samples) != 1:
        return {}
    # Squares of numbers near the largest double are infinite; such figures are left out or null.
    with np.errstate(over="ignore", invalid="ignore"):
        return _of_algorithms(whole, loaded, samples[0], options)


def _of_algorithms(whole: Predictions, loaded: Predictions, sample: Sample, options: Options) -> ResultFields:
    estimates = error_estimate_records(loaded, sample, options)
    decomposition, examples = decomposition_records(loaded, options)
    fields = {
        "decomposition": decomposition,
        "example_variance": examples,
        "replicate_predictions": replicate_curves(loaded),
        "error_estimates": estimates,
        "chosen_parameters": chosen_records(sample.predictions, sample.rows.layout.fits),
        "criterion_choices": criterion_choices(criteria_records(loaded, options.metrics, options.confidence)),
        "learning_curves": family_points(sample.predictions, estimates),
    }
    series = series_of(whole)
    if series is not None:
        used, _ = chosen_points(whole, series)
        fields["learning_curves"] = curve_points(whole, series, used, options)
        fields["learning_fits"] = curve_fits(whole, series, options)
        fields["decomposition"] = decomposed_points(whole, series, options)
    return fields


def require_decomposable(whole: Predictions, options: Options) -> None:
    """Refuse options of the decomposition that would change nothing.

    Raises
    ------
    UsageError
        A noise level without replicates of a regression, or Kohavi and Wolpert's split without replicates of labels;
        either beside weights.
    """
    replicated = options.weight is None and (whole.design == "bootstrap" or "replicate" in whole.keys)
    if options.noise is not None and not (replicated and whole.task == "regression"):
        raise UsageError(
            "--noise is about the bias and variance of regression replicates, and these files hold none: leave it out"
        )
    if options.same_input is not None and not replicated:
        raise UsageError(
            "--same-input is about bias and variance, which need a column replicate: leave it out"
        )
    if options.kohavi_wolpert and not (replicated and whole.classes):
        raise UsageError(
            "--kohavi-wolpert is about replicates of predicted labels, and these files hold none: leave it out"
        )


def provenance(predictions: Predictions, primary: Quantity, options: Options) -> JsonObject:
    """Return the fields of the results that say what was analysed, by what and how."""
    return {
        "signature": signature(predictions, options),
        "options": plain_options(options),
        "task": predictions.task,
        "design": predictions.design,
        "n": predictions.n_examples,
        "classes": predictions.classes,
        "positive": predictions.positive,
        "suite": () if predictions.tasks is None else predictions.tasks.categories or (),
        "models": tuple(model.name for model in predictions.models),
        "primary_metric": primary.spelled,
        "baseline": options.baseline,
        "inputs": predictions.inputs,
        "environment": dict(environment()),
    }


def plain_options(options: Options) -> JsonObject:
    """Return the options as they stand in results.json; of a truth file its name, since its digest is recorded."""
    plain = {key: list(v) if isinstance(v, tuple) else v for key, v in dataclasses.asdict(options).items()}
    if options.truth is not None:
        plain["truth"] = PurePath(without_login(options.truth)).name
    return plain


def signature(predictions: Predictions, options: Options) -> str:
    """Return one line that says what was computed from what."""
    joined = "\n".join(f"{record.path} {record.sha256}" for record in predictions.inputs)
    digest = hashlib.sha256(joined.encode()).hexdigest()[:16]
    return (
        f"evalreport {__version__}; {predictions.task}; {predictions.design}; n={predictions.n_examples};"
        f" models={len(predictions.models)}; resamples={options.resamples}; seed={options.seed};"
        f" confidence={options.confidence:g}; inputs={digest}"
    )


@cache
def environment() -> Mapping[str, str]:
    """Return the versions of what computed the figures."""
    libraries = ("numpy", "scipy", "duckdb")
    return {
        "evalreport": __version__,
        "python": platform.python_version(),
        **{name: version(name) for name in libraries},
    }
