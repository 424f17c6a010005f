"""How a run flows: load, estimate, compare, decide, describe.

``evaluate`` reads from top to bottom:

1. **Load.** ``loading`` turns files or frames into one table, ``Predictions``, with a row for each example.
   ``refusals`` stops a run whose options do not fit the data. Of learning curves one point is compared.
2. **Estimate.** ``metrics`` gives each model an ``Estimate`` of each quantity (a metric, of a class or averaged): its
   value, its derivative by example and its bootstrap replicates. A ``Sample`` holds the estimates that share draws:
   one of all models, or one a model where each has examples of its own.
3. **Compare.** ``comparisons`` sets up every pair of models on every quantity that can be tested. The pairs on the
   primary metric are the family that is decided; every other test is exploratory.
4. **Decide.** The test that leads gives each pair of the family a p-value, adjusted over the family, and one interval
   that agrees with it.
5. **Describe.** Records for ``Results`` are made by the modules that compute them: numbers, codes and parameters, never
   sentences. ``slices`` repeats the analysis within every slice, and ``warnings`` says what may mislead a reader.

Reports, gates and histories are made from the ``Results`` alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any, TypeVar

from evalreport.algorithms.learning_curves import at_one_point
from evalreport.algorithms.records import algorithm_records
from evalreport.comparisons.attempt_variance import attempt_variance_records
from evalreport.comparisons.decision_curves import decision_curves
from evalreport.comparisons.decisions import decide, decision_family, one_intervals, with_earlier
from evalreport.comparisons.effects import agreement_records, disagreements, effects, unanimity
from evalreport.comparisons.gold import gold_sampling
from evalreport.comparisons.judges import judge_records
from evalreport.comparisons.omnibus import average_rank_records, omnibus_records
from evalreport.comparisons.one_sample import one_sample_records
from evalreport.comparisons.pairs import comparable, compare_all, exploratory_records
from evalreport.comparisons.questions import question_records
from evalreport.comparisons.rank_sets import rank_set_records
from evalreport.comparisons.ranking import ranking_records
from evalreport.comparisons.roc_dominance import dominance_records
from evalreport.comparisons.verdicts import second_verdicts, verdict_records
from evalreport.costs.records import cost_records, quality_of, with_undominated
from evalreport.engine.parallel import working
from evalreport.expected_time import expected_time
from evalreport.gates.conditions import cost_of
from evalreport.gates.ratios import ratio_records
from evalreport.gates.slices import divisions_of_run, gate_terms, quantities_in_gates, quantities_in_slices
from evalreport.headline import with_headline
from evalreport.intervals.calibration_records import calibration_records
from evalreport.intervals.choice import needs_replicates
from evalreport.intervals.curves import bands_found, curve_records
from evalreport.intervals.records import metric_records
from evalreport.loading.load import load
from evalreport.metrics.criteria import baseline_records, criteria_records
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.estimation import estimate_models
from evalreport.metrics.operating_points import threshold_changes
from evalreport.metrics.predicted_values import residuals, score_histograms
from evalreport.metrics.primary import default_primary
from evalreport.metrics.quantities import chosen
from evalreport.metrics.records import confusion_records, fold_records, replicates_found, variance_records
from evalreport.options import Options
from evalreport.predictions.subsets import one_value_a_dataset, test_rows
from evalreport.predictions.table import Predictions
from evalreport.provenance import environment, plain_options, signature
from evalreport.refusals import require_analysable
from evalreport.schema.inputs import FlowRecord
from evalreport.schema.looks import Look
from evalreport.schema.results import Results
from evalreport.slices.analysis import slice_records, with_slices
from evalreport.texts import Message
from evalreport.warnings import warnings_of
from evalreport.warnings.gold import with_gold_checked

T = TypeVar("T")
Progress = Callable[[str, float], None]

DEFAULTS = Options()


def evaluate(
    source: Any,
    *,
    options: Options = DEFAULTS,
    truth: Any = None,
    jobs: int = 1,
    memory_limit: int | None = None,
    progress: Progress | None = None,
    announce: Callable[[Message], None] | None = None,
    primary_of_series: str | None = None,
    look_of: Callable[[Predictions, str], Look] | None = None,
) -> Results:
    """Compare models, as ``evalreport.evaluate`` says; ``Predictions`` were loaded under these options.

    ``primary_of_series`` is the primary metric of the accepted run of a series, which a run that names none keeps.
    ``look_of`` returns, of the predictions and the primary metric, this look at a comparison that may be repeated.
    ``progress`` is called with the name of each stage and the share of the run that is done, ``announce`` with how long
    the run will take if that is more than ten seconds.
    """
    say = progress or (lambda _stage, _share: None)

    # Load
    say("reading and checking", 0.0)
    whole = load(source, options=options, truth=truth, memory_limit=memory_limit)
    require_analysable(whole, options)
    with working(jobs):
        loaded = at_one_point(whole)
        predictions = with_gold_checked(analysed(loaded), options)
        in_gates = [t.spelling for _, t in gate_terms(predictions, options) if cost_of(t.metric) is None]
        default = default_primary(predictions, options, of_series=primary_of_series)
        quantities = chosen(predictions, options.metrics, in_gates, default.metric)
        primary = quantities[0]
        blocked = default.metric is None and not options.metrics
        divisions = divisions_of_run(predictions, options)
        look = None if look_of is None else look_of(predictions, primary.spelled)
        # The look's level takes the place of alpha; intervals of values keep --confidence.
        deciding = options if look is None else replace(options, confidence=1 - look.record.level)
        expected = expected_time(predictions, quantities, divisions, options)
        if announce is not None and expected is not None:
            announce(expected.message)

        # Estimate
        say("resampling", 0.1)
        samples = estimate_models(predictions, quantities, options, partial(resampled, options=options))
        together = options.join != "independent"

        # Compare
        say("comparing", 0.4)
        tested = comparable(quantities, named=bool(options.metrics))
        compared = compare_all(samples, tested, deciding)
        family = decision_family(compared, primary, predictions, deciding)

        # Decide
        family_rows, decisions = decide(family, predictions, deciding)
        decisions = [] if blocked else with_earlier(decisions, () if look is None else look.kept, options)
        limits = one_intervals(decisions)

        # Describe
        explored = exploratory_records([c for c in compared if c.quantity != primary], deciding)
        rows = (*family_rows, *explored, *one_sample_records(samples, primary, options))
        omnibus = omnibus_records(samples, tested, options)
        algorithms = algorithm_records(whole, loaded, samples, options)
        judge = judge_records(samples, compared, limits, options)
        curves = [curve_records(sample, options) for sample in samples]
        calibrated = [calibration_records(sample, options, grades=options.grade) for sample in samples]
        decided_on = decision_curves(samples, options)
        dominance = dominance_records(curves, samples, options.baseline)
        effect_sizes = effects(samples[0], family, deciding.confidence, limits) if together else ()
        slices = slice_records(
            divisions,
            predictions,
            samples,
            rows,
            options,
            deciding=deciding,
            in_gates=quantities_in_slices(predictions, options),
            progress=lambda share: say("slices", 0.5 + 0.4 * share),
        )
        spent = cost_records(predictions, divisions, options, deciding)
        questions, of_questions = question_records(predictions, deciding)
        say("putting together", 0.9)
        gate_level = (
            None if look is None else (deciding.confidence, quantities_in_gates(predictions, options))
        )
        at_half = tuple(m.name for m in predictions.models if m.cut_at_half)
        results = replace(
            without_figures(predictions, options),
            suite=() if predictions.tasks is None else predictions.tasks.categories or (),
            primary_metric=None if blocked else primary.spelled,
            usual_metric=None if options.metrics else default.usual_unless_primary,
            primary_because=None if options.metrics else default.because,
            value_columns=predictions.origin.judged_in,
            labels_at_half=at_half,
            found=(
                *predictions.found,
                *joined(replicates_found(s) for s in samples),
                *bands_found(curves, options),
            ),
            flow=(*flow, FlowRecord(step="used", n=predictions.n_examples))
            if (flow := predictions.notes.flow)
            else (),
            metrics=(
                *joined(metric_records(s, options, of_gates=gate_level) for s in samples),
                *criteria_records(loaded, options.metrics, options.confidence),
            ),
            baselines=baseline_records(samples[0]) if together else (),
            folds=joined(fold_records(s) for s in samples),
            confusion=joined(confusion_records(s) for s in samples),
            curves=(*joined(c.records for c in curves), *joined(c.curves for c in calibrated)),
            curve_summaries=joined(c.summaries for c in curves),
            operating_points=joined(c.operating_points for c in curves),
            dominance=dominance,
            threshold_changes=joined(threshold_changes(s, options.what_if_threshold) for s in samples),
            score_histograms=joined(score_histograms(s) for s in samples),
            residuals=joined(residuals(s, options.confidence) for s in samples),
            calibration=joined(c.records for c in calibrated),
            calibration_table=joined(c.table for c in calibrated),
            decision_curves=decided_on.curves,
            decision_curve_differences=decided_on.differences,
            comparisons=rows,
            omnibus=omnibus,
            average_ranks=average_rank_records(samples, omnibus, tested, options),
            variance=joined(variance_records(s) for s in samples),
            attempt_variance=joined(attempt_variance_records(s, options.baseline) for s in samples),
            ranking=() if blocked else ranking_records(samples, decisions, primary, options),
            rank_sets=rank_set_records(decisions, family_rows, deciding),
            **algorithms.by_field,
            effects=effect_sizes,
            agreement=agreement_records(family),
            disagreements=disagreements(predictions),
            unanimity=unanimity(predictions),
            judge_estimates=judge.estimates,
            judge_agreement=judge.agreement,
            judge_bias=judge.bias,
            gold_sampling=joined(gold_sampling(s.predictions, options) for s in samples),
            verdicts=verdict_records(
                decisions,
                predictions,
                deciding,
                dominance,
                look=None if look is None else look.record,
                alpha=1 - options.confidence,
            ),
            second_verdicts=second_verdicts(compared, rows, decisions, predictions.task, deciding, at_half),
            looks=None if look is None else look.record,
            cost_ratios=spent.ratios,
            questions=questions,
            warnings=(
                *warnings_of(
                    predictions, samples, family, rows, curves, dominance, algorithms, judge, deciding
                ),
                *of_questions,
                *spent.warnings,
            ),
        )
        results = with_slices(results, slices)
        results = replace(
            results,
            costs=with_undominated(spent.costs, quality_of(results)),
            metric_ratios=ratio_records(results, samples, predictions, divisions, deciding),
        )
        say("done", 1.0)
        return with_headline(results)


def without_figures(predictions: Predictions, options: Options) -> Results:
    """Return results that say what is compared, under which options and from which files, and nothing else yet."""
    return Results(
        signature=signature(predictions, options),
        options=plain_options(options),
        task=predictions.task,
        design=predictions.design,
        n=predictions.n_examples,
        classes=predictions.classes,
        positive=predictions.positive,
        models=tuple(model.name for model in predictions.models),
        primary_metric=None,
        baseline=options.baseline,
        inputs=predictions.inputs,
        environment=dict(environment()),
    )


def resampled(estimate: Estimate, *, options: Options) -> bool:
    """Say whether a value gets bootstrap replicates: one that is compared, or that has an interval made of them."""
    compared = estimate.quantity.label is None or bool(options.metrics)
    return compared or needs_replicates(estimate, options.intervals)


def analysed(loaded: Predictions) -> Predictions:
    """Return the rows that metrics and comparisons are about: test predictions, one value a data set."""
    return one_value_a_dataset(test_rows(at_one_point(loaded)))


def joined(records: Iterable[Iterable[T]]) -> tuple[T, ...]:
    """Return the records of every sample, one after the other."""
    return tuple(chain.from_iterable(records))
