"""Warnings about an automatic judge: that it favours a model, or was checked on few human outcomes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from evalreport.intervals.shortfalls import shortfall_of
from evalreport.metrics.prediction_powered import LEAST_GOLD
from evalreport.metrics.registry import JUDGED, greater_is_better
from evalreport.options import Options
from evalreport.questions.judges.compute import OUTCOME, Fields
from evalreport.questions.judges.records import JudgeEstimateRecord, JudgeLists
from evalreport.samplings.judged import PPI
from evalreport.schema.warnings import FEW_CLUSTERS, WarningRecord, warning
from evalreport.warnings.checks import check, looked_for
from evalreport.warnings.needs import NEEDS

looked_for("gold_not_random", needs=("judges",))
NEEDS["judges"] = lambda judges: bool(judges.gold_sampling)
NEEDS["judge_bias"] = lambda judges: bool(judges.judge_bias)

FEW_DISAGREEMENTS = 5
"""With fewer answers on which judge and people differ, the error of an estimate rests on hardly anything."""


@check("judge_scales_differ", needs=("judges",))
def judge_scales_differ(judges: JudgeLists) -> Iterator[WarningRecord]:
    """Warn of a judge that grades on another scale than people do."""
    for scale in judges.judge_scales:
        if not scale.same:
            yield warning(
                "judge_scales_differ", about=("gold",), judge_low=scale.judge_low, judge_high=scale.judge_high,
                people_low=scale.human_low, people_high=scale.human_high,
            )  # fmt: skip


@check("gold_pooled", needs=("judges", "tasks"))
def gold_pooled(judges: JudgeLists) -> Iterator[WarningRecord]:
    """Say that people judged few answers of some task, so that their labels of all tasks are taken together."""
    few = [r for r in judges.judge_estimates if r.b is None and _pooled(r)]
    if few:
        fewest, about = min(few, key=lambda r: (r.fewest_gold or 0, r.a)), tuple(r.a for r in few)
        n, task = fewest.fewest_gold, fewest.fewest_task
        yield warning("gold_pooled", about=about, n=n, task=task, least=LEAST_GOLD)


@check("judge_favours", needs=("judge_bias",))
@check("few_gold", "few_judge_errors", of_models=True)
def judge_warnings(judges: JudgeLists, options: Options) -> Iterator[WarningRecord]:
    """Warn of a judge that favours a model, of few human outcomes, and of hardly any disagreement."""
    yield from _favours(judges, options)
    agreements = {r.model: r for r in judges.judge_agreement if r.model is not None}
    yield from _few_outcomes(judges.judge_estimates, {m: r.n_gold for m, r in agreements.items()})
    for name, r in agreements.items():
        if r.clusters is not None and r.clusters < FEW_CLUSTERS and r.n_gold >= LEAST_GOLD:
            yield warning("few_gold", "clusters", about=(name,), model=name, n=r.clusters, gold=r.n_gold)
    for name, r in agreements.items():
        if r.n_gold < LEAST_GOLD or r.human_only is None or r.judge_only is None:
            continue
        n = r.human_only + r.judge_only
        if n < FEW_DISAGREEMENTS and _rests_on_the_judge(judges, name):
            yield warning("few_judge_errors", about=(name,), model=name, n=n, gold=r.n_gold)


def _favours(judges: JudgeLists, options: Options) -> Iterator[WarningRecord]:
    """Warn of the pair that shows most clearly that the judge favours one of two models."""
    own = {r.model: r.bias for r in judges.judge_agreement if r.model is not None}
    flagged = [r for r in judges.judge_bias if r.flagged]
    if not flagged:
        return
    worst = min(flagged, key=lambda r: (r.p_adjusted or 0.0, r.a, r.b))
    favours_a = (worst.difference > 0) == greater_is_better(OUTCOME, lower_is_better=options.lower_is_better)
    liked, other = (worst.a, worst.b) if favours_a else (worst.b, worst.a)
    yield warning(
        "judge_favours",
        about=("gold",),
        model=liked,
        other=other,
        bias=own[liked],
        other_bias=own[other],
        difference=abs(worst.difference),
        p=worst.p_adjusted,
    )


def _few_outcomes(
    estimates: Sequence[JudgeEstimateRecord], counts: Mapping[str, int]
) -> Iterator[WarningRecord]:
    """Warn of models with few human outcomes, and of pairs with fewer than either; in a suite by the worst task."""
    worst = {r.a: r for r in estimates if r.b is None}
    known = {name: n if (f := _fewest_of(worst.get(name))) is None else f[1] for name, n in counts.items()}
    few = {name for name, n in known.items() if _how_few("value", n)}
    for name in sorted(few):
        yield _few(_how_few("value", known[name]), "of_model", (name,), known[name], worst.get(name))
    for r in estimates:
        if r.b is None:
            continue
        fewest = _fewest_of(r)
        n = r.n_gold if fewest is None else fewest[1]
        short = _how_few("difference", n)
        if short and n not in [known[name] for name in few & {r.a, r.b}]:
            yield _few(short, "of_pair", (r.a, r.b), n, r)


def _few(
    short: Fields, of: str, names: tuple[str, ...], n: int, record: JudgeEstimateRecord | None
) -> WarningRecord:
    """Return the warning that a model or a pair has few human outcomes; in a suite it names the task."""
    key = of if "low" in short else {"of_model": "none", "of_pair": "none_of_pair"}[of]
    called: Fields = {"model": names[0]} if len(names) == 1 else {"a": names[0], "b": names[1]}
    fewest = _fewest_of(record)
    if fewest is not None:
        key, called = f"{key}_in_task", {**called, "task": fewest[0]}
    return warning("few_gold", key, about=names, **called, n=n, **short)


def _pooled(record: JudgeEstimateRecord) -> bool:
    """Say whether the labels of all tasks are taken together, for some task has too few."""
    return record.fewest_gold is not None and record.fewest_gold < LEAST_GOLD <= record.n_gold


def _fewest_of(record: JudgeEstimateRecord | None) -> tuple[str, int] | None:
    if record is None or record.fewest_task is None or record.fewest_gold is None or _pooled(record):
        return None
    return record.fewest_task, record.fewest_gold


def _how_few(kind: str, n: int) -> Fields:
    """Return the least number for an estimate, or how often intervals of n outcomes were measured to hold."""
    if n < LEAST_GOLD:
        return {"least": LEAST_GOLD}
    short = shortfall_of(kind, JUDGED, PPI.name, n=n)
    return {} if short is None else {"low": short.lowest, "high": short.highest}


def _rests_on_the_judge(judges: JudgeLists, name: str) -> bool:
    """Say whether a model's estimate gives the judge any weight; in a suite, in some task."""
    estimates = (r for r in judges.judge_estimates if r.a == name and r.b is None)
    return any(r.lam is None or r.lam > 0 for r in estimates if r.value is not None)
