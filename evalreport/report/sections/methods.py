"""How pairs were decided: the test, the correction, the interval, and what verdicts are about."""

from __future__ import annotations

from evalreport import numbers
from evalreport.questions.attempts import variance_section
from evalreport.questions.looks.records import LookRecord
from evalreport.report.naming import (
    count_range,
    entry,
    label_of,
    level_of_pairs,
    listed,
    test_in_words,
    why_it_leads,
)
from evalreport.report.sections.decision import second_look_words
from evalreport.report.sections.leaderboard import conflict
from evalreport.report.sections.tasks import family
from evalreport.report.table import Tables
from evalreport.report.view import View
from evalreport.schema.lookups import tested_pairs
from evalreport.schema.metrics import Quantity
from evalreport.texts import has, in_words, named, say
from evalreport.texts.labels import sentence_start

# What intervals and tests are about, by design.
SCOPES = {
    "cross-validation": "methods.by_folds",
    "5x2cv": "methods.by_folds",
    "repeated-holdout": "methods.by_folds",
    "datasets": "methods.by_datasets",
    "bootstrap": "methods.by_fits",
    "seeds": "methods.by_seeds",
}


def describe(view: View) -> Tables:
    """Say how this was decided: the test, the correction, the interval, and what the verdict is about."""
    results = view.results
    parts = []
    leading = view.leading_comparison(view.primary)
    if leading is not None and leading.test is not None and results.verdicts:
        second = conflict(view)
        other = None if second is None else view.leading_comparison(second.key)
        same = second is not None and other is not None and other.test == leading.test
        words = (
            listed([view.primary_words, second.words]) if second is not None and same else view.primary_words
        )
        parts.append(_deciding(view, leading.test, words, view.primary))
        if results.options.get("margin") is not None:
            parts.append(say("methods.equivalence", margin=float(results.options["margin"])))
        if leading.interval_method:
            by = label_of("interval", leading.interval_method)
            parts.append(say("methods.one_interval", method=by, level=level_of_pairs(results)))
        if second is not None and other is not None and other.test is not None and not same:
            parts.append(_deciding(view, other.test, second.words, second.key))
    parts += filter(None, (_of_horizon(view),))
    if results.looks is not None:
        parts.append(_of_looks(results.looks))
    parts += filter(None, (second_look_words(view),))
    if len(results.gates) > 1:
        parts.append(say("methods.gates"))
    if results.suite:
        parts.append(_of_suite(view))
    parts.append(
        variance_section.scope(view)
        or say(SCOPES.get(results.design, "methods.conditional"), n=len(view.models))
    )
    known = entry("metric", view.primary.metric)
    if known is not None and known.needs == "gold" and results.judge_agreement:
        parts.append(_of_people(view))
    if any(record.verdict == "undecided" for record in results.verdicts):
        parts.append(say("methods.not_equal"))
    return Tables((), text=" ".join(parts))


def _of_looks(look: LookRecord) -> str:
    """Say how the error is spent over the looks."""
    of = (
        "pushes"
        if look.pushes
        else "apart"
        if look.rule == "other"
        else "equal"
        if look.n_max is None
        else "n_max"
    )
    rule = say(f"methods.looks_{of}", n_max=numbers.count(look.n_max or 0))
    return say("methods.looks", look=look.look, looks=look.looks, level=numbers.level(look.level), rule=rule)


def _of_horizon(view: View) -> str:
    """Say why forecasts some steps ahead have no Diebold-Mariano test, where they have none."""
    horizon = view.results.options.get("horizon") or 1
    if horizon < 2 or not view.results.verdicts:
        return ""
    if any(row.test == "diebold_mariano" for row in view.results.comparisons):
        return ""
    return say("methods.no_diebold_mariano", metric=view.primary_label)


def _of_suite(view: View) -> str:
    """Say of a suite what a value is a mean of, that its tasks are fixed, and how the tasks were decided."""
    results = view.results
    number = in_words(len(results.suite))
    micro = results.options.get("average") == "examples"
    text = say("suite.method_examples" if micro else "suite.method_tasks", number=number)
    return " ".join(filter(None, (text, family(view))))


def _of_people(view: View) -> str:
    """Say what an estimate from a judge and a few people assumes, whether that was tested, and what it is about."""
    results = view.results
    counts = [r.n_gold for r in results.judge_agreement if r.model is not None]
    declared = bool(results.options.get("gold_sampled"))
    sampling = "declared" if declared else "tested" if results.gold_sampling else "all"
    return say(
        "judge.assumes", gold=count_range(counts), n=results.n, sampling=say(f"judge.sampling_{sampling}")
    )


def _deciding(view: View, test: str, metric: str, key: Quantity) -> str:
    """Say which test decides the pairs on a metric, why, and how its p-values are adjusted."""
    n_pairs = len(tested_pairs(view.results.comparisons, key.spelled))
    correction = str(view.results.options.get("correction", "none"))
    adjusted = ""
    if n_pairs > 1 and correction != "none" and has(f"correction.{correction}"):
        adjusted = say("methods.adjusted", correction=named("correction", correction), n=n_pairs)
    why = why_it_leads(test, key.metric)
    text = say("methods.decided_by", n=n_pairs, metric=metric, test=test_in_words(test), adjusted=adjusted)
    return text + (f" {sentence_start(why)}." if why else "")
