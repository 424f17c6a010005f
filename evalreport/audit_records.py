"""The records of results.json that only an audit has: what it asks of its accepted run, and the evidence it keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """One question that an audit asks about its accepted run, and the answer.

    ``question``: ``worse`` (over all looks since the accepted run), ``worse_this_run`` (this look alone, as a plain
    test would), ``slice``, ``examples``, ``labels``, ``classes``, ``predicted_labels``, ``scores``, ``missing``,
    ``column``. ``about`` names a model, slice or column. ``p_adjusted`` is adjusted for all looks and for the questions
    of its kind; ``alarm``: it is at or below 1 - confidence, and the change is one for the worse where it has a
    direction. ``high`` (or ``low`` of a loss) of ``worse`` is the limit that holds over all looks. ``run`` is the
    accepted run, ``look`` how often the series was compared with it.
    """

    question: str
    about: str
    run: int
    look: int
    test: str | None
    statistic: float | None
    p_value: float | None
    p_adjusted: float | None
    effect: str | None
    effect_size: float | None
    low: float | None
    high: float | None
    alarm: bool
    text: str
    reason: str | None
    details: Mapping[str, float] = field(default_factory=dict)
    """Further sizes by name: psi, wasserstein, cramers_v ..."""


@dataclass(frozen=True, slots=True)
class EvidenceRecord:
    """What a run adds to the evidence of a model since the accepted run, and where that stands.

    ``value`` is the metric on the ``n_new`` units (examples or clusters) of this run that no earlier one held;
    ``value_since`` that on all such units since the accepted run, with limits that hold over all looks at once.
    ``levels`` and ``weights`` are the condensed losses of this run's new units, ``id_sample`` digests of some of them
    (with the first model of a run, for all): what later runs need, and all that they need.
    """

    model: str
    metric: str
    run: int
    look: int
    unit: Literal["example", "cluster"]
    n_new: int
    value: float | None
    n_since: int
    value_since: float | None
    level: float
    low: float | None
    high: float | None
    levels: tuple[float, ...] = ()
    weights: tuple[float, ...] = ()
    id_sample: tuple[str, ...] = ()
    reason: str | None = None
