"""Records of ranks: tests of all models at once, average ranks, possible ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evalreport.schema.metrics import Slice
from evalreport.texts import Message, Text


@dataclass(frozen=True, slots=True, kw_only=True)
class OmnibusRecord:
    """One test of all ``models`` at once on ``blocks`` examples, folds or data sets (``by``).

    ``df2`` are the second degrees of freedom of an F statistic. ``p_value`` is null with a ``reason`` where undefined.
    """

    metric: str
    test: str
    statistic: int | float | None
    df: int | float | None
    p_value: float | None
    models: tuple[str, ...]
    df2: float | None = None
    by: str = "examples"
    blocks: int | None = None
    caution: Message | None = None
    reason: Message | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AverageRankRecord:
    """One model's average rank over the blocks, 1 the best; average ranks that differ by less than
    ``critical_difference`` are not told apart by Nemenyi's test at ``level``.
    """

    metric: str
    model: str
    average_rank: float
    by: str
    blocks: int
    critical_difference: float
    level: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RankSetRecord:
    """The ranks ``low`` to ``high`` that one model may have on the primary metric; all models' hold together.

    ``may_be_best``: its ranks begin at 1. ``may_be_best_sharp``: the same by tests against the others alone, of which
    only the best model's must hold: it may be false although no pair is decided; null where the metric is no mean over
    rows.
    """

    model: str
    low: int
    high: int
    may_be_best: bool
    may_be_best_sharp: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenRecord:
    """The leader's value on the primary metric, chosen ``among`` so many models that may be best.

    ``models``: their names, the leader's among them. ``low`` and ``high`` hold at ``level``, one minus alpha over
    ``among``; null where the value has no interval.
    """

    model: str
    metric: str
    among: int
    models: tuple[str, ...]
    level: float
    low: float | None
    high: float | None
    text: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenValueRecord:
    """The leader's value of a metric that a gate asks for, with its limits at the ``level`` of ``chosen``."""

    model: str
    metric: str
    average: str | None
    label: str | None
    slice: Slice | None
    value: float | None
    low: float | None
    high: float | None
    level: float
    method: str
    reason: Text | None = None


@dataclass(frozen=True, kw_only=True)
class RankLists:
    """The lists of results.json about ranks, and the model that leads (``chosen``; null where it alone may be best)."""

    omnibus: Sequence[OmnibusRecord] = ()
    average_ranks: Sequence[AverageRankRecord] = ()
    rank_sets: Sequence[RankSetRecord] = ()
    chosen: ChosenRecord | None = None
    chosen_values: Sequence[ChosenValueRecord] = ()
