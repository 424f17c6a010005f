"""What the leader is worth, when it was chosen among several models that may be best."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from evalreport.comparisons.decisions import Decision
from evalreport.intervals import leading, leads_as_proportion
from evalreport.intervals.proportions import clopper_pearson_limits
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.evidence import Proportion
from evalreport.metrics.registry import Quantity, definition, greater_is_better
from evalreport.metrics.sample import Sample
from evalreport.options import Options
from evalreport.questions.ranks.records import ChosenRecord, ChosenValueRecord, RankSetRecord
from evalreport.schema.comparisons import RankingRecord
from evalreport.schema.metrics import Interval, Slice
from evalreport.texts import Message


def chosen_record(
    samples: Sequence[Sample],
    ranking: Sequence[RankingRecord],
    sets: Sequence[RankSetRecord],
    decisions: Sequence[Decision],
    primary: Quantity,
    options: Options,
) -> ChosenRecord | None:
    """Return the leader's value at Bonferroni's level over the models that may be best; None where that is it alone.

    A model that leads was chosen on these examples, which its own interval ignores: among twenty equal models the
    leader's 95 % interval holds its value in 71 to 80 %.

    Parameters
    ----------
    ranking
        The models, best first.
    sets
        The possible ranks; empty: whoever is not decidedly behind the leader may be best.
    options
        With the level of this look, where there are several.
    """
    if not ranking or ranking[0].value is None or definition(primary).scale.greater_is_better is None:
        return None
    leader = ranking[0].model
    models = sorted({leader, *_candidates(leader, ranking, sets, decisions)})
    if len(models) == 1:
        return None
    value = chosen_value(samples, leader, primary, level_among(len(models), options))
    return ChosenRecord(
        model=leader,
        metric=primary.spelled,
        among=len(models),
        models=tuple(models),
        level=value.level,
        low=value.low,
        high=value.high,
        text=_text(value, len(models), primary, options, any_behind=_any_behind(models, decisions)),
    )


def level_among(models: int, options: Options) -> float:
    """Return the confidence level of a value that was chosen among several."""
    return 1 - (1 - options.confidence) / models


def chosen_value(
    samples: Sequence[Sample], model: str, quantity: Quantity, level: float, *, within: Slice | None = None
) -> ChosenValueRecord:
    """Return a model's value with the limits that gates take, at a level: exact ones of a plain proportion."""
    estimate = next(e for s in samples if (e := s.estimates.get((model, quantity))) is not None)
    limits = _limits(estimate, level)
    return ChosenValueRecord(
        model=model,
        **quantity.fields,
        slice=within,
        value=float(estimate.value) if estimate.defined else None,
        low=limits.low,
        high=limits.high,
        level=level,
        method=limits.method,
        reason=estimate.reason or limits.reason,
    )


def _limits(estimate: Estimate, level: float) -> Interval:
    interval, evidence = leading(estimate, level), estimate.evidence
    if not isinstance(evidence, Proportion) or not leads_as_proportion(estimate, interval):
        return interval
    low, high = clopper_pearson_limits(round(estimate.value * evidence.trials), evidence.trials, level)
    return Interval(method="clopper_pearson", level=level, low=low, high=high)


def _candidates(
    leader: str,
    ranking: Sequence[RankingRecord],
    sets: Sequence[RankSetRecord],
    decisions: Sequence[Decision],
) -> Collection[str]:
    """Return the models that may be best."""
    if sets:
        return [record.model for record in sets if record.may_be_best]
    behind = {
        d.comparison.b if d.comparison.a == leader else d.comparison.a
        for d in decisions
        if d.family and d.decided and leader in (d.comparison.a, d.comparison.b)
    }
    return [record.model for record in ranking if record.value is not None and record.model not in behind]


def _any_behind(models: Sequence[str], decisions: Sequence[Decision]) -> bool:
    """Say whether one of these models is shown to be behind another one, though it was not compared with the leader."""
    pairs = ((d.comparison.a, d.comparison.b) for d in decisions if d.family and d.decided)
    return any(a in models and b in models for a, b in pairs)


def _text(
    value: ChosenValueRecord, among: int, primary: Quantity, options: Options, *, any_behind: bool
) -> Message:
    """Say what the leader is worth at least; of a loss, at most."""
    params: dict[str, object] = {"model": value.model, "among": among}
    if value.low is None or value.high is None:
        end = "no_limits"
    else:
        greater = greater_is_better(primary, lower_is_better=options.lower_is_better)
        end = "at_least" if greater else "at_most"
        params |= {"limit": value.low if greater else value.high, "half": (value.high - value.low) / 2}
    return Message(f"chosen.{end}{'_of_all' if any_behind else ''}", **params)
