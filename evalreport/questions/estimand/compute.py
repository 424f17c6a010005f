"""The estimand of a run, from its options and the design of its predictions."""

from __future__ import annotations

from evalreport.metrics.registry import definition
from evalreport.questions.estimand.records import EstimandLists, EstimandRecord
from evalreport.questions.question import Run, question
from evalreport.schema.metrics import MEANS_OF_A_COLUMN
from evalreport.texts import Message
from evalreport.texts.visible import visible

RETRAINED = frozenset({"cross-validation", "5x2cv", "repeated-holdout", "replicates"})
"""Designs in which models were trained again."""


@question("estimand")
def estimand(run: Run) -> EstimandLists:
    """Say what intervals and tests of the primary metric are about."""
    options, predictions = run.options, run.predictions
    family = len(run.pairs.decisions)
    correction = Message(f"estimand.correction.{options.correction}")
    key = "pairs" if family > 1 else "pair" if family else "none"
    primary = run.results.primary_metric
    return EstimandLists(
        estimand=EstimandRecord(
            population=Message("estimand.population", n=predictions.n_examples),
            unit=_unit(run),
            metric=primary,
            fixed=Message("estimand.settings" if _is_retrained(run) else "estimand.fitted"),
            varies=_varies(run),
            missing=_missing(run),
            family=Message(
                f"estimand.family.{key}", n=family, metric=_primary_words(run), correction=correction
            ),
            declared=Message("estimand.declared" if options.criteria else "estimand.exploratory"),
        )
    )


def _primary_words(run: Run) -> str | Message:
    """Name the primary metric inside a sentence; empty without one."""
    primary = run.results.primary_metric
    quantities = (q for sample in run.samples for q in sample.quantities)
    quantity = next((q for q in quantities if q.spelled == primary), None)
    if quantity is None:
        return primary or ""
    phrase = definition(quantity).display.phrase
    if quantity.metric in MEANS_OF_A_COLUMN:
        phrase = visible(run.results.value_column)
    if quantity.average is None:
        return phrase
    return Message("quantity.averaged", metric=phrase, average=quantity.average)


def _is_retrained(run: Run) -> bool:
    return run.predictions.design in RETRAINED or run.predictions.apart


def _unit(run: Run) -> Message:
    """Name the unit that is drawn: what is independent of the others."""
    options, design = run.options, run.predictions.design
    if options.cluster:
        return Message("estimand.unit.cluster", column=str(options.cluster))
    if options.order:
        return Message("estimand.unit.in_order", column=str(options.order))
    if design == "datasets":
        return Message("estimand.unit.dataset")
    if any(model.attempts is not None for model in run.predictions.models):
        return Message("estimand.unit.question")
    return Message("estimand.unit.fold" if design in RETRAINED else "estimand.unit.example")


def _varies(run: Run) -> Message:
    if _is_retrained(run):
        return Message("estimand.varies.training")
    independent = run.options.join == "independent"
    return Message("estimand.varies.own" if independent else "estimand.varies.units")


def _missing(run: Run) -> Message:
    """Say what became of answers that are missing, and of examples that not all models have."""
    options = run.options
    if options.missing != "refuse":
        return Message(f"estimand.missing.{options.missing}")
    return Message("estimand.missing.intersect" if options.join == "intersect" else "estimand.missing.none")
