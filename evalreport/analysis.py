"""How a run flows: load, estimate, compare, decide, ask.

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
5. **Ask.** Every question is answered from these in its room of ``questions``, one after the other. Records hold
   numbers, codes and parameters, never sentences. ``warnings`` then says what may mislead a reader.

Reports, gates and histories are made from the ``Results`` alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any, TypeVar

from evalreport.comparisons.decisions import decide, decision_family, one_intervals, with_earlier
from evalreport.comparisons.effects import agreement_records, disagreements, effects, unanimity
from evalreport.comparisons.one_sample import one_sample_records
from evalreport.comparisons.pairs import comparable, compare_all, exploratory_records, with_the_best
from evalreport.comparisons.ranking import ranking_records
from evalreport.comparisons.verdicts import second_verdicts, verdict_records
from evalreport.engine.parallel import working
from evalreport.gates.chosen import chosen_values
from evalreport.gates.conditions import cost_of
from evalreport.gates.outcomes import decide_gates
from evalreport.gates.ratios import ratio_records
from evalreport.gates.reach import require_reachable
from evalreport.gates.slices import divisions_of_run, gate_terms, quantities_in_gates, quantities_in_slices
from evalreport.headline import with_headline
from evalreport.intervals.choice import needs_replicates
from evalreport.intervals.records import metric_records
from evalreport.loading.load import load
from evalreport.metrics.criteria import criteria_records
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.estimation import estimate_models
from evalreport.metrics.predicted_values import residuals
from evalreport.metrics.primary import default_primary
from evalreport.metrics.quantities import chosen
from evalreport.metrics.records import confusion_records, fold_records, replicates_found, variance_records
from evalreport.metrics.sample import Sample
from evalreport.options import Options
from evalreport.predictions.direction import directed
from evalreport.predictions.subsets import one_value_a_dataset, test_rows
from evalreport.predictions.table import Predictions
from evalreport.provenance import environment, plain_options, signature
from evalreport.questions.algorithms.learning_curves import at_one_point
from evalreport.questions.judges.gold import with_gold_checked
from evalreport.questions.looks.records import Look
from evalreport.questions.question import Data, Pairs, Run, answered
from evalreport.refusals import require_analysable, require_swappable, require_telling_margin
from evalreport.schema.inputs import FlowRecord
from evalreport.schema.results import Results
from evalreport.warnings import states_of, warnings_of

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
    primary_of_series: str | None = None,
    look_of: Callable[[Predictions, str], Look] | None = None,
) -> Results:
    """Compare models, as ``evalreport.evaluate`` says; ``Predictions`` were loaded under these options.

    ``primary_of_series`` is the primary metric of the accepted run of a series, which a run that names none keeps.
    ``look_of`` returns, of the predictions and the primary metric, this look at a comparison that may be repeated.
    ``progress`` is called with the name of each stage and the share of the run that is done.
    """
    say = progress or (lambda _stage, _share: None)

    # Load
    say("reading and checking", 0.0)
    whole = load(source, options=options, truth=truth, memory_limit=memory_limit)
    require_analysable(whole, options)
    options = directed(options, whole.found)
    with working(jobs):
        data = compared_data(whole, options, primary_of_series, look_of)

        # Estimate
        say("resampling", 0.1)
        kept = partial(resampled, options=options)
        samples = estimate_models(data.predictions, data.quantities, options, kept)

        # Compare and decide
        say("comparing", 0.4)
        pairs = decided_pairs(samples, data)

        # Ask, room by room
        say("questions", 0.5)
        results = values_and_pairs(samples, pairs, data)
        run = answered(Run(data=data, samples=samples, pairs=pairs, results=results, progress=say))
        say("putting together", 0.9)
        results = with_checks(with_verdicts(run), run)
        say("done", 1.0)
        return with_headline(results)


def with_gates(
    results: Results, options: Options, mark: Callable[[Results], Results] | None = None
) -> Results:
    """Return the results of a run with its gates decided and, by ``mark``, what no declared criterion covers.

    The headline is chosen anew: it says which gates pass.
    """
    decided = decide_gates(results, options.gates)
    return with_headline(decided if mark is None else mark(decided))


def compared_data(
    whole: Predictions,
    options: Options,
    primary_of_series: str | None,
    look_of: Callable[[Predictions, str], Look] | None,
) -> Data:
    """Return what is compared: the rows, the metrics, the slices, and the options that pairs are decided under."""
    require_reachable(options.gates, [m.name for m in whole.models], whole.task, whole.classes)
    loaded = at_one_point(whole)
    predictions = with_gold_checked(analysed(loaded), options)
    in_gates = [t.spelling for _, t in gate_terms(predictions, options) if cost_of(t.metric) is None]
    default = default_primary(predictions, options, of_series=primary_of_series)
    quantities = tuple(chosen(predictions, options.metrics, in_gates, default.metric))
    require_swappable(quantities, options)
    require_telling_margin(quantities[0], predictions, options)
    look = None if look_of is None else look_of(predictions, quantities[0].spelled)
    return Data(
        whole=whole,
        loaded=loaded,
        predictions=predictions,
        divisions=divisions_of_run(predictions, options),
        quantities=quantities,
        within_slices=quantities_in_slices(predictions, options),
        default=default,
        options=options,
        # The look's level takes the place of alpha; intervals of values keep --confidence.
        deciding=options if look is None else replace(options, confidence=1 - look.record.level),
        look=look,
    )


def decided_pairs(samples: Sequence[Sample], data: Data) -> Pairs:
    """Return every test of every pair of models, and the decisions on the primary metric."""
    tested = comparable(data.quantities, named=bool(data.options.metrics))
    every = compare_all(samples, tested, data.deciding)
    named = tested if data.options.metrics else quantities_in_gates(data.predictions, data.options)
    compared = with_the_best(every, samples, data.primary, named, data.deciding)
    family = decision_family(compared, data.primary, data.predictions, data.deciding)
    family_rows, decisions = decide(family, data.predictions, data.deciding)
    earlier = () if data.look is None else data.look.kept
    decisions = [] if data.blocked else with_earlier(decisions, earlier, data.options)
    explored = exploratory_records([c for c in compared if c.quantity != data.primary], data.deciding)
    return Pairs(
        tested=tuple(tested),
        compared=compared,
        left_out=len(every) - len(compared),
        family=family,
        family_rows=family_rows,
        rows=(*family_rows, *explored, *one_sample_records(samples, data.primary, data.options)),
        decisions=decisions,
        limits=one_intervals(decisions),
    )


def values_and_pairs(samples: Sequence[Sample], pairs: Pairs, data: Data) -> Results:
    """Return the results of every run: the values of each model and the tests of each pair."""
    options, predictions, default = data.options, data.predictions, data.default
    together = options.join != "independent"
    in_gates = quantities_in_gates(predictions, options)
    gate_level = None if data.look is None else (data.deciding.confidence, in_gates)
    flow = predictions.notes.flow
    return replace(
        without_figures(predictions, options),
        suite=() if predictions.tasks is None else predictions.tasks.categories or (),
        primary_metric=None if data.blocked else data.primary.spelled,
        usual_metric=None if options.metrics else default.usual_unless_primary,
        primary_because=None if options.metrics else default.because,
        value_columns=predictions.origin.judged_in,
        unit=predictions.origin.unit,
        labels_at_half=tuple(m.name for m in predictions.models if m.cut_at_half),
        found=(*predictions.found, *joined(replicates_found(s) for s in samples)),
        flow=(*flow, FlowRecord(step="used", n=predictions.n_examples)) if flow else (),
        metrics=(
            *joined(metric_records(s, options, of_gates=gate_level) for s in samples),
            *criteria_records(data.loaded, options.metrics, options.confidence),
        ),
        folds=joined(fold_records(s) for s in samples),
        confusion=joined(confusion_records(s) for s in samples),
        residuals=joined(residuals(s, options.confidence, seed=options.seed) for s in samples),
        variance=joined(variance_records(s) for s in samples),
        comparisons=pairs.rows,
        comparisons_left_out=pairs.left_out,
        ranking=() if data.blocked else ranking_records(samples, pairs.decisions, data.primary, options),
        effects=effects(samples[0], pairs.family, data.deciding.confidence, pairs.limits) if together else (),
        agreement=agreement_records(pairs.family),
        disagreements=disagreements(predictions),
        unanimity=unanimity(predictions),
    )


def with_verdicts(run: Run) -> Results:
    """Return the results of a run with its verdicts, and the ratios and the leader's values that gates ask for."""
    data, pairs, results = run.data, run.pairs, run.results
    return replace(
        results,
        verdicts=verdict_records(
            pairs.decisions,
            data.predictions,
            data.deciding,
            results.dominance,
            look=results.looks,
            alpha=1 - data.options.confidence,
        ),
        second_verdicts=second_verdicts(
            pairs.compared,
            pairs.rows,
            pairs.decisions,
            data.predictions.task,
            data.deciding,
            results.labels_at_half,
        ),
        metric_ratios=ratio_records(results, run.samples, data.predictions, data.divisions, data.deciding),
        chosen_values=chosen_values(results, run.samples, data.predictions, data.divisions, data.deciding),
    )


def with_checks(results: Results, run: Run) -> Results:
    """Return results with the warnings of the run, and the state of every check."""
    facts = {
        "whole": run.data.whole,
        "predictions": run.predictions,
        "options": run.data.deciding,
        "family": run.pairs.family,
        "rows": run.pairs.rows,
        **run.answers,
    }
    of_samples = [{"sample": s} if k == 0 else {"sample": s, "family": ()} for k, s in enumerate(run.samples)]
    raised = tuple(dict.fromkeys((*run.predictions.warnings, *warnings_of(facts, of_samples))))
    return replace(results, warnings=raised, checks=states_of(facts, of_samples, raised))


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
