"""The ranks that each model may have, and the models that may be best, from the decided pairs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from evalreport.comparisons.decisions import Decision, decisions_of
from evalreport.comparisons.pairs import oriented
from evalreport.comparisons.registry import Pair
from evalreport.engine.distributions import t_tail
from evalreport.metrics.registry import definition
from evalreport.options import Options
from evalreport.questions.ranks.records import RankSetRecord
from evalreport.schema.comparisons import ComparisonRecord

LEAST_MODELS = 3


def rank_set_records(
    decisions: Sequence[Decision], rows: Sequence[ComparisonRecord], options: Options
) -> tuple[RankSetRecord, ...]:
    """Return each model's possible ranks on the primary metric; nothing where not all pairs were compared.

    The pairs are decided by Holm's correction, whatever ``--correction`` is: then all true ranks lie in their sets
    together with the confidence level.

    Parameters
    ----------
    decisions
        The decision table, one decision a pair.
    rows
        The family's tests, with their p-values.

    References
    ----------
    Mogstad, Romano, Shaikh and Wilhelm (2024), Rev Econ Stud.
    """
    valued = [d for d in decisions if d.comparison.pair is not None and d.family]
    models = sorted({name for d in valued for name in (d.comparison.a, d.comparison.b)})
    m = len(models)
    if m < LEAST_MODELS or options.baseline is not None or len(valued) != m * (m - 1) // 2:
        return ()
    if definition(valued[0].comparison.quantity).scale.greater_is_better is None:
        return ()
    if options.correction != "holm":
        valued = _by_holm(valued, rows, options)
    decided = [
        (d.comparison.a, d.comparison.b) if d.favours > 0 else (d.comparison.b, d.comparison.a)
        for d in valued
        if d.decided
    ]
    sets, sharp = rank_sets(models, decided), may_be_best(models, valued, options)
    return tuple(
        RankSetRecord(
            model=name,
            low=sets[name][0],
            high=sets[name][1],
            may_be_best=sets[name][0] == 1,
            may_be_best_sharp=None if sharp is None else name in sharp,
        )
        for name in models
    )


def _by_holm(
    decisions: Sequence[Decision], rows: Sequence[ComparisonRecord], options: Options
) -> list[Decision]:
    """Decide the pairs again by Holm's correction."""
    p_values = {(row.a, row.b): row.p_value for row in rows if row.recommended and row.slice is None}
    family = [decision.comparison for decision in decisions]
    by_holm = replace(options, correction="holm")
    return decisions_of(family, [p_values.get((c.a, c.b)) for c in family], by_holm)


def rank_sets(models: Sequence[str], decided: Collection[tuple[str, str]]) -> dict[str, tuple[int, int]]:
    """Return the first and the last rank that each model may have.

    Parameters
    ----------
    decided
        Pairs of which the first model is decided to be better.

    Examples
    --------
    >>> rank_sets(["a", "b", "c"], [("a", "c")])
    {'a': (1, 2), 'b': (1, 3), 'c': (2, 3)}
    """
    return {
        name: (
            1 + sum(worse == name for _, worse in decided),
            len(models) - sum(better == name for better, _ in decided),
        )
        for name in models
    }


def may_be_best(
    models: Sequence[str], decisions: Sequence[Decision], options: Options
) -> frozenset[str] | None:
    """Return the models that may be best, so that the best one is among them with the confidence level.

    A model is left out where the smallest one-sided p-value of another one being better (paired t) times the number of
    the others is at most alpha: only the best model must be kept. None where the metric is no mean over plain rows.

    References
    ----------
    Hsu (1984), Ann Stat.
    """
    least: dict[str, float] = dict.fromkeys(models, 1.0)
    for decision in decisions:
        pair = decision.comparison.pair
        assert pair is not None
        limits = _one_sided(pair, options)
        if limits is None:
            return None
        for name, p in zip((decision.comparison.b, decision.comparison.a), limits, strict=True):
            least[name] = min(least[name], p)
    alpha = 1 - options.confidence
    return frozenset(name for name in models if least[name] * (len(models) - 1) > alpha)


def _one_sided(pair: Pair, options: Options) -> tuple[float, float] | None:
    """Return the p-values of a being better than b and of b being better than a, by Student's t on the rows."""
    delta, rows = pair.difference, pair.by_example
    if rows is None or delta.metric.per_example is None or pair.design != "test-set":
        return None
    if not delta.sampling.alike:
        return None
    d, error, n = oriented(delta, delta.value, options), delta.corrected_error, delta.sampling.n_units
    if error is None:
        return None
    if error == 0:
        return (0.0 if d > 0 else 1.0, 0.0 if d < 0 else 1.0)
    statistic = d / error
    return t_tail(statistic, n - 1), t_tail(-statistic, n - 1)
