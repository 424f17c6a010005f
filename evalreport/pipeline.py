"""The whole flow in one short function: predictions -> estimates -> comparisons -> verdicts -> results."""

from __future__ import annotations

from typing import Any

from evalreport.algorithms.learning_curves import at_one_point
from evalreport.assembly import (
    confusion_records,
    distribution_fields,
    fold_records,
    threshold_fields,
    verdict_records,
)
from evalreport.comparisons.all_models import average_rank_records, omnibus_records, one_sample_records
from evalreport.comparisons.effects import agreement_records, answer_fields, effects
from evalreport.comparisons.pairs import comparable, compare_all, exploratory_records
from evalreport.comparisons.verdicts import one_intervals
from evalreport.engine.parallel import working
from evalreport.loading.load import load
from evalreport.metrics.criteria import baseline_records
from evalreport.metrics.sample import chosen
from evalreport.options import Options
from evalreport.predictions.table import Predictions
from evalreport.schema.results import Results
from evalreport.slices.analysis import with_slices
from evalreport.stages import (
    Progress,
    all_cautions,
    all_divisions,
    all_found,
    all_further,
    all_metrics,
    all_sampled,
    all_sliced,
    analysed,
    decide,
    family_of,
    gate_terms,
    of_each,
    provenance,
    ranked,
    require_analysable,
    second_verdicts,
    variance_fields,
)

DEFAULTS = Options()


def evaluate(
    source: Any,
    *,
    options: Options = DEFAULTS,
    truth: Any = None,
    jobs: int = 1,
    memory_limit: int | None = None,
    progress: Progress | None = None,
) -> Results:
    """Compare models, as ``evalreport.evaluate`` says; ``Predictions`` were loaded under these options."""
    say = progress or (lambda _stage, _fraction: None)
    say("reading and checking", 0.0)
    whole = load(source, options=options, truth=truth, memory_limit=memory_limit)
    require_analysable(whole, options)
    with working(jobs):
        return _evaluated(whole, options, say)


def _evaluated(whole: Predictions, options: Options, say: Progress) -> Results:
    loaded = at_one_point(whole)
    predictions = analysed(loaded, options)
    in_gates = [term.metric for _, term in gate_terms(predictions, options)]
    quantities = chosen(predictions, options.metrics, in_gates)
    divisions = all_divisions(predictions, options)
    say("resampling", 0.1)
    samples = all_sampled(predictions, quantities, options)
    shared = options.join != "independent"
    say("comparing", 0.4)
    tested = comparable(quantities, named=bool(options.metrics))
    compared = compare_all(samples, tested, options)
    family = family_of(compared, quantities[0], predictions, options)
    family_rows, decisions = decide(family, predictions, options)
    explored = exploratory_records([c for c in compared if c.quantity != quantities[0]], options)
    rows = (*family_rows, *explored, *one_sample_records(samples, quantities[0], options))
    omnibus = omnibus_records(samples, tested, options)
    further = all_further(whole, loaded, samples, compared, decisions, options)
    thresholds = threshold_fields(samples, options)
    changed = effects(samples[0], family, options.confidence, one_intervals(decisions)) if shared else ()
    slices = all_sliced(divisions, predictions, samples, rows, options, say)
    say("putting together", 0.9)
    results = Results(
        **provenance(predictions, quantities[0], options),
        found=all_found(predictions, samples, thresholds, options),
        metrics=all_metrics(samples, loaded, options),
        baselines=baseline_records(samples[0]) if shared else (),
        folds=of_each(samples, fold_records),
        confusion=of_each(samples, confusion_records),
        **thresholds,
        **distribution_fields(samples, options),
        comparisons=rows,
        omnibus=omnibus,
        average_ranks=average_rank_records(samples, omnibus, tested, options),
        **variance_fields(samples, options),
        ranking=ranked(samples, decisions, quantities[0], options),
        **further,
        effects=changed,
        agreement=agreement_records(family),
        **answer_fields(predictions),
        verdicts=verdict_records(decisions, predictions, options, thresholds["dominance"]),
        second_verdicts=second_verdicts(compared, rows, decisions, predictions.task, options),
        warnings=all_cautions(predictions, samples, family, options, further, rows, thresholds),
    )
    say("done", 1.0)
    return with_slices(results, slices)
